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

    def test_large_weights_stop_at_the_largest_count(self):
        args = ["--field", "1", "--weight-field", "2"]
        self.assertEqual(self.pairs(*args, stdin="a\t4294967295\na\t5\nb\t0\n"), [("a", 4294967295)])

    def test_bad_weights(self):
        args = ["--field", "1", "--weight-field", "2"]
        for bad in ["x", "-1", "1.5", "", "4294967296", "1 2", "99999999999999999999999"]:
            rows = f"a\t1\nb\t{bad}\nc\t2\n"
            self.fails(*args, stdin=rows, saying="at byte 4: a record without a weight")
            self.assertEqual(self.pairs(*args, "--skip-missing", stdin=rows), [("c", 2), ("a", 1)])
        self.fails(*args, "-o", "s.posy", stdin="a\t1\nb\n", saying="at byte 4: a record without a weight")
        # Far into a file of several blocks, with the other threads at work.
        self.write("large.txt", "key\t1\n" * 1_000_000 + "key\tmany\n" + "key\t1\n" * 1_000_000)
        self.fails(*args, "--threads", "4", "large.txt", saying="large.txt: at byte 6000000: ")
        self.fails("--weight-field", "2", stdin="a\t1\n", saying="--field")


class Saved(Count):
    def test_with_and_without_keys(self):
        self.assertEqual(self.pairs("-o", "heavy.posy", stdin="a\nb\na\n"), [("a", 2), ("b", 1)])
        self.assertEqual(self.count("--top", "0", "-o", "sketch.posy", stdin="a\nb\na\n"), "")
        for name in ["heavy.posy", "sketch.posy"]:
            self.assertEqual(self.pairs("--ask", name, stdin="b\nnobody\na\n"), [("b", 1), ("nobody", 0), ("a", 2)])
            self.assertEqual(self.pairs("--ask", name, stdin="nobody\n", status=1), [("nobody", 0)])

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


class Spectral(Count):
    def json_of(self, *args, stdin=""):
        done = subprocess.run([POSY, *args, "--json"], input=stdin, capture_output=True, cwd=self.dir, text=True, check=True)
        return json.loads(done.stdout)

    def wrong_of(self, name, truth):
        keys = self.write("keys.txt", "".join(key + "\n" for key in truth))
        answers = self.pairs("--ask", name, keys)
        self.assertEqual([key for key, _ in answers], list(truth))
        return sum(estimate != truth[key] for key, estimate in answers), sum(estimate < truth[key] for key, estimate in answers)

    def test_estimates_are_wrong_as_often_as_planned(self):
        truth = self.stream()
        n = str(len(truth))
        absent = self.write("absent.txt", "".join(f"absent {i}\n" for i in range(100_000)))
        for wrong in ["0.1", "0.01"]:
            plan = self.json_of("plan", "-n", n, "--fpr", wrong, "--layout", "spread", "--spectral")["spectral"]
            self.assertLessEqual(plan["wrong"], float(wrong))
            made = json.loads(self.count("--spectral", "--plain", "-n", n, "--wrong", wrong, "-o", "plain", "--json", "stream.txt"))
            for field in ["counters", "hashes", "memory_bytes", "wrong"]:
                self.assertEqual(made[field], plan[field])
            self.assertEqual(made["total"], sum(truth.values()))
            # Binomials, but for what keys of one filter share: five deviations each, a false alarm in 10^6.
            expected = plan["wrong"] * len(truth)
            plain, below = self.wrong_of("plain", truth)
            self.assertEqual(below, 0)
            self.assertLess(abs(plain - expected), 5 * expected**0.5)
            seen = sum(estimate > 0 for _, estimate in self.pairs("--ask", "plain", absent))
            self.assertLess(abs(seen - plan["wrong_absent_keys"] * 100_000), 5 * (plan["wrong_absent_keys"] * 100_000)**0.5)
            info = self.json_of("info", "plain")
            self.assertEqual((info["kind"], info["method"], info["total"]), ("spectral", "minimum selection", sum(truth.values())))
            self.assertAlmostEqual(info["wrong"] / plan["wrong_absent_keys"], 1, delta=0.1)
            self.assertAlmostEqual(info["estimated_items"]["value"] / len(truth), 1, delta=0.02)
            for option in ["--conservative", "--recurring"]:
                self.count("--spectral", option, "-n", n, "--wrong", wrong, "-o", "other", "stream.txt")
                fewer, below = self.wrong_of("other", truth)
                self.assertLess(fewer, 0.75 * plain)
                self.assertLessEqual(below, 0 if option == "--conservative" else 0.005 * len(truth))

    def test_memory_instead_of_a_share(self):
        for option in ["--plain", "--recurring"]:
            made = json.loads(self.count("--spectral", option, "-n", "1000", "--memory", "40kB", "--json", stdin="a\nb\na\n"))
            self.assertLessEqual(made["memory_bytes"], 40_000)
            self.assertGreater(made["memory_bytes"], 39_900)

    def test_unions(self):
        for name, text in [("a", "x\nx\ny\n"), ("b", "x\nz\n"), ("both", "x\nx\ny\nx\nz\n")]:
            for option in ["--plain", "--conservative", "--recurring"]:
                self.count("--spectral", option, "-n", "100", "-o", name + option, stdin=text)
        unite = lambda option: subprocess.run([POSY, "union", "a" + option, "b" + option, "-o", "u" + option],
                                              capture_output=True, text=True, cwd=self.dir)
        for option in ["--plain", "--conservative"]:
            self.assertEqual(unite(option).returncode, 0)
            self.assertEqual(self.pairs("--ask", "u" + option, stdin="x\ny\nz\nw\n"), [("x", 3), ("y", 1), ("z", 1), ("w", 0)])
        with open(self.path("u--plain"), "rb") as united, open(self.path("both--plain"), "rb") as counted:
            self.assertEqual(united.read(), counted.read())
        refused = unite("--recurring")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("do not unite", refused.stderr)

    def test_weights_pipes_and_threads(self):
        self.stream()
        for threads in ["1", "4"]:
            self.count("--spectral", "-n", "20k", "--threads", threads, "-o", threads, "stream.txt")
        with open(self.path("1"), "rb") as one, open(self.path("4"), "rb") as four:
            self.assertEqual(one.read(), four.read())
        self.count("--spectral", "-n", "10", "--field", "1", "--weight-field", "2", "-o", "w", stdin="a\t7\nb\t5\na\t3\n")
        self.assertEqual(self.pairs("--ask", "w", stdin="a\nb\nc\n"), [("a", 10), ("b", 5), ("c", 0)])

    def test_impossible_wishes(self):
        for args, saying in [(["-o", "s"], "give it with --items"), (["-n", "10"], "keeps no keys to print"),
                             (["-n", "10", "--top", "3", "-o", "s"], "--top"), (["-n", "10", "--wrong", "1", "-o", "s"], "between 0 and 1"),
                             (["-n", "10", "--memory", "1kB", "--wrong", "0.1", "-o", "s"], "--memory"),
                             (["-n", "10", "--recurring", "--plain", "-o", "s"], "--plain"),
                             (["-n", "9999999999", "-o", "s"], "counters"), (["-n", "0", "-o", "s"], "count: ")]:
            with self.subTest(args=args):
                self.fails("--spectral", *args, stdin="a\n", saying=saying)
        self.fails("-n", "10", stdin="a\n", saying="--spectral")


class Options(Count):
    def test_impossible_wishes(self):
        for args, saying in [(["--epsilon", "0"], "between 0 and 1"), (["--epsilon", "nan"], "between 0 and 1"),
                             (["--delta", "1"], "between 0 and 1"), (["--delta", "nan"], "between 0 and 1"),
                             (["--epsilon", "1e-12"], "no table keeps"), (["--delta", "1e-30"], "no table keeps"),
                             (["--delta", "1e-30", "--memory", "1MiB"], "rows"),
                             (["--memory", "3"], "rows of 0 counters"), (["--memory", "much"], "is not an amount"),
                             (["--threshold", "1.5"], "between 0 and 1"), (["--threshold", "-1"], "between 0 and 1"),
                             (["--threshold", "0.1", "--epsilon", "0.2"], "a threshold of"),
                             (["--epsilon", "0.1", "--memory", "1MiB"], "--epsilon"),
                             (["--plain", "--conservative"], "--conservative"),
                             (["--top", "3", "--threshold", "0.1"], "--top"),
                             (["--ask", "s.posy", "--top", "3"], "--ask"),
                             (["--top", "99999999999"], "room for"), (["-o", "no/such/place"], "no/such/place")]:
            with self.subTest(args=args):
                self.fails(*args, stdin="a\n", saying=saying)


if __name__ == "__main__":
    main()
