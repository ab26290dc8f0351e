"""posy plan from outside, and that a filter keeps what it was planned for.

Usage: plan_test.py POSY [unittest arguments]
"""
import json
import math
import os

from harness import ToolTest, main


class Plan(ToolTest):
    def test_the_papers_figures(self):
        def rate(*args):
            return json.loads(self.posy("plan", "--items", "1000000", *args, "--json"))["false_positive_rate"]
        ten = ["--bits-per-item", "10", "--layout", "spread", "--hashes"]
        self.assertEqual(round(rate(*ten, "4"), 4), 0.0118)
        self.assertEqual(round(rate(*ten, "7"), 4), 0.0082)

    def test_fields_for_programs(self):
        plan = json.loads(self.posy("plan", "-n", "1M", "--fpr", "0.01", "--delta-fraction", "0.05", "--json"))
        for field in ["items", "bits", "hashes", "layout", "bits_per_item", "fill", "false_positive_rate",
                      "memory_bytes", "file_bytes", "message_bits_per_item", "message_bytes", "frame_bytes",
                      "delta_bits_per_item", "delta_message_bytes", "delta_frame_bytes"]:
            self.assertIn(field, plan)
        for counting, width in zip(plan["counting"], [4, 8]):
            self.assertEqual(counting["counter_bits"], width)
            self.assertLessEqual(counting["overflow_probability"], counting["overflow_bound"])
            self.assertGreater(counting["highest_counter"], 5)
        for row in plan["sealed"] + [plan["growing"]] + plan["alternatives"]:
            self.assertGreater(row["message_bytes"] - row["frame_bytes"], 0.99 * row["message_bits_per_item"] * 1e6 / 8)
            self.assertIn(row["frame_bytes"], range(15, 80))
        self.assertLessEqual(plan["false_positive_rate"], 0.01)
        self.assertIn("standard, same rate", [a["name"] for a in plan["alternatives"]])

    def test_a_message_budget_beats_the_plain_filter(self):
        plan = json.loads(self.posy("plan", "-n", "10000", "--message-bits", "8", "--max-memory", "17.5kB", "--json"))
        self.assertEqual((plan["bits"], plan["hashes"]), (139968, 2))  # whole words: 17,496 bytes
        self.assertAlmostEqual(plan["false_positive_rate"], 0.0177, places=4)

    def test_many_hashes_use_the_message_too(self):
        plan = json.loads(self.posy("plan", "-n", "1M", "--message-bits", "8", "--hashes", "10", "--json"))
        self.assertLessEqual(plan["false_positive_rate"], 0.0206)
        rows = json.loads(self.posy("plan", "-n", "1M", "--message-bits", "8", "--tradeoff", "--json"))
        self.assertEqual(len(rows), 32)
        for row in rows:
            self.assertAlmostEqual(row["message_bits_per_item"], 8, places=3)
            self.assertLess(row["false_positive_rate"], 0.0217)

    def test_the_smallest_delta(self):
        plan = json.loads(self.posy("plan", "-n", "10M", "-b", "13", "-f", "0.0217", "--minimize", "delta",
                                    "--delta-fraction", "0.05", "--json"))
        self.assertEqual((plan["hashes"], round(plan["delta_bits_per_item"], 4)), (2, 1.3124))
        self.fails("plan", "-n", "10M", "--minimize", "delta", saying="a delta needs a delta fraction")
        self.fails("plan", "-n", "1M", "-f", "0.001", "--delta-bits", "0.1", "--delta-fraction", "0.05",
                   saying="a delta of 0.1 bits per item is too small")

    def test_messages_are_as_large_as_planned(self):
        self.write("keys.txt", self.lines(0, 5000))
        plan = json.loads(self.posy("plan", "-n", "5000", "--message-bits", "6", "-k", "12", "--json"))
        self.posy("build", "keys.txt", "-n", "5000", "--message-bits", "6", "-k", "12", "-o", "f.posy")
        self.assertEqual(os.path.getsize(self.path("f.posy")), plan["file_bytes"])
        self.posy("pack", "f.posy", "-o", "packed.posy")
        self.assertAlmostEqual(os.path.getsize(self.path("packed.posy")), plan["message_bytes"], delta=40)
        self.posy("build", "keys.txt", "--counting", "-n", "5000", "-f", "0.01", "-o", "c.posy")
        plan = json.loads(self.posy("plan", "-n", "5000", "-f", "0.01", "--json"))["counting"][0]
        info = json.loads(self.posy("info", "--json", "c.posy"))
        self.assertEqual(os.path.getsize(self.path("c.posy")), plan["file_bytes"])
        self.assertAlmostEqual(info["counter_message_bytes"], plan["message_bytes"], delta=40)
        self.assertLess(info["message_bits"] / 8, info["counter_message_bytes"])

    def test_extremes(self):
        def finite(value):
            if isinstance(value, dict):
                return all(map(finite, value.values()))
            if isinstance(value, list):
                return all(map(finite, value))
            return value is not None and value == value and value not in (float("inf"), float("-inf"))
        for items in ["1", "2", "3", "64", "65", "2049", str(2**30)]:
            for rate in ["0.9", "0.01", "1e-9"]:
                plan = json.loads(self.posy("plan", "-n", items, "-f", rate, "--json"))
                self.assertTrue(finite(plan), (items, rate))
                self.assertEqual(plan["bits_per_item"], plan["bits"] / int(items))
                self.assertLessEqual(plan["false_positive_rate"], float(rate))

    def test_impossible_wishes_are_named(self):
        self.fails("plan", "-n", "1M", "-f", "0.001", "-b", "10", saying="a false-positive rate of 0.001 cannot be had: the best is")
        self.fails("plan", "-n", "1M", "-f", "0.001", "--max-memory", "1MB", saying="the largest allowed is 1000000")
        self.fails("plan", "-n", "1M", "-k", "9", "--max-hashes", "4", saying="contradict each other")
        self.fails("plan", "-n", "1M", "-f", "nan", saying="must lie between 0 and 1")
        self.fails("plan", "-n", "1M", "-f", "0", saying="must lie between 0 and 1")
        self.fails("plan", "-n", "1M", "-b", "nan", saying="must be a positive number")
        self.fails("plan", "-n", "1M", "-k", "0", saying="at least one hash")
        self.fails("plan", "-n", "1M", "-k", "40", saying="takes 1 to 16")
        self.fails("plan", "-n", "1e30", saying="is not an amount")
        self.fails("plan", saying="--items")

    def test_plot(self):
        self.posy("plan", "-n", "1M", "--plot", "curve.svg")
        with open(self.path("curve.svg")) as f:
            svg = f.read()
        self.assertIn("<svg", svg)
        self.assertIn("bits per item of the array", svg)
        self.assertIn("bits per item of the message", svg)
        self.posy("plan", "-n", "10k", "-k", "1", "--layout", "spread", "--minimize", "message", "--plot", "curve.svg")
        self.assertIn("1 hash<", self.read("curve.svg").decode())
        self.fails("plan", "-n", "1M", "--plot", "no/such/curve.svg", saying="no/such/curve.svg")

    def test_plans_that_were_wrong_once(self):
        def plan(*args):
            return json.loads(self.posy("plan", "-n", "1M", *args, "--json"))
        self.assertLess(plan("--message-bits", "8", "-f", "0.03")["message_bits_per_item"], 7.3)
        self.assertLess(plan("-b", "10", "--minimize", "memory")["false_positive_rate"], 0.01)
        self.assertLess(plan("-b", "10", "--minimize", "message")["fill"], 0.5)


class Planned(ToolTest):
    """A filter keeps what it was planned for, and says when it holds more."""

    def info(self, name):
        return json.loads(self.posy("info", "--json", name))

    def planned(self, name):
        info = self.info(name)
        return info["planned_items"], info["planned_false_positive_rate"]

    def test_the_plan_is_kept(self):
        plan = json.loads(self.posy("plan", "-n", "5000", "-f", "0.003", "--json"))
        promised = (5000, plan["false_positive_rate"])
        self.posy("build", "-n", "5000", "-f", "0.003", "-o", "f", stdin=self.lines(0, 1000))
        self.assertEqual(self.stderr, "")
        self.assertEqual(self.planned("f"), promised)
        info = self.info("f")
        self.assertEqual((info["items"], info["past_plan"]), (1000, False))
        predicted = json.loads(self.posy("plan", "-n", "1000", "-b", str(info["bits"] / 1000), "-k", str(info["hashes"]), "--json"))
        self.assertEqual(predicted["bits"], info["bits"])
        self.assertEqual(info["predicted_false_positive_rate"], predicted["false_positive_rate"])
        text = self.posy("info", "f").decode()
        self.assertRegex(text, r"(?m)^items planned +5,000\nitems +1,000$")
        self.assertNotIn("as planned", text)
        for args in [[], ["--queryable", "small"], ["--queryable", "fast"], ["--queryable", "list"]]:
            self.posy("pack", "f", *args, "-o", "p")
            self.assertEqual(self.planned("p"), promised)
            self.posy("unpack", "p", "-o", "u")
            self.assertEqual(self.read("u"), self.read("f"))
        self.posy("build", "--counting", "-n", "5000", "-f", "0.003", "-o", "c", stdin=self.lines(0, 1000))
        self.assertEqual(self.planned("c"), promised)
        self.posy("add", "c", stdin=self.lines(1000, 1100))
        self.posy("remove", "c", stdin=self.lines(0, 100))
        self.assertEqual(self.planned("c"), promised)
        self.posy("delta", "f", "c", "-o", "d")
        self.posy("apply", "f", "d")
        self.assertEqual(self.planned("f"), promised)
        self.posy("union", "f", "c", "-o", "both")
        self.assertEqual(self.planned("both"), promised)

    def test_an_intersection_by_a_filter(self):
        # Least bits: a/(ln 2)^2 ln(j b (ln 2)^2/a), for a items here, b there and names of j = 64 bits.
        plan = json.loads(self.posy("plan", "-n", "1k", "--intersect", "100k", "--json"))["intersection"]
        best = 1000 / math.log(2) ** 2 * math.log(64 * 100 * math.log(2) ** 2)
        self.assertAlmostEqual(plan["filter_bits"], best, delta=0.01 * best)
        self.assertAlmostEqual(plan["message_bytes"], (plan["filter_bits"] + 64 * plan["false_positives"]) / 8, delta=1)
        self.assertLess(plan["message_bytes"], plan["names_bytes"] / 3)
        plan = json.loads(self.posy("plan", "-n", "100k", "--intersect", "1k", "--json"))["intersection"]
        self.assertEqual((plan["filter_bits"], plan["message_bytes"]), (0, 8000))

    def test_what_was_counted_is_what_was_planned(self):
        self.write("keys", self.lines(0, 3000))
        for args in [["keys"], ["keys", "-b", "12"], ["keys", "--counting"]]:
            self.posy("build", *args, "-o", "f")
            info = self.info("f")
            self.assertEqual((info["planned_items"], info["items"]), (3000, 3000), args)
            self.assertEqual(info["planned_false_positive_rate"], info["predicted_false_positive_rate"])
        self.posy("build", "-b", "12", "-o", "f", stdin=self.lines(0, 3000))
        self.assertEqual(self.planned("f")[0], 3000)
        self.posy("build", "-f", "0.02", "-o", "grown", stdin=self.lines(0, 3000))  # from a pipe, folded down
        self.assertEqual(self.planned("grown"), (3000, 0.02))
        self.posy("build", "--growing", "-f", "0.02", "-o", "growing", stdin=self.lines(0, 3000))
        self.assertEqual(self.info("growing")["planned_false_positive_rate"], 0.02)
        self.assertIn("  planned             0.02", self.posy("info", "growing").decode())

    def test_a_fold_promises_what_can_be_kept(self):
        self.posy("build", "-n", "1000", "-b", "102.4", "-k", "5", "-o", "wide", stdin=self.lines(0, 1000))
        self.posy("fold", "wide", "--by", "10", "-o", "folded")
        items, rate = self.planned("folded")
        self.assertEqual(items, 1000)
        self.assertGreater(rate, 100 * self.planned("wide")[1])
        self.assertEqual(rate, self.info("folded")["predicted_false_positive_rate"])

    def test_filling_past_the_plan_warns(self):
        def warned(more, holds, *args, **kwargs):
            self.posy(*args, **kwargs)
            self.assertRegex(self.stderr, rf"\Aposy: [^\n]*: it holds {holds} items, {more} more than the 1,000 it was planned for, "
                             rf"and its false-positive rate is [^\n]*--items {holds.replace(',', '')} or more\n\Z")
        def silent(*args, **kwargs):
            self.posy(*args, **kwargs)
            self.assertEqual(self.stderr, "")
        for kind in [[], ["--counting"]]:
            silent("build", *kind, "-n", "1000", "-o", "f", stdin=self.lines(0, 1000))
            self.assertFalse(self.info("f")["past_plan"])
            silent("add", "f", "-o", "again", stdin=self.lines(0, 1000) * 3)  # nothing new
            warned("1,000", "2,000", "build", *kind, "-n", "1000", "-o", "g", stdin=self.lines(0, 2000))
            self.assertTrue(self.info("g")["past_plan"])
            self.assertIn("items planned         1,000; exceeded by 1,000\n", self.posy("info", "g").decode())
            warned("200", "1,200", "add", "f", stdin=self.lines(1000, 1200))
        silent("build", "-n", "1000", "-o", "a", stdin=self.lines(0, 500))
        silent("build", "-n", "1000", "-o", "b", stdin=self.lines(500, 1000))
        silent("build", "-n", "1000", "-o", "c", stdin=self.lines(1000, 1500))
        silent("union", "a", "b", "-o", "ab")
        warned("500", "1,500", "union", "ab", "c", "-o", "abc")
        silent("delta", "ab", "abc", "-o", "d")
        warned("500", "1,500", "apply", "ab", "d")
        rate = float(self.stderr.split("rate is ")[1].split()[0])
        self.assertAlmostEqual(rate, self.info("ab")["false_positive_rate"], delta=1e-3 * rate)
        # Where nobody planned, nothing is exceeded.
        silent("pack", "--from-keys", "-o", "p", "--max-bytes", "1400", self.write("keys", self.lines(0, 500)))
        silent("add", "p", stdin=self.lines(500, 2000))
        self.assertEqual(self.planned("p"), (None, None))


if __name__ == "__main__":
    main()
