"""posy papers, section by section: the catalogue is complete and every entry has its place, and what the sections compute
and measure is right by independent computation and as printed.

Usage: papers_sections_test.py POSY [unittest arguments]
"""
import csv
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

POSY = os.path.abspath(sys.argv[1])
TRIALS = 200
CHAPTERS = "formulas,bounds,limits,sets,hadoop,counters"

# What the documents have, counted in them: displayed formulas by number, tables, figures. Two of the second paper's
# formulas have numbers of their own and one is its theorem; the slides' formulas are counted by slide.
FORMULAS = {"Summary Cache": set(range(1, 8)), "Survey": set(range(1, 22)),
            "Compressed Bloom Filters": set(range(1, 15)) - {4, 6, 11}}
TABLES = {"Summary Cache": {"Table 3", "Table 4", "Table 5"}, "Survey": {"Table 1"},
          "Compressed Bloom Filters": {"Table " + n for n in ["I", "II", "III", "IV", "V", "VI", "VII"]}}
FIGURES = {"Summary Cache": {"Figure 3", "Figure 4"}, "Survey": {"Figure 1", "Figure 2"},
           "Compressed Bloom Filters": {"Fig. 1", "Fig. 2"},
           "Slides": {"A Bloom filter example", "False positive rate vs. k", "Rate vs. bits per entry"}}


def run(directory, *args):
    done = subprocess.run([POSY, "papers", *args], capture_output=True, text=True, cwd=directory, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def entropy(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def log2_binomial(m, x):
    return (math.lgamma(m + 1) - math.lgamma(x + 1) - math.lgamma(m - x + 1)) / math.log(2)


class Sections(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.dir = os.path.join(cls.scratch.name, "some")
        run(cls.scratch.name, "--only", CHAPTERS, "--trials", str(TRIALS), "-o", "some")
        run(cls.scratch.name, "--trials", "0", "-o", "all")

    def rows(self, name, directory=None):
        with open(os.path.join(directory or self.dir, name + ".csv"), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def numbers(self, name):
        """The rows with every cell that is a number as one; empty cells left out."""
        def cell(text):
            try:
                return float(text)
            except ValueError:
                return text
        return [{k: cell(v) for k, v in row.items() if v != ""} for row in self.rows(name)]

    def near(self, a, b, tolerance=1e-9):
        self.assertLessEqual(abs(a - b), tolerance * abs(b) + 1e-300, (a, b))

    # ---- the catalogue ----

    def test_nothing_is_missing(self):
        entries = self.rows("catalogue", os.path.join(self.scratch.name, "all"))
        for document, numbers in FORMULAS.items():
            found = [re.search(r"formula (\d+)", e["where"]) for e in entries
                     if e["document"] == document and e["kind"] == "formula"]
            self.assertEqual(sorted(int(m[1]) for m in found if m), sorted(numbers), document)
        for kind, expected in [("table", TABLES), ("figure", FIGURES)]:
            for document, places in expected.items():
                self.assertEqual({e["where"] for e in entries if e["document"] == document and e["kind"] == kind}, places)
        places = {(e["document"], e["where"]) for e in entries}
        for place in ["II-A, (1)", "II-B, (2)", "Theorem 1"]:
            self.assertIn(("Compressed Bloom Filters", place), places)
        for place in ["Figure A-1", "Figure A-2", "getOptimalBloomFilterSize", "getOptimalK"]:
            self.assertIn(("Hadoop", place), places)
        self.assertEqual({e["document"] for e in entries},
                         {"Summary Cache", "Compressed Bloom Filters", "Survey", "Slides", "Hadoop"})

    def test_every_entry_has_a_section_and_every_section_an_entry(self):
        directory = os.path.join(self.scratch.name, "all")
        entries = self.rows("catalogue", directory)
        with open(os.path.join(directory, "report.html"), encoding="utf-8") as f:
            page = xml.fromstring(f.read())
        with open(os.path.join(directory, "report.md"), encoding="utf-8") as f:
            markdown = f.read()
        sections = {h.get("id"): h.text for h in page.iter("h3")}
        self.assertEqual({e["section"].replace("/", "-") for e in entries}, set(sections))
        self.assertEqual(re.findall(r'^<a id="(.*)"></a>$', markdown, re.M), list(sections))
        self.assertEqual(re.findall(r"^### (.*)$", markdown, re.M), list(sections.values()))
        for e in entries:
            self.assertTrue(sections[e["section"].replace("/", "-")].startswith(e["number"] + " "), e)
        # The index comes first, and its links lead to the sections.
        self.assertEqual(next(page.iter("h2")).text, "What is where")
        links = [a.get("href")[1:] for a in page.iter("a") if a.get("href").startswith("#")]
        self.assertEqual(links, [e["section"].replace("/", "-") for e in entries])
        # No section is empty: each has a table, a figure or a sentence before the next.
        for part in re.split(r"^### .*$", markdown, flags=re.M)[1:]:
            self.assertGreater(len(part.strip()), 30)

    def test_the_list(self):
        entries = self.rows("catalogue", os.path.join(self.scratch.name, "all"))
        lines = run(self.scratch.name, "--list").splitlines()
        self.assertEqual(len(lines), 1 + len(entries))
        for line, e in zip(lines[1:], entries):
            self.assertTrue(line.startswith(e["document"]), line)
            for field in ["where", "kind", "what", "number"]:
                self.assertIn(e[field], line)

    def test_a_part_of_the_report_says_what_it_leaves_out(self):
        with open(os.path.join(self.dir, "report.md"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("chapter fan1998, not in this run", text)
        self.assertNotIn("chapter sets, not in this run", text)

    # ---- formulas ----

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

    # ---- bounds ----

    def test_the_lower_bound(self):
        for row in self.numbers("bounds_lower"):
            n, rate, u = 1000, 0.01, row["universe"]
            accepted = n + rate * (u - n)
            self.near(row["bound"], math.fsum(math.log2((u - i) / (accepted - i)) for i in range(n)))
            if "approximation" in row and rate * u > n:
                self.near(row["approximation"], math.fsum(math.log2((u - i) / (rate * u - i)) for i in range(n)))
            self.near(row["limit"], n * math.log2(100))
            self.near(row["set"], math.fsum(math.log2((u - i) / (i + 1)) for i in range(n)))
        with open(os.path.join(self.dir, "report.md"), encoding="utf-8") as f:
            self.assertIn("trying all ways, the fewest are 6.", f.read())  # the covering number C(6, 3, 2)

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
            # The values the list has, known; the strangers are binomial: 5 deviations.
            expected = row["values"] / n ** 2 * row["queries"]
            self.assertLess(abs(row["hits"] - expected), 5 * math.sqrt(expected))
            self.assertEqual(row["differences"], 0)
            self.near(row["coded_bits"], log2_binomial(n * n, row["values"]), 1e-6)
            self.assertTrue(row["coded_bits"] <= row["message_bits"] < 1.02 * row["coded_bits"] + 100, row)

    # ---- the text of Compressed Bloom Filters ----

    def test_what_the_text_says(self):
        rows = self.rows("mitzenmacher2002_text", os.path.join(self.scratch.name, "all"))
        ranges = {"almost 20 %": (0.17, 0.20), "2 times": (2, 2.1), "about 30 %": (0.28, 0.32), "over 50 %": (0.5, 0.55),
                  "roughly 5 to 15 %": (0.05, 0.15), "six": (5.8, 6.2), "over 20 %": (0.2, 0.25), "below 1/2": (0, 0.5)}
        printed = 0
        for row in rows:
            value, text = float(row["computed"]), row["printed"]
            if text in ranges:
                self.assertTrue(ranges[text][0] <= value <= ranges[text][1], row)
            else:  # half a unit of the last digit
                number = text.removeprefix("about ")
                place = 10.0 ** -len(number.split(".")[1])
                self.assertLessEqual(abs(value - float(number)), place / 2 * (1 + 1e-9), row)
                printed += 1
        self.assertEqual((len(rows), printed), (18, 7))

    # ---- limits ----

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
        for case, printed in [("(14, 2)", 11.375), ("(48, 3)", 14.386)]:
            # The printed one is that of 100,000 trials, and has a standard error of 0.22 % itself.
            self.near(budgets[case]["deviation"], printed, 0.007)
            self.assertEqual(budgets[case]["printed"], printed)
            self.assertGreater(budgets[case]["room"], 6)
        for row in self.numbers("limits_sorted"):
            self.near(row["list"], math.log2(92 * row["items"]))
            self.near(row["coded"], 7.923, 1e-4)  # Table I
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
        printed = {(8, 5, 0.05): 1.6713, (32, 2, 0.05): 1.6607, (13, 2, 0.01): 0.3430, (48, 2, 0.01): 0.4500}
        for row in self.numbers("limits_delta"):
            m, k, c = row["bits_per_item"], row["hashes"], row["change"]
            p = math.exp(-k / m)
            self.near(row["one_case"], p * (1 - p ** c))
            self.near(row["message"], m * entropy(2 * p * (1 - p ** c)))
            self.assertLess(abs(row["message"] - printed[m, k, c]), 5.1e-5)  # Tables VI (unswapped) and VII
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

    # ---- sets ----

    def test_the_example(self):
        for hashes in [3, 4]:
            rows = self.rows(f"sets_example{hashes}")
            places = [[int(at) for at in row["positions"].split(", ")] if row["positions"] else [] for row in rows]
            self.assertEqual(rows[0]["array"], "0" * 32)
            ones = set(places[1]) | set(places[2])
            self.assertEqual(rows[2]["array"], "".join("1" if i in ones else "0" for i in range(32)))
            self.assertEqual([len(at) for at in places[1:]], [hashes] * 4)
            self.assertTrue(any(rows[3]["array"][at] == "0" for at in places[3]))
            self.assertTrue(all(rows[4]["array"][at] == "1" for at in places[4]))
            self.assertTrue(rows[3]["answer"].startswith("no") and rows[4]["answer"].startswith("yes"))

    def test_union_and_halving(self):
        for row in self.numbers("sets_tricks"):
            m, n = row["bits"], row["items"]
            self.assertEqual(row["differing"], 0)
            self.near(row["expected_zeros"], m * (1 - 1 / m) ** (5 * n))
            # Five deviations of the number of zeros, at most √(m p(1−p)).
            p = row["expected_zeros"] / m
            self.assertLess(abs(row["zeros"] - row["expected_zeros"]), 5 * math.sqrt(m * p * (1 - p)))
            self.near(row["estimate"], n, 0.02)
            now = (1 - row["zeros"] / m) ** 5  # of these very bits: the strangers are binomial
            self.assertLess(abs(row["measured"] - now), 5 * math.sqrt(now / row["queries"]))

    def test_intersections(self):
        m, k, a, b = 100_000, 5, 10_000, 5_000
        q = (1 - 1 / m) ** k
        for row in self.numbers("sets_intersection"):
            c = row["intersection"]
            self.near(row["both"], (1 - q ** c) + q ** c * (1 - q ** (a - c)) * (1 - q ** (b - c)))
            self.near(row["inner"], m * (1 - q ** a - q ** b + q ** (a + b - c)))
            self.near(row["inner"], m * row["both"])
            # Sixteen pairs; six of their standard errors, with 15 degrees of freedom: odds of 2e-5.
            for name, truth in [("inner", row["inner"]), ("by_inner", c), ("by_zeros", c)]:
                measured = row["inner_measured"] if name == "inner" else row[name]
                self.assertLess(abs(measured - truth), 6 * row[name + "_error"] + 1e-9 + 0.001 * truth, (name, row))

    def test_conservative_update(self):
        rows = self.numbers("sets_conservative")
        self.assertEqual(len(rows), 6)
        for first in [0, 3]:
            flow = rows[first:first + 3]
            self.assertEqual(min(r["before"] for r in flow), 2)  # the figure: at most 2 bytes so far
            for r in flow:
                self.assertEqual(r["bytes"], 4)
                self.assertEqual(r["conservative"], max(r["before"], 6))  # and only to 6
                self.assertEqual(r["plain"], r["before"] + 4)
            self.assertEqual(min(r["conservative"] for r in flow), 6)
        for row in self.numbers("sets_heavy"):
            self.assertEqual(row["missed"], 0)
            self.assertGreater(row["heavy"], 20)
            self.assertLess(row["conservative"], 0.7 * row["plain"])

    def test_applications(self):
        rows = self.numbers("sets_applications")
        self.assertEqual({row["where"] for row in rows}, {5.2, 5.3, 6.1, 6.3, 7.1, 7.2, 8.2})
        for row in rows:  # sixteen trials: six standard errors, odds of 2e-5
            rare = math.sqrt(row["expected"] / 16) if row["where"] == 7.2 else 0  # too few to show their own spread
            error = max(row["standard_error"], rare)
            self.assertLess(abs(row["measured"] - row["expected"]), 6 * error + 1e-9, row)

    # ---- Hadoop ----

    def test_hadoop(self):
        for row in self.numbers("hadoop_size"):
            n, p = int(row["items"]), row["rate"]
            self.near(row["formula"], -n * math.log(p) / math.log(2) ** 2)
            product = single(single(-n) * single(math.log(single(p))))
            self.assertEqual(row["helper"], min(2 ** 31 - 1, int(product / math.log(2) ** 2)))
            self.assertEqual(row["posy"], math.ceil(row["formula"]))
        for row in self.numbers("hadoop_hashes"):
            n, m = row["items"], row["bits"]
            self.assertEqual(row["helper"], math.floor(single(m) * math.log(2) / single(n) + 0.5))
            if n >= 1e6:  # where f' is as good as exact
                self.near(row["expected"], (1 - math.exp(row["helper"] * n * math.log1p(-1 / m))) ** row["helper"], 1e-3)
            if row["queries"]:
                # Questions, and 2 % for the one filter's fill: its rate strays by 1.3 % (one deviation) at this size.
                error = math.sqrt(row["expected"] / row["queries"]) + 0.02 * row["expected"]
                self.assertLess(abs(row["measured"] - row["expected"]), 4 * error)
        (row,) = self.numbers("hadoop_examples")
        self.assertEqual(row["printed"], 100_000)
        self.near(row["expected"], row["printed"], 0.005)
        self.assertLess(abs(row["measured"] - row["expected"]), 4.5 * row["deviation"])
        short, long = self.numbers("hadoop_lengths")
        self.assertEqual(short["filter_bytes"], long["filter_bytes"])
        self.assertEqual((short["text_bytes"], long["text_bytes"]), (32_000, 1_024_000))

    # ---- counters ----

    def test_a_counter_at_its_end(self):
        rows = self.numbers("counters_stuck")
        self.assertEqual([(r["present"], r["left"], r["wrapped"], r["ours"]) for r in rows],
                         [(1, 1, 1, 1), (15, 15, 15, 15), (16, 15, 0, 15), (20, 15, 4, 15),
                          (16, 11, 0, 15), (5, 0, 5, 15), (1, 0, 1, 15), (0, 0, 0, 15)])
        self.assertEqual({r["found"] for r in rows}, {"yes"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
