"""posy count --spectral from outside: exact estimates but for a planned share, memory, unions, and too many keys.

Usage: spectral_test.py POSY [unittest arguments]
"""
import json
import subprocess

from count_test import Count
from harness import POSY, main


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
            self.assertEqual(made["counter_bits"], 32)
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

    def test_more_keys_than_a_spectral_filter_was_planned_for(self):
        keys = "".join(f"{i}\n" for i in range(1000))
        self.count("--spectral", "--items", "10", "-o", "s.posy", stdin=keys)
        self.assertIn("--items planned for 10", self.stderr)
        self.count("--ask", "s.posy", stdin="7\n")
        self.assertIn("s.posy: it has many keys for its size: some 1e+02 %", self.stderr)
        self.count("--spectral", "--items", "1000", "-o", "s.posy", stdin=keys)
        self.assertEqual(self.stderr, "")
        self.count("--ask", "s.posy", stdin="7\n")
        self.assertEqual(self.stderr, "")


if __name__ == "__main__":
    main()
