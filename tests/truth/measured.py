"""Filters built by the tool and looked at bit by bit: fills, rates of these very bits, coded sizes.

The messages are taken apart by docs/format.md, and the rate of an array is computed here from its words. What the
tool says of its own files is compared with that, and the mean over filters of different seeds with the plan.
"""
import math
import os
import statistics
import subprocess

from mathematics import WORD_BITS, WORDS, with_collisions

LINES_OF_KEYS = 20_000
ABSENT = 200_000


class Tool:
    """The tool and a scratch folder with keys in it, of the set and absent."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.keys = b"".join(b"k%07d\n" % i for i in range(LINES_OF_KEYS))
        for count in (2_000, 20_000, ABSENT):
            with open(os.path.join(folder, f"absent{count}"), "wb") as f:
                f.write(b"".join(b"s%07d\n" % i for i in range(count)))

    def run(self, *arguments, stdin=b""):
        done = subprocess.run([self.path, *map(str, arguments)], input=stdin, capture_output=True, cwd=self.folder,
                              timeout=300)
        return done.returncode, done.stdout, done.stderr.decode()

    def out(self, *arguments, stdin=b"", fine=(0,)):
        status, stdout, stderr = self.run(*arguments, stdin=stdin)
        if status not in fine:
            raise AssertionError(f"posy {' '.join(map(str, arguments))}: status {status}: {stderr}")
        return stdout

    def some_keys(self, n, first=0):
        return self.keys[9 * first:9 * (first + n)]

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as f:
            return f.read()

    def build(self, plan, seed, name, *options, first=0):
        """A filter of the planned shape with as many keys as planned."""
        self.out("build", "-", "--threads", 1, "-n", plan["items"], "-b", repr(plan["bits"] / plan["items"]), "-k",
                 plan["hashes"], "--layout", plan["layout"], "--hash", plan["hash"], "--seed", seed, "-o", name, *options,
                 stdin=self.some_keys(plan["items"], first))
        return Message(self.read(name))

    def positives(self, name, absent=20_000):
        return int(self.out("query", "--threads", 1, "-c", name, f"absent{absent}", fine=(0, 1)))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


class Message:
    """A message of any kind: its payload is what lies between the head, whose length byte 7 says, and the checksum."""

    def __init__(self, data):
        assert data[:5] == b"POSY\x01", data[:5]
        self.codec, start, self.size = data[6], data[7], len(data)
        self.payload = data[start:-4]
        self.length = len(self.payload)
        self.frame = self.size - self.length

    def words(self, bits):
        """The raw array as counts of ones in words of so many bits."""
        step = bits // 8
        return [int.from_bytes(self.payload[i:i + step], "little").bit_count()
                for i in range(0, self.length, step)]

    def ones(self):
        return int.from_bytes(self.payload, "little").bit_count()


def line_hits(counts, k, bits):
    """The mean over lines of P(a random query of the line is covered), from the ones in each of its words."""
    base, extra = divmod(k, WORDS)
    total, lines = 0.0, len(counts) // WORDS
    for line in range(lines):
        fills = [count / bits for count in counts[WORDS * line:WORDS * line + WORDS]]
        symmetric = [1.0] + [0.0] * extra
        for share in fills:
            for j in range(extra, 0, -1):
                symmetric[j] += share * symmetric[j - 1]
        total += math.prod(fills) ** base * symmetric[extra] / math.comb(WORDS, extra)
    return total / lines


def rate_of(message, plan):
    """The share of absent keys that this filter takes for members."""
    return with_collisions(rate_of_bits(message, plan), plan["hash"], plan["items"])


def rate_of_bits(message, plan):
    """The same by the bits alone."""
    m, k, layout = plan["bits"], plan["hashes"], plan["layout"]
    if layout == "spread":
        return (message.ones() / m) ** k
    if layout == "sliced":
        array, slice_bits = int.from_bytes(message.payload, "little"), m // k
        mask, product = (1 << slice_bits) - 1, 1.0
        for i in range(k):
            product *= (array >> i * slice_bits & mask).bit_count() / slice_bits
        return product
    bits = WORD_BITS[layout]
    counts = message.words(bits)
    if layout == "paired":
        half = len(counts) // 2
        return line_hits(counts[:half], k // 2, bits) * line_hits(counts[half:], k // 2, bits)
    return line_hits(counts, k, bits)


def log2_choose(m, x):
    return (math.lgamma(m + 1) - math.lgamma(x + 1) - math.lgamma(m - x + 1)) / math.log(2)


def student(deviations, freedom):
    """The point of Student's distribution that is exceeded as rarely as so many normal deviations (Hill's
    expansion is poor out there, so by bisection over the integral)."""
    odds = math.erfc(deviations / math.sqrt(2)) / 2
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def tail(t):  # ∫ from t, substituted x = √f·tan a
        low, high = math.atan(t / math.sqrt(freedom)), math.pi / 2
        steps = 200
        width = (high - low) / steps
        inner = sum(math.cos(low + (i + 0.5) * width) ** (freedom - 1) for i in range(steps))
        return scale * math.sqrt(freedom) * inner * width

    low, high = deviations, 100.0 * deviations
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > odds else (low, middle)
    return high


def error_of_mean(values):
    """Four normal deviations of the mean, by the values' own spread."""
    return student_four(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def student_four(freedom, known={}):
    if freedom not in known:
        known[freedom] = student(4, freedom)
    return known[freedom]
