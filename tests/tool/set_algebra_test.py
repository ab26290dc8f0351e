"""posy union, intersect, fold and compare from outside.

Usage: set_algebra_test.py POSY [unittest arguments]
"""
import json

from harness import ToolTest, main


class Join(ToolTest):
    def count(self, name, keys, *args):
        self.posy("count", "--top", "0", "--seed", "1", *args, "-o", name, stdin=keys)

    def test_rows_of_a_join(self):
        self.count("a", self.lines(0, 3000) * 2, "--plain")
        self.count("b", self.lines(2000, 4000) * 3, "--plain")
        j = json.loads(self.posy("compare", "--json", "--level", "0.999999", "a", "b"))
        self.assertEqual((j["a"], j["b"]), (6000, 6000))
        self.assertLessEqual(j["join"]["low"], 6000)
        self.assertGreaterEqual(j["join"]["high"], 6000)
        self.assertLess(j["join"]["high"] - j["join"]["low"], 1000)
        self.assertIn(b"A join B", self.posy("compare", "a", "b"))

    def test_what_cannot_be_joined(self):
        self.count("a", self.lines(0, 10), "--plain")
        self.count("usual", self.lines(0, 10))
        self.count("wide", self.lines(0, 10), "--plain", "--epsilon", "0.001")
        self.posy("build", "-n", "10", "-o", "filter", stdin=self.lines(0, 10))
        self.fails("compare", "a", "usual", saying="--plain")
        self.fails("compare", "a", "wide", saying="differ in size")
        self.fails("compare", "a", "filter", saying="a is a sketch, and filter is not")
        self.fails("compare", "a", "a", "--formulas", saying="--formulas are for filters")


class Algebra(ToolTest):
    def build(self, name, start, stop, *args):
        self.posy("build", "-n", "2000", *args, "-o", name, stdin=self.lines(start, stop))

    def test_union_intersection_fold(self):
        self.build("a", 0, 1000)
        self.build("b", 500, 2000)
        self.build("all", 0, 2000)
        stream = self.read("a") + self.read("b")
        united = self.posy("union", "-", stdin=stream)
        self.assertEqual(self.posy("query", "-c", "-", self.write("keys", self.lines(0, 2000)), stdin=united), b"2000\n")
        self.assertEqual(united[64:-4], self.read("all")[64:-4])
        self.posy("intersect", "a", "b", "-o", "common")
        self.assertEqual(self.posy("query", "-v", "-c", "common", stdin=self.lines(500, 1000), status=1), b"0\n")
        self.assertIsNone(json.loads(self.posy("info", "--json", "common"))["items"])
        self.assertEqual(json.loads(self.posy("info", "--json", "a"))["intersection"], False)
        self.build("wide", 0, 1000, "--bits-per-item", "512", "--hash", "xxh3")
        self.posy("fold", "wide", "--by", "10", "-o", "tenth")
        self.build("direct", 0, 1000, "--bits-per-item", "51.2", "--hash", "xxh3", "-k", str(json.loads(self.posy("info", "--json", "wide"))["hashes"]))
        self.assertEqual(self.read("tenth"), self.read("direct"))
        self.fails("fold", "wide", "--by", "7", saying="the divisor must divide the size")
        self.fails("fold", "wide", "--by", "0", saying="not in range")

    def test_an_intersection_is_bounded_and_not_estimated(self):
        """5,000 common keys of 40,000; an estimate from the bits of the AND is wrong by construction, far above."""
        for name, start in [("a", 0), ("b", 15000)]:
            self.posy("build", "-n", "20000", "-o", name, stdin=self.lines(start, start + 20000))
        self.posy("intersect", "a", "b", "-o", "common")
        self.posy("pack", "common", "-o", "packed")
        self.posy("pack", "common", "--queryable", "small", "-o", "queryable")
        self.posy("build", "-n", "20000", "-o", "few", stdin=self.lines(0, 10))
        self.posy("union", "few", "common", "-o", "united")
        self.posy("delta", "a", "common", "-o", "delta")
        self.posy("apply", "a", "delta", "-o", "applied")
        for name in ["common", "packed", "queryable", "united", "applied"]:
            info = json.loads(self.posy("info", "--json", name))
            e = info["estimated_items"]
            self.assertEqual((info["intersection"], e["value"], e["low"]), (True, None, 0), name)
            self.assertGreater(e["high"], 5000)
            self.assertLess(e["high"], 20000)
            self.assertIsNone(info["predicted_false_positive_rate"])
            text = self.posy("info", name).decode()
            self.assertRegex(text, r"(?m)^different items +at most [0-9,]+ at 95 %; 'posy compare'")
            self.assertIn("for keys of none of the sets", text)
        c = json.loads(self.posy("compare", "--json", "--level", "0.9999", "a", "b"))["intersection"]
        self.assertLess(c["low"], 5000)
        self.assertGreater(c["high"], 5000)
        self.fails("compare", "a", "common", saying="compare the filters that it was made from")

    def test_counting_filters_take_part_by_their_projection(self):
        self.build("a", 0, 1000)
        self.build("c", 1000, 2000, "--counting")
        self.assertEqual(self.posy("query", "-c", "-", self.write("keys", self.lines(0, 2000)), stdin=self.posy("union", "c", "a")), b"2000\n")

    def test_different_geometries_do_not_combine(self):
        self.build("a", 0, 10)
        self.build("b", 0, 10, "--seed", "1")
        self.build("c", 0, 10, "-f", "0.1")
        self.fails("union", "a", "b", "-o", "x", saying="b: the filters differ in seed 0 and 1")
        self.fails("intersect", "a", "c", "-o", "x", saying="c: the filters differ in bits")
        self.fails("compare", "a", "c", saying="a and c: the filters differ in bits")

    def test_compare(self):
        self.build("a", 0, 2000)
        self.build("b", 1000, 3000)
        c = json.loads(self.posy("compare", "--json", "--level", "0.9999", "a", "b"))
        for what, truth in [("a", 2000), ("b", 2000), ("intersection", 1000), ("union", 3000), ("jaccard", 1 / 3)]:
            self.assertLessEqual(c[what]["low"], truth, what)
            self.assertGreaterEqual(c[what]["high"], truth, what)
        self.assertIn("Jaccard", self.posy("compare", "a", "b").decode())

    def test_compare_by_the_surveys_formulas(self):
        for name, first, last in [("a", 0, 2000), ("b", 1000, 3000)]:
            self.build(name, first, last, "--layout", "spread")
        c = json.loads(self.posy("compare", "--json", "--formulas", "a", "b"))
        by = c["formulas"]
        # The zeros of A, B and their AND say what those of A, B and their OR say.
        self.assertAlmostEqual(by["from_zeros"], c["intersection"]["value"], delta=1e-6 * 1000)
        self.assertTrue(by["sizes_known"])
        self.assertAlmostEqual(by["from_inner_product"], 1000, delta=60)
        self.assertGreater(by["inner_product"], 1000)
        self.assertIn("from the inner product", self.posy("compare", "--formulas", "a", "b").decode())
        self.assertNotIn("formulas", json.loads(self.posy("compare", "--json", "a", "b")))
        self.build("line", 0, 10, "--layout", "blocked")
        self.fails("compare", "line", "line", "--formulas", saying="--formulas are for layout spread; these filters are blocked")

    def test_a_full_array_has_a_lower_end_only(self):
        self.build("full", 0, 3000, "--bits-per-item", "0.2", "--hashes", "4", "--layout", "spread")
        self.assertRegex(self.posy("info", "full").decode(), r"different items +at least [\d,]+ at 95 %")
        e = json.loads(self.posy("info", "--json", "full"))["estimated_items"]
        self.assertIsNone(e["value"])
        self.assertIsNone(e["high"])
        self.assertTrue(400 < e["low"] <= 3000, e)

    def test_lightly_filled_blocked_filters_can_be_estimated(self):
        self.posy("build", "-n", "1M", "-f", "1e-4", "-o", "f.posy", stdin=self.lines(0, 1000))
        e = json.loads(self.posy("info", "--json", "f.posy"))["estimated_items"]
        self.assertAlmostEqual(e["value"], 1000, delta=20)
        self.assertLess(e["high"] - e["low"], 40)


if __name__ == "__main__":
    main()
