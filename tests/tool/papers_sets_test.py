"""posy papers: what the chapters of sets, Hadoop and counters compute and measure is right by independent computation and as
printed.

Usage: papers_sets_test.py POSY [unittest arguments]
"""
import math
import struct

from papers_report import ReportTest, main


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


class Sets(ReportTest):
    ARGUMENTS = ["--only", "sets,hadoop,counters", "--trials", "200"]

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
            now = (1 - row["zeros"] / m) ** 5  # of these very bits: the absent keys are binomial
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

    def test_a_counter_at_its_end(self):
        rows = self.numbers("counters_stuck")
        self.assertEqual([(r["present"], r["left"], r["wrapped"], r["ours"]) for r in rows],
                         [(1, 1, 1, 1), (15, 15, 15, 15), (16, 15, 0, 15), (20, 15, 4, 15),
                          (16, 11, 0, 15), (5, 0, 5, 15), (1, 0, 1, 15), (0, 0, 0, 15)])
        self.assertEqual({r["found"] for r in rows}, {"yes"})


if __name__ == "__main__":
    main()
