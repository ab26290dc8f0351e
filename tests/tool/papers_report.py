"""What the tests of posy papers share: reports made once per class, and their data."""
import csv
import math
import os
import subprocess
import sys
import tempfile
import unittest

POSY = os.path.abspath(sys.argv[1])
TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "tables")


def main():
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[2:])


def read_csv(*path):
    with open(os.path.join(*path), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def entropy(p):
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def log2_binomial(m, x):
    return (math.lgamma(m + 1) - math.lgamma(x + 1) - math.lgamma(m - x + 1)) / math.log(2)


class ReportTest(unittest.TestCase):
    """ARGUMENTS make the report of the class."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.dir = os.path.join(cls.scratch.name, "report")
        cls.out = cls.papers(*cls.ARGUMENTS, "-o", "report").stdout

    @classmethod
    def papers(cls, *args, status=0, environment=None):
        # 2026-05-01, and the same for every report.
        done = subprocess.run([POSY, "papers", *args], capture_output=True, text=True, cwd=cls.scratch.name, timeout=300,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1777593600", **(environment or {})})
        assert done.returncode == status, f"posy papers {' '.join(args)}: {done.stderr}"
        return done

    def text(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8") as f:
            return f.read()

    def rows(self, name):
        return read_csv(self.dir, name + ".csv")

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
