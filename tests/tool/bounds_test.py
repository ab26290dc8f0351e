"""posy plan --bounds: the papers' bounds and references, against computations that share no code with them.

Usage: bounds_test.py POSY [unittest arguments]
"""
import json
import math
import os
import struct
import subprocess
import sys
import unittest

POSY = os.path.abspath(sys.argv[1])


def plan(*args, status=0):
    done = subprocess.run([POSY, "plan", *args], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, f"posy plan {' '.join(args)}: {done.stderr}"
    return done


def bounds(*args):
    p = json.loads(plan(*args, "--bounds", "--json").stdout)
    return p, p["bounds"]


def single(x):
    """x as Java's float has it."""
    return struct.unpack("f", struct.pack("f", x))[0]


def java_int(x):
    return int(max(-2**31, min(2**31 - 1, x)))


def hadoop(n, rate):
    """The two helpers of the book: the product is float, the quotient double, the cast truncates."""
    product = single(single(-n) * single(math.log(single(rate))))
    m = java_int(product / math.log(2) ** 2)
    return m, java_int(math.floor(single(m) * math.log(2) / single(n) + 0.5))


def expected_rate(n, m, k):
    """E[(X/m)^k]: the distribution of the number of ones after nk throws, one throw after the other."""
    ones = [1.0] + [0.0] * m
    for _ in range(n * k):
        for x in range(m, 0, -1):
            ones[x] = ones[x] * x / m + ones[x - 1] * (m - x + 1) / m
        ones[0] = 0.0
    return sum(share * (x / m) ** k for x, share in enumerate(ones))


def log2_binomial(m, x):
    return (math.lgamma(m + 1) - math.lgamma(x + 1) - math.lgamma(m - x + 1)) / math.log(2)


class Bounds(unittest.TestCase):
    def near(self, a, b, tolerance=1e-10):
        self.assertLess(abs(a / b - 1), tolerance, (a, b))

    def test_the_lower_bound_and_the_factor_over_it(self):
        for args in [["-n", "1M", "--fpr", "0.01"], ["-n", "37", "--fpr", "0.2"], ["-n", "10k", "--message-bits", "8"],
                     ["-n", "1M", "--fpr", "1e-6", "--layout", "spread"]]:
            p, b = bounds(*args)
            least = math.log2(1 / p["false_positive_rate"])
            self.near(b["lower_bound_bits_per_item"], least)
            self.near(b["array_over_lower_bound"], p["bits_per_item"] / least)
            self.near(b["message_over_lower_bound"], p["message_bits_per_item"] / least)
            self.near(b["bloom_bits_per_item"], math.log2(math.e) * least)
            self.near(b["compressed_limit_rate"], 0.5 ** p["message_bits_per_item"], 1e-9)
            self.assertLess(b["compressed_limit_rate"], p["false_positive_rate"])
        # The survey's 1.44: a spread filter with whole hashes is a hair above it.
        self.assertTrue(1.44 < b["array_over_lower_bound"] < 1.45)

    def test_the_bound_in_a_finite_universe(self):
        for n, universe, u in [(1000, "1M", 1e6), (1000, "2000", 2000), (50, "2^32", 2.0**32), (1000, "2^200", 2.0**200)]:
            p, b = bounds("-n", str(n), "--fpr", "0.01", "--universe", universe)
            accepted = n + p["false_positive_rate"] * (u - n)
            bits = math.fsum(math.log2((u - i) / (accepted - i)) for i in range(n))
            self.assertEqual(b["universe"]["keys"], u)
            self.near(b["universe"]["lower_bound_bits_per_item"], bits / n)
            self.near(b["universe"]["array_over_lower_bound"], p["bits"] / bits)
            self.assertLessEqual(b["universe"]["lower_bound_bits_per_item"], b["lower_bound_bits_per_item"] * (1 + 1e-12))
        self.assertNotIn("universe", bounds("-n", "1000")[1])

    def test_the_limit_of_the_delta(self):
        for c in [0.01, 0.05]:
            p, b = bounds("-n", "10k", "--bits-per-item", "32", "-k", "2", "--layout", "spread", "--delta-fraction", str(c))
            self.near(b["delta_limit_bits_per_item"], 2 * c * math.log2(1 / p["false_positive_rate"]))
            self.near(b["delta_limit_rate"], 0.5 ** (p["delta_bits_per_item"] / (2 * c)), 1e-9)
            self.assertLess(b["delta_limit_bits_per_item"], p["delta_bits_per_item"])
        self.assertNotIn("delta_limit_rate", bounds("-n", "1000")[1])

    def test_hadoops_sizing_is_that_of_its_helpers(self):
        for n, rate in [(1, 0.3), (1000, 0.01), (12345, 0.001), (10**6, 0.001), (10**8 + 1, 0.01), (1.5 * 10**8, 1e-4)]:
            _, b = bounds("-n", str(int(n)), "--fpr", str(rate), "--layout", "spread")
            m, k = hadoop(n, rate)
            self.assertEqual((b["hadoop"]["bits"], b["hadoop"]["hashes"]), (m, k), (n, rate))
            self.assertEqual(b["hadoop"]["asked_rate"], rate)
        # The rate that results, for a small set by the whole distribution.
        _, b = bounds("-n", "40", "--fpr", "0.01")
        self.near(b["hadoop"]["false_positive_rate"], expected_rate(40, *hadoop(40, 0.01)), 1e-9)
        # One item at 0.9: no bits at all. Two billion bits for a billion items.
        self.assertEqual(bounds("-n", "1", "--fpr", "0.9")[1]["hadoop"]["false_positive_rate"], 1)
        self.assertEqual(bounds("-n", "1G", "--fpr", "0.01")[1]["hadoop"]["bits"], 2**31 - 1)
        # More items than an int can count.
        self.assertNotIn("hadoop", bounds("-n", "3G", "--fpr", "0.1")[1])

    def test_the_list_of_hash_values(self):
        for n, rate in [(1, 0.5), (100, 0.01), (10**6, 0.5), (10**6, 1e-6)]:
            p, b = bounds("-n", str(n), "--fpr", str(rate), "--layout", "spread")
            values = b["hash_list"]["value_bits"]
            share = [-math.expm1(n * math.log1p(-2.0**-v)) if v else 1.0 for v in [values, values - 1]]
            self.assertLessEqual(share[0], p["false_positive_rate"])
            self.assertGreater(share[1], p["false_positive_rate"])
            self.near(b["hash_list"]["false_positive_rate"], share[0])
            self.assertEqual(b["hash_list"]["bits"], n * values)
            different = 2**values * share[0]
            self.near(b["hash_list"]["different_values"], different)
            # lgamma keeps 16 digits of numbers up to 10^13, of which the difference keeps fewer.
            self.assertLess(abs(b["hash_list"]["coded_bits_per_item"] * n - log2_binomial(2**values, different)),
                            1e-3 * n)

    def test_the_table(self):
        text = plan("-n", "1M", "--fpr", "0.01", "--bounds", "--universe", "2^32", "--delta-fraction", "0.05").stdout
        rows = [line.strip() for line in text[text.index("bounds and references"):].splitlines()]
        self.assertEqual([r.split("  ")[0] for r in rows],
                         ["bounds and references", "lower bound n·log2(1/rate)", "against the message", "universe of 2^32",
                          "best Bloom filter", "compressed, limit 0.5^(z/n)", "delta, limit 2cn·log2(1/rate)",
                          "of its rate, 0.5^(z/2cn)", "Hadoop's sizing, k = 7", "hash list, 27 bits per value",
                          "entropy-coded"])
        self.assertIn("6.644", rows[1])
        self.assertNotIn("bounds", plan("-n", "1M").stdout)

    def test_numbers_in_several_ways(self):
        for one, other in (("2^20", "1048576"), ("10M", "10000000"), ("64Ki", "65536")):
            self.assertEqual(plan("-n", one, "-f", "0.01").stdout, plan("-n", other, "-f", "0.01").stdout)
        for wrong in ("2^", "2^x", "2^64", "3^2"):
            self.assertIn("is not an amount", plan("-n", wrong, "-f", "0.01", status=2).stderr)

    def test_what_cannot_be(self):
        for args, saying in [(["--universe", "10"], "smaller than the set"), (["--universe", "2^5000"], "2^1000"),
                             (["--universe", "many"], "many"), (["--bounds", "--tradeoff"], "--tradeoff")]:
            done = plan("-n", "1000", *args, status=2)
            self.assertEqual(done.stdout, "")
            self.assertIn(saying, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
