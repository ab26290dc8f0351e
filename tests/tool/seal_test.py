"""posy seal, query of sealed sets and maps, and growing filters from pipes, as users type them.

Usage: seal_test.py POSY [unittest arguments]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

POSY = os.path.abspath(sys.argv[1])


class SealTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def posy(self, *args, stdin="", status=0):
        done = subprocess.run([POSY, *args], input=stdin.encode(), capture_output=True, cwd=self.dir, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        self.stderr = done.stderr.decode()
        return done.stdout.decode()

    def test_members_are_found_and_few_strangers(self):
        keys = "".join(f"key{i}\n" for i in range(20000))
        self.posy("seal", "-", "--fpr", "0.01", "-o", "s.posy", stdin=keys)
        self.assertEqual(self.posy("query", "s.posy", stdin=keys), keys)
        strangers = "".join(f"other{i}\n" for i in range(100000))
        found = int(self.posy("query", "-c", "s.posy", stdin=strangers))
        # Binomial around 1000 with a deviation of 31.5: six of them, a false alarm in 10^9.
        self.assertLess(abs(found - 1000), 190)
        # log2(1/0.01) is 6.64 bits a key.
        self.assertLess(os.path.getsize(os.path.join(self.dir, "s.posy")) * 8 / 20000, 1.05 * 6.644)
        info = json.loads(self.posy("info", "--json", "s.posy"))
        self.assertEqual((info["kind"], info["items"]), ("sealed filter", 20000))

    def test_a_map_tells_values(self):
        rows = "".join(f"item{i},{i * i % 251}\n" for i in range(5000))
        with open(os.path.join(self.dir, "m.csv"), "w") as f:
            f.write(rows)
        self.posy("seal", "m.csv", "--values", "--fpr", "0.001", "-o", "m.posy")
        asked = "".join(f"item{i}\n" for i in range(5000))
        told = "".join(f"item{i}\t{i * i % 251}\n" for i in range(5000))
        self.assertEqual(self.posy("query", "m.posy", stdin=asked), told)
        self.assertEqual(self.posy("query", "-v", "m.posy", stdin=asked, status=1), "")

    def test_what_cannot_be(self):
        self.posy("seal", "-", "--fpr", "2", "-o", "s.posy", stdin="a\n", status=2)
        self.assertIn("rate", self.stderr)
        self.posy("seal", "-", "--values", "-o", "s.posy", stdin="a\tb\n", status=2)
        self.assertIn("unsigned integer", self.stderr)
        self.posy("seal", "-", "--values", "-o", "s.posy", stdin="a\t1\na\t2\n", status=2)
        self.posy("seal", "-", "-o", "s.posy", stdin="a\nb\na\n")
        self.posy("union", "s.posy", "s.posy", "-o", "u.posy", status=2)
        self.assertIn("sealed", self.stderr)
        self.posy("seal", "-", "-o", "none.posy")
        self.posy("query", "none.posy", stdin="a\n", status=1)

    def test_a_pipe_grows_and_folds(self):
        keys = "".join(f"key{i}\n" for i in range(300000))
        self.posy("build", "--fpr", "0.01", "-o", "p.posy", stdin=keys)
        self.assertEqual(int(self.posy("query", "-c", "p.posy", stdin=keys)), 300000)
        with open(os.path.join(self.dir, "keys"), "w") as f:
            f.write(keys)
        self.posy("build", "keys", "--fpr", "0.01", "-o", "known.posy")
        size = lambda name: os.path.getsize(os.path.join(self.dir, name))
        self.assertLess(size("p.posy"), 1.25 * size("known.posy"))
        self.assertLessEqual(json.loads(self.posy("info", "--json", "p.posy"))["false_positive_rate"], 0.01)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
