"""posy count from outside: estimates against exact counts, weights, saved sketches, and bad input.

Usage: count_test.py POSY [unittest arguments]
"""
import collections
import json
import random
import subprocess

from harness import POSY, ToolTest, main


def zipf_stream(length, keys, seed):
    """Key number r comes with a probability in proportion to 1/r."""
    return random.Random(seed).choices([f"key {r}" for r in range(1, keys + 1)],
                                       [1 / r for r in range(1, keys + 1)], k=length)


class Count(ToolTest):
    def count(self, *args, **kwargs):
        return self.posy("count", *args, **kwargs).decode()

    def pairs(self, *args, **kwargs):
        rows = [line.split("\t", 1) for line in self.count(*args, **kwargs).splitlines()]
        return [(key, int(estimate)) for estimate, key in rows]

    def fails(self, *args, **kwargs):
        super().fails("count", *args, **kwargs)

    def stream(self, length=300_000, keys=20_000):
        """A stream of several blocks in a file, and its exact counts."""
        stream = zipf_stream(length, keys, seed=1)
        self.write("stream.txt", "".join(key + "\n" for key in stream))
        return collections.Counter(stream)


class Estimates(Count):
    def test_never_below_the_truth_and_within_the_bound(self):
        truth = self.stream()
        total = sum(truth.values())
        keys = self.write("keys.txt", "".join(key + "\n" for key in truth))
        for rule in ["--plain", "--conservative"]:
            self.count(rule, "--epsilon", "0.001", "--delta", "0.02", "-o", "s.posy", "stream.txt")
            answers = self.pairs("--ask", "s.posy", keys)
            self.assertEqual([key for key, _ in answers], list(truth))
            self.assertTrue(all(estimate >= truth[key] for key, estimate in answers))
            # Four rows: the expected share beyond the bound is below e^-4 = 1.8 %, and far below in truth. The
            # stream and the seed are fixed, so there is no chance in this test.
            beyond = sum(estimate > truth[key] + 0.001 * total for key, estimate in answers)
            self.assertLessEqual(beyond, 0.02 * len(truth))

    def test_the_conservative_rule_errs_less(self):
        truth = self.stream()
        keys = self.write("keys.txt", "".join(key + "\n" for key in truth))
        excess = {}
        for rule in ["--plain", "--conservative"]:
            self.count(rule, "--memory", "40KiB", "-o", "s.posy", "stream.txt")
            excess[rule] = sum(estimate - truth[key] for key, estimate in self.pairs("--ask", "s.posy", keys))
        self.count("--memory", "40KiB", "-o", "usual.posy", "stream.txt")
        self.assertLess(excess["--conservative"], 0.7 * excess["--plain"])
        self.assertGreater(excess["--conservative"], 0)
        self.assertEqual(self.read("usual.posy"), self.read("s.posy"))

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def test_threads_change_nothing(self):
        self.stream()
        for threads in ["1", "4"]:
            self.count("--memory", "40KiB", "--threads", threads, "-o", threads, "stream.txt")
        self.assertEqual(self.read("1"), self.read("4"))


class Heavy(Count):
    def test_the_top_keys_are_the_right_ones(self):
        truth = self.stream()
        # Enough room for next to no collisions: estimates are exact, and so is the order.
        exact = sorted(truth.items(), key=lambda item: (-item[1], item[0]))
        self.assertEqual(self.pairs("--epsilon", "1e-6", "stream.txt"), exact[:10])
        self.assertEqual(self.pairs("--epsilon", "1e-6", "--top", "3", "stream.txt"), exact[:3])
        with open(self.path("stream.txt"), encoding="utf-8") as f:
            self.assertEqual(self.pairs("--epsilon", "1e-6", "--top", "3", "-", stdin=f.read()), exact[:3])

    def test_a_threshold_misses_nobody(self):
        truth = self.stream()
        total = sum(truth.values())
        found = dict(self.pairs("--threshold", "0.005", "--epsilon", "0.001", "stream.txt"))
        heavy = {key for key, n in truth.items() if n >= 0.005 * total}
        self.assertGreater(len(heavy), 5)
        self.assertLessEqual(heavy, set(found))
        self.assertTrue(all(truth[key] >= (0.005 - 0.001) * total for key in found))

    def test_fields_for_programs(self):
        truth = self.stream()
        told = json.loads(self.count("--json", "--top", "5", "--epsilon", "0.001", "stream.txt"))
        self.assertEqual(told["total"], sum(truth.values()))
        self.assertLessEqual(told["epsilon"], 0.001)
        self.assertLessEqual(told["delta"], 0.01)
        self.assertAlmostEqual(told["probability"], 1 - told["delta"])
        self.assertAlmostEqual(told["error_bound"], told["epsilon"] * told["total"])
        self.assertEqual(len(told["keys"]), 5)
        for row in told["keys"]:
            self.assertLessEqual(row["low"], truth[row["key"]])
            self.assertGreaterEqual(row["estimate"], truth[row["key"]])

    def test_keys_that_do_not_stand_in_the_input(self):
        self.write("a.csv", '"a ""b"", c",1\n"a ""b"", c",2\nd,3\n')
        self.assertEqual(self.pairs("a.csv", "--field", "1"), [('a "b", c', 2), ("d", 1)])
        rows = '{"id": "x\\ty"}\n{"id": 7}\n{"id": 7}\n'
        self.assertEqual(self.pairs("--json-path", "id", stdin=rows), [("7", 2), ("x\ty", 1)])
        self.assertEqual(self.count("--null", stdin="b\0a\nc\0b\0"), "2\tb\0" + "1\ta\nc\0")
        self.assertEqual(self.pairs("--words", stdin="to be or not to be\n")[:2], [("be", 2), ("to", 2)])

    def test_nothing_to_count(self):
        self.assertEqual(self.count(stdin="", status=1), "")
        self.assertEqual(json.loads(self.count("--json", stdin="", status=1))["keys"], [])


class Weights(Count):
    def test_sums(self):
        sums = collections.Counter()
        draw = random.Random(2)
        rows = ""
        for _ in range(5000):
            key, weight = f"k{draw.randrange(300)}", draw.randrange(1000)
            sums[key] += weight
            rows += f"{key}\t{weight}\n"
        exact = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:20]
        self.assertEqual(self.pairs("--field", "1", "--weight-field", "2", "--top", "20", stdin=rows), exact)
        told = json.loads(self.count("--field", "1", "--weight-field", "2", "--top", "0", "--json", stdin=rows))
        self.assertEqual((told["total"], told["keys"]), (sum(sums.values()), []))

    def test_large_weights_and_sums(self):
        args = ["--field", "1", "--weight-field", "2"]
        rows = f"a\t{2**40}\n" * 1000 + "b\t4294967295\nb\t5\nc\t0\n"
        self.assertGreater(1000 * 2**40, 10**15)
        self.assertEqual(self.pairs(*args, stdin=rows), [("a", 1000 * 2**40), ("b", 2**32 + 4)])
        for how in [["--top", "5"], ["--top", "0"], ["--spectral", "-n", "10"]]:
            self.count(*args, *how, "-o", "s.posy", stdin=rows)
            self.assertEqual(self.pairs("--ask", "s.posy", stdin="b\na\n"), [("b", 2**32 + 4), ("a", 1000 * 2**40)])
        self.assertEqual(self.pairs(*args, stdin=f"a\t{2**64 - 1}\na\t5\n"), [("a", 2**64 - 1)])
        self.assertEqual(self.pairs(*args, "--counter-bits", "32", stdin=rows)[0], ("a", 4294967295))
        self.assertIn("a count of 4294967295 means that or more; --counter-bits 64", self.stderr)
        told = json.loads(self.count(*args, "--counter-bits", "32", "--json", stdin=rows + "d\t1\n"))
        self.assertEqual([row.get("saturated", False) for row in told["keys"]], [True, True, False])

    def test_unions_pass_32_bits(self):
        for name in ["a", "b"]:
            self.count("--field", "1", "--weight-field", "2", "--counter-bits", "32", "-o", name, stdin="x\t4000000000\n")
        self.posy("union", "a", "b", "-o", "sum")
        self.assertEqual(self.pairs("--list", "sum"), [("x", 8_000_000_000)])
        info = json.loads(self.posy("info", "--json", "sum"))
        self.assertEqual((info["counter_bits"], info["total"], info["keys"]), (64, 8_000_000_000, 1))

    def test_no_sum_of_what_is_saturated(self):
        args = ["--field", "1", "--weight-field", "2"]
        for bits in ["32", "64"]:
            self.count(*args, "--counter-bits", bits, "-o", bits, stdin="x\t5000000000\n")
        super(Count, self).fails("union", "32", "64", "-o", "sum", saying="a counter of 32 bits is saturated")

    def test_bad_weights(self):
        args = ["--field", "1", "--weight-field", "2"]
        for bad in ["x", "-1", "1.5", "", "18446744073709551616", "1 2", "99999999999999999999999"]:
            rows = f"a\t1\nb\t{bad}\nc\t2\n"
            self.fails(*args, stdin=rows, saying="at byte 4, line 2: a record without a weight")
            self.assertEqual(self.pairs(*args, "--skip-missing", stdin=rows), [("c", 2), ("a", 1)])
        self.fails(*args, "-o", "s.posy", stdin="a\t1\nb\n", saying="at byte 4, line 2: a record without a weight")
        # Far into a file of several blocks, with the other threads at work.
        self.write("large.txt", "key\t1\n" * 1_000_000 + "key\tmany\n" + "key\t1\n" * 1_000_000)
        self.fails(*args, "--threads", "4", "large.txt", saying="large.txt: at byte 6000000, line 1000001: ")
        self.fails("--weight-field", "2", stdin="a\t1\n", saying="--field")


class Saved(Count):
    def test_with_and_without_keys(self):
        self.assertEqual(self.pairs("-o", "heavy.posy", stdin="a\nb\na\n"), [("a", 2), ("b", 1)])
        self.assertEqual(self.count("--top", "0", "-o", "sketch.posy", stdin="a\nb\na\n"), "")
        for name in ["heavy.posy", "sketch.posy"]:
            self.assertEqual(self.pairs("--ask", name, stdin="b\nnobody\na\n"), [("b", 1), ("nobody", 0), ("a", 2)])
            self.assertEqual(self.pairs("--ask", name, stdin="nobody\n", status=1), [("nobody", 0)])

    def test_united_parts_list_what_one_sketch_lists(self):
        truth = self.stream()
        with open(self.path("stream.txt"), encoding="utf-8") as f:
            lines = f.readlines()
        hours = [self.write(f"{hour}.txt", "".join(lines[hour::8])) for hour in range(4)]
        hours += [self.write(f"{hour}.txt", "".join(line for i, line in enumerate(lines) if i % 8 > 3 and i * 4 // len(lines) == hour - 4))
                  for hour in range(4, 8)]
        for kind in [["--top", "10"], ["--threshold", "0.002"]]:
            self.count("--plain", *kind, "-o", "whole.posy", "stream.txt")
            for hour in hours:
                self.count("--plain", *kind, "-o", hour + ".posy", hour)
            self.posy("union", *[hour + ".posy" for hour in hours], "-o", "united.posy")
            whole = self.count("--list", "whole.posy", *kind, "--json")
            self.assertEqual(self.count("--list", "united.posy", *kind, "--json").split('"keys"')[1], whole.split('"keys"')[1])
            self.assertEqual(self.count("--list", "whole.posy", *kind), self.count("--plain", *kind, "stream.txt"))
            listed = json.loads(whole)
            self.assertGreaterEqual(len(listed["keys"]), 10)
            self.assertTrue(all(key["estimate"] >= truth[key["key"]] for key in listed["keys"]))
        self.assertEqual(len(self.pairs("--list", "united.posy", "--threshold", "0.02")),
                         sum(key["estimate"] >= 0.02 * listed["total"] for key in listed["keys"]))
        self.fails("--list", "united.posy", "--threshold", "0.001", saying="has kept the keys with a share of at least 0.002")

    def test_lists_that_cannot_be(self):
        self.count("--top", "0", "-o", "sketch.posy", stdin="a\n")
        self.fails("--list", "sketch.posy", saying="saved without keys")
        subprocess.run([POSY, "build", "-o", "f.posy"], input=b"a\n", cwd=self.dir, check=True)
        self.fails("--list", "f.posy", saying="this is a filter")
        self.fails("--list", "sketch.posy", "keys.txt", saying="reads no others")
        # Room for 16 candidates, and each half has 32 keys of its own that are as frequent.
        for half in ["a", "b"]:
            self.count("--top", "1", "-o", half, stdin="".join(f"{half}{i}\n" * 50 for i in range(40)) + "both\n")
        self.posy("union", "a", "b", "-o", "u")
        listed = subprocess.run([POSY, "count", "--list", "u", "--top", "16"], capture_output=True, text=True, cwd=self.dir)
        self.assertIn("may be missing in this list", listed.stderr)

    def test_to_a_pipe(self):
        keys = self.write("keys.txt", "a\n")
        counted = subprocess.run([POSY, "count", "-o", "-"], input=b"a\na\n", capture_output=True, check=True).stdout
        asked = subprocess.run([POSY, "count", "--ask", "-", keys], input=counted, capture_output=True, check=True, cwd=self.dir)
        self.assertEqual(asked.stdout, b"2\ta\n")

    def test_integers_and_seeds(self):
        self.count("--integers", "--hash", "siphash", "-o", "s.posy", stdin="7\n7\n-1\n")
        self.assertEqual(self.pairs("--integers", "--ask", "s.posy", stdin="7\n-1\n"), [("7", 2), ("-1", 1)])

    def test_what_is_no_sketch(self):
        self.count("-o", "s.posy", stdin="a\n")
        subprocess.run([POSY, "build", "-o", "f.posy"], input=b"a\n", cwd=self.dir, check=True)
        self.fails("--ask", "f.posy", stdin="a\n", saying="this is a filter")
        self.fails("--ask", "none.posy", stdin="a\n", saying="cannot open")
        self.fails("--ask", "-", saying="cannot both come from standard input")
        with open(self.path("s.posy"), "rb") as f:
            whole = f.read()
        with open(self.path("cut.posy"), "wb") as f:
            f.write(whole[:-9])
        self.fails("--ask", "cut.posy", stdin="a\n", saying="the message is cut off")


class Columns(Count):
    def test_groups(self):
        draw = random.Random(4)
        truth = collections.defaultdict(collections.Counter)
        rows = ""
        for _ in range(20_000):
            group, key = f"g{int(draw.random() ** 2 * 30)}", f"k{int(draw.paretovariate(0.8))}"
            truth[group][key] += 1
            rows += f"{key}\t{group}\n"
        order = sorted(truth, key=lambda group: (-sum(truth[group].values()), group))
        expected = [(f"{group}\t{key}", n) for group in order[:5]
                    for key, n in sorted(truth[group].items(), key=lambda item: (-item[1], item[0]))[:3]]
        args = ["--field", "1", "--group-field", "2", "--groups", "5", "--top", "3", "--epsilon", "1e-6"]
        self.assertEqual(self.pairs(*args, stdin=rows), expected)
        told = json.loads(self.count(*args, "--json", stdin=rows))
        self.assertEqual([each["group"] for each in told["groups"]], order[:5])
        self.assertEqual([each["estimate"] for each in told["groups"]], [sum(truth[group].values()) for group in order[:5]])
        weighted = self.pairs("--field", "1", "--group-field", "2", "--weight-field", "3", "--top", "1", stdin=f"a\tx\t{2**40}\nb\tx\t1\n")
        self.assertEqual(weighted, [("x\ta", 2**40)])
        # A key of one group and one of another are not the same, however they are written.
        self.assertEqual(self.pairs("--field", "1", "--group-field", "2", stdin="bc\ta\nc\tab\n"), [("a\tbc", 1), ("ab\tc", 1)])

    def test_different_values(self):
        rows = [f"src{s}\tdst{d}\n" for s in range(5) for d in range(100 * (s + 1))] + ["loud\tone\n"] * 2000
        rows += [f"once{i}\tx\n" for i in range(5000)]
        random.Random(6).shuffle(rows)
        found = dict(self.pairs("--field", "1", "--distinct-field", "2", stdin="".join(rows)))
        self.assertEqual((found["src0"], found["loud"]), (100, 1))
        told = json.loads(self.count("--field", "1", "--distinct-field", "2", "--top", "4", "--json", stdin="".join(rows)))
        self.assertEqual([key["key"] for key in told["keys"]], ["src4", "src3", "src2", "src1"])
        for key, truth in zip(told["keys"], [500, 400, 300, 200]):
            self.assertLess(abs(key["different"]["value"] - truth), 4 * told["standard_error"] * truth)  # one in 10^4, seed fixed
            self.assertGreaterEqual(key["estimate"], truth)

    def test_networks(self):
        rows = "192.0.2.7\n192.0.2.200\n198.51.100.1\n2001:db8:0:12aa::1\n2001:DB8:0:12bb::5\n2001:db8:1::1\n"
        expected = [("192.0.2.0/24", 2), ("2001:db8:0:1200::/56", 2), ("198.51.100.0/24", 1), ("2001:db8:1::/56", 1)]
        self.assertEqual(self.pairs("--prefix", "24/56", stdin=rows), expected)
        self.assertEqual(self.pairs("--prefix", "8", stdin=rows)[0], ("2001::/16", 3))
        self.assertEqual(self.pairs("--prefix", "24", stdin="::ffff:10.0.0.3\n10.0.0.7\n"), [("10.0.0.0/24", 2)])
        self.count("--prefix", "24/56", "-o", "s.posy", stdin=rows)
        self.assertEqual(self.pairs("--ask", "s.posy", "--prefix", "24/56", stdin="192.0.2.99\n"), [("192.0.2.0/24", 2)])
        self.assertEqual(self.pairs("--ask", "s.posy", stdin="192.0.2.0/24\n"), [("192.0.2.0/24", 2)])
        self.fails("--prefix", "24", stdin="192.0.2.7\nlocalhost\n", saying="at byte 10, line 2: a record without an IP address")
        self.assertEqual(self.pairs("--prefix", "24", "--skip-missing", stdin="192.0.2.7\nlocalhost\n"), [("192.0.2.0/24", 1)])
        self.fails("--prefix", "33", stdin="192.0.2.7\n", saying="no length of a prefix")
        self.fails("--prefix", "24", "--words", stdin="192.0.2.7\n", saying="--prefix counts addresses")

    def test_columns_that_do_not_go_together(self):
        for args, saying in [(["--group-field", "2"], "needs --field"), (["--field", "1", "--distinct-field", "2", "-o", "s"], "--output"),
                             (["--field", "1", "--group-field", "2", "--threshold", "0.1"], "--threshold"),
                             (["--field", "1", "--group-field", "2", "--top", "0"], "--top 0"), (["--groups", "3"], "--group-field"),
                             (["--field", "1", "--group-field", "9"], "a record without a group in field 9"),
                             (["--field", "1", "--distinct-field", "9"], "a record without a value in field 9"),
                             (["--field", "1", "--group-field", "2", "--distinct-field", "2"], "--group-field")]:
            with self.subTest(args=args):
                self.fails(*args, stdin="a\tb\n", saying=saying)


class Options(Count):
    def test_errors_beyond_the_counts_are_told(self):
        self.stream(length=20_000)
        self.count("--top", "3", "--memory", "100", "stream.txt")
        self.assertRegex(self.stderr, r"may be up to [\d,]+ too high, which is more than the least of them")
        self.count("--top", "3", "stream.txt")
        self.assertEqual(self.stderr, "")

    def test_impossible_wishes(self):
        for args, saying in [(["--epsilon", "0"], "between 0 and 1"), (["--epsilon", "nan"], "between 0 and 1"),
                             (["--delta", "1"], "between 0 and 1"), (["--delta", "nan"], "between 0 and 1"),
                             (["--epsilon", "1e-12"], "no table keeps"), (["--delta", "1e-30"], "no table keeps"),
                             (["--delta", "1e-30", "--memory", "1MiB"], "rows"),
                             (["--memory", "3"], "--memory 3: 5 rows of one counter each take 20 bytes"), (["--memory", "much"], "is not an amount"),
                             (["--threshold", "1.5"], "between 0 and 1"), (["--threshold", "-1"], "between 0 and 1"),
                             (["--threshold", "0.1", "--epsilon", "0.2"], "a threshold of"),
                             (["--epsilon", "0.1", "--memory", "1MiB"], "--epsilon"),
                             (["--plain", "--conservative"], "--conservative"),
                             (["--top", "3", "--threshold", "0.1"], "--top"),
                             (["--ask", "s.posy", "--top", "3"], "--ask"),
                             (["--top", "99999999999"], "--top is at most 134217728"), (["--top", "-1"], "--top"), (["-o", "no/such/place"], "no/such/place")]:
            with self.subTest(args=args):
                self.fails(*args, stdin="a\n", saying=saying)


if __name__ == "__main__":
    main()
