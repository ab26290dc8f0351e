"""posy papers: what the chapters of formulas, bounds and limits compute and measure is right by independent computation and as
printed.

Usage: papers_formulas_test.py POSY [unittest arguments]
"""
import math

from papers_report import TABLES, ReportTest, entropy, log2_binomial, main, read_csv


def printed_size(table, bits_per_item, hashes):
    """z/n as a table of Compressed Bloom Filters prints it, corrected where that is a misprint."""
    for name in ["misprints.csv", "mitzenmacher2002.csv"]:
        for row in read_csv(TABLES, name):
            if row["table"] == table and row["quantity"] in ("compressed", "delta") and \
                    (float(row["bits_per_item"]), int(row["hashes"])) == (bits_per_item, hashes):
                return float(row.get("corrected") or row["printed"])
    raise KeyError((table, bits_per_item, hashes))


class Formulas(ReportTest):
    ARGUMENTS = ["--only", "formulas,bounds", "--trials", "200"]

    def test_fill_and_rate(self):
        # 5 standard errors: odds of 6e-7 each; the sliced filters stray a little less than the classic ones.
        for row in self.numbers("formulas_fill"):
            n, m, k = row["items"], row["bits"], row["hashes"]
            self.near(row["exact"], (1 - 1 / m) ** (k * n))
            self.near(row["asymptotic"], math.exp(-k * n / m))
            self.near(row["sliced"], (1 - k / m) ** n)
            self.assertLess(row["sliced"], row["exact"])
            self.assertLess(abs(row["measured"] - row["exact"]), 5 * row["standard_error"])
            self.assertLess(abs(row["sliced_measured"] - row["sliced"]), 5 * row["standard_error"])
        for row in self.numbers("formulas_rate"):
            n, m, k = row["items"], row["bits"], row["hashes"]
            self.near(row["asymptotic"], (1 - math.exp(-k * n / m)) ** k)
            self.near(row["mean_fill"], (1 - (1 - 1 / m) ** (k * n)) ** k)
            self.near(row["sliced"], (1 - (1 - k / m) ** n) ** k)
            self.assertLess(row["mean_fill"], row["expected"])
            self.assertLess(abs(row["measured"] - row["expected"]), 5 * row["standard_error"])
            self.assertLess(abs(row["sliced_measured"] - row["sliced"]), 5 * row["standard_error"])

    def test_the_optimum(self):
        for row in self.numbers("formulas_optimum"):
            self.near(row["best"], math.log(2) * row["bits_per_item"])
            self.assertLess(abs(row["slope"]), 1e-12)
            self.assertLess(row["slope_below"], 0)
            self.assertGreater(row["slope_above"], 0)
            self.near(row["rate"], 0.5 ** row["best"])
            self.near(row["rate"] ** (1 / row["bits_per_item"]), 0.6185, 1e-4)  # as printed
        for row in self.numbers("formulas_symmetry"):
            self.near(row["base"], row["mirrored"], 1e-12)
            self.assertGreaterEqual(row["base"], 0.6185 - 5e-5)
        for row in self.numbers("formulas_precise"):
            n, m = row["bits"] / 10, row["bits"]
            self.near(row["best"], math.log(0.5) / (n * math.log(1 - 1 / m)), 1e-8)
            self.near(row["zeros"], 0.5)
            self.near(row["log_rate"], row["log_rate_formula"], 1e-8)
            self.assertLess(row["log_rate"], min(row["log_rate_below"], row["log_rate_above"]))

    def test_the_lower_bound(self):
        for row in self.numbers("bounds_lower"):
            n, rate, u = 1000, 0.01, row["universe"]
            accepted = n + rate * (u - n)
            self.near(row["bound"], math.fsum(math.log2((u - i) / (accepted - i)) for i in range(n)))
            if "approximation" in row and rate * u > n:
                self.near(row["approximation"], math.fsum(math.log2((u - i) / (rate * u - i)) for i in range(n)))
            self.near(row["limit"], n * math.log2(100))
            self.near(row["set"], math.fsum(math.log2((u - i) / (i + 1)) for i in range(n)))
        self.assertIn("trying all ways, the fewest are 6.", self.text("report.md"))  # the covering number C(6, 3, 2)

    def test_the_filter_above_the_bound(self):
        for row in self.numbers("bounds_bloom"):
            self.near(row["factor"], 1.44, 0.0035)  # as printed
            self.near(row["bound"], math.log2(1 / row["rate"]))
            self.assertTrue(row["factor"] <= row["whole_factor"] < 1.02 * row["factor"])
        space = {row["bits_per_item"]: row for row in self.numbers("bounds_space")}
        for j, row in space.items():
            self.near(row["bloom"], 0.6185 ** j, 1.5e-3)  # four digits to the power of 16
            self.near(row["bound"], 0.5 ** j)
        self.assertTrue(0.02 < space[8]["whole"] < 0.022)  # "just over 0.02"

    def test_fingerprints_and_the_list(self):
        for row in self.numbers("bounds_perfect"):
            expected = row["rate"] * row["queries"]
            self.assertLess(abs(row["hits"] - expected), 5 * math.sqrt(expected) + 0.01 * expected)  # the filter's own 1 %
            self.assertTrue(1 <= row["over"] < 1.05)
        for row in self.numbers("bounds_list"):
            n = row["items"]
            self.near(row["value_bits"], 2 * math.log2(n))
            self.near(row["pair"], n ** -2)
            self.near(row["rate"], 1 - (1 - n ** -2) ** n, 1e-7)
            self.assertLess(row["rate"], row["bound"])
            # The values the list has, known; the absent keys are binomial: 5 deviations.
            expected = row["values"] / n ** 2 * row["queries"]
            self.assertLess(abs(row["hits"] - expected), 5 * math.sqrt(expected))
            self.assertEqual(row["differences"], 0)
            self.near(row["coded_bits"], log2_binomial(n * n, row["values"]), 1e-6)
            self.assertTrue(row["coded_bits"] <= row["message_bits"] < 1.02 * row["coded_bits"] + 100, row)


class Text(ReportTest):
    ARGUMENTS = ["--only", "mitzenmacher2002", "--trials", "0"]

    def test_what_the_text_says(self):
        printed = [row for row in read_csv(TABLES, "texts.csv") if row["source"] == "mitzenmacher2002"]
        rows = self.rows("mitzenmacher2002_text")
        self.assertEqual([(row["claim"], row["printed"]) for row in rows], [(row["what"], row["printed"]) for row in printed])
        self.assertEqual(len(rows), 18)
        for row, text in zip(rows, printed):
            self.assertTrue(float(text["low"]) <= float(row["computed"]) <= float(text["high"]), row)


class Limits(ReportTest):
    ARGUMENTS = ["--only", "limits", "--trials", "200"]

    def test_beta_and_its_limits(self):
        rows = self.numbers("limits_beta")
        for row, mirrored in zip(rows, reversed(rows)):
            p = row["zeros"]
            self.near(row["entropy"], entropy(p))
            self.near(row["gamma"], p / math.log(1 - p) + (1 - p) / math.log(p))
            self.near(row["beta"], math.exp(-math.log(p) * math.log(1 - p) / entropy(p)))
            self.near(row["rate"], row["rate_formula"])
            self.near(row["gamma"], mirrored["gamma"], 1e-12)
            h = 1e-6 * p
            g = [q / math.log(1 - q) + (1 - q) / math.log(q) for q in (p - h, p + h)]
            self.assertLess(abs(row["slope"] - (g[1] - g[0]) / (2 * h)), 1e-4 * (1 + abs(row["slope"])))
            self.assertEqual(row["slope"] < -1e-12, p < 0.5)
        self.near(max(row["beta"] for row in rows), 0.6185, 1e-4)
        ends = self.numbers("limits_ends")
        worst = max(ends, key=lambda row: row["rate"])
        self.near(worst["hashes"], 8 * math.log(2))
        self.near(worst["rate"], 0.6185 ** 8, 1e-3)
        for row in ends:
            if row["zeros"] < 1 - 1e-6:  # beyond, 1 − p has lost its digits
                self.near(row["bits_per_item"] * entropy(row["zeros"]), 8, 1e-6)
            self.assertGreater(row["over_limit"], 1)
        self.assertLess(ends[0]["over_limit"], 1.35)
        self.assertLess(ends[-1]["rate"], 0.75 * worst["rate"])
        limit = self.rows("limits_savings")[-1]
        self.near(float(limit["message"]), 8 * math.log(2))
        self.near(float(limit["saved"]), 30, 0.03)  # "roughly 30 %"

    def test_practice(self):
        budgets = {row["case"]: row for row in self.numbers("limits_budget")}
        for row in read_csv(TABLES, "simulations.csv"):
            if not row["deviation"]:
                continue
            case, printed = f"({row['bits_per_item']}, {row['hashes']})", float(row["deviation"])
            # The printed one is that of 100,000 trials, and has a standard error of 0.22 % itself.
            self.near(budgets[case]["deviation"], printed, 0.007)
            self.assertEqual(budgets[case]["printed"], printed)
            self.assertGreater(budgets[case]["room"], 6)
        for row in self.numbers("limits_sorted"):
            self.near(row["list"], math.log2(92 * row["items"]))
            self.near(row["coded"], printed_size("I", 92, 1), 1e-4)
        for row in self.numbers("limits_one_hash"):
            self.near(1 - math.exp(-1 / row["exact"]), row["rate"])

    def test_the_adaptive_coder(self):
        for row in self.numbers("limits_coder"):
            m, x = row["bits"], row["zeros"]
            bits = math.log2(m + 1) + log2_binomial(m, x)
            self.assertLessEqual(abs(row["length"] - (math.ceil(bits) + 1)), 1)  # lgamma may round across a whole bit
            # Whole bytes, and the end of the code.
            self.assertLess(abs(row["ours"] - row["length"]), 24)
            self.assertTrue(0 < row["per_log"] < 1 and 0 < row["length_per_log"] < 1.5)

    def test_deltas(self):
        for row in self.numbers("limits_delta"):
            m, k, c = row["bits_per_item"], row["hashes"], row["change"]
            p = math.exp(-k / m)
            self.near(row["one_case"], p * (1 - p ** c))
            self.near(row["message"], m * entropy(2 * p * (1 - p ** c)))
            table = "VI" if c == 0.05 else "VII"
            self.assertLess(abs(row["message"] - printed_size(table, m, k)), 5.1e-5)
            self.near(row["rate"], row["rate_formula"])
            self.near(row["limit"], 2 * c * math.log2(1 / row["rate"]))
            self.near(row["limit_rate"], 0.5 ** (row["message"] / (2 * c)))
            self.assertLess(row["limit"], row["message"])
            # One trial; the number of flips has at most this deviation. 5 of them.
            for side in ["came", "went"]:
                self.assertLess(abs(row[side] - row["one_case"]), 5 * row["standard_error"] + 2 / (m * 10_000), row)
            self.near(row["message_measured"], row["message"], 0.05)
        for row in self.numbers("limits_delta_beta"):
            p = row["zeros"]
            for name, c in [("beta_001", 0.01), ("beta_005", 0.05), ("beta_02", 0.2)]:
                if p == 1:
                    self.near(row[name], 0.5 ** (1 / (2 * c)))
                elif p <= 0.999:
                    self.near(row[name], math.exp(-math.log(p) * math.log(1 - p) / entropy(2 * p * (1 - p ** c))), 1e-7)
        for row in self.numbers("limits_flipped"):
            p, c = math.exp(-row["hashes"] / row["bits_per_item"]), row["change"] / 100
            self.near(2 * p * (1 - p ** c), 0.05)
            self.near(row["message"], row["bits_per_item"] * entropy(0.05))

    def test_counting_filters_as_messages(self):
        for row in self.numbers("limits_counting"):
            s = row["hashes"] / row["bits_per_item"]
            poisson = [math.exp(-s) * s ** j / math.factorial(j) for j in range(40)]
            self.near(row["entropy"], -sum(p * math.log2(p) for p in poisson if p > 0), 1e-3)
            self.near(row["measured"], row["entropy"], 0.02)  # one filter: its counters stray, and the coder adds
            self.assertTrue(row["projection"] < row["entropy"] < row["width"])


if __name__ == "__main__":
    main()
