"""How likely it is that any counter of a counting filter overflows, and how high the highest climbs.

N throws into m counters: P(none reaches j) = N!/m^N [z^N] f(z)^m with f = Σ_{i<j} z^i/i!. With f's terms at a point λ
as a distribution, [z^N] f^m = f(λ)^m λ^−N P(m such numbers add up to N), and that probability is an integral over their
characteristic function; λ makes N their mean, so that it is not small. A word of a dealt line is such an array, of as
many throws as its keys have for it; the words of a line are taken as independent given its load.
"""
import cmath
import functools
import math

import mathematics as maths

EXACT_THROWS = 10 ** 6


def thrown_well(weights, throws, m):
    """P(all is well) when throws fall on m places and one with i of them is well with probability weights[i]:
    N!/m^N [z^N] (Σ_i weights[i] z^i/i!)^m."""
    logs = [math.log(weight) - math.lgamma(i + 1) if weight > 0 else -math.inf for i, weight in enumerate(weights)]
    most = max(i for i, log in enumerate(logs) if log > -math.inf)
    if throws >= m * most:
        return math.exp(math.lgamma(throws + 1) - throws * math.log(m) + m * logs[most]) if throws == m * most else 0.0
    low, high = 1e-12, 1e12
    for _ in range(100):
        point = math.sqrt(low * high)
        tilted = [log + i * math.log(point) for i, log in enumerate(logs)]
        peak = max(tilted)
        terms = [math.exp(log - peak) for log in tilted]
        total = sum(terms)
        mean = sum(i * term for i, term in enumerate(terms)) / total
        low, high = (point, high) if mean < throws / m else (low, point)
    variance = m * sum((i - throws / m) ** 2 * term for i, term in enumerate(terms)) / total
    steps = int(20 * math.sqrt(variance)) + 60  # sums this far from N are as good as impossible
    terms = [(i - throws / m, term / total) for i, term in enumerate(terms) if term > 1e-18 * total]
    integral = 0.0
    for step in range(steps):
        turned = sum(term * cmath.exp(2j * math.pi * step / steps * off) for off, term in terms)
        integral += (turned ** m).real if abs(turned) > 1e-300 ** (1 / m) else 0.0
    return math.exp(math.lgamma(throws + 1) - throws * math.log(m) + m * (math.log(total) + peak)
                    - throws * math.log(point) + math.log(integral / steps))


@functools.lru_cache(maxsize=1 << 16)
def none_reaches(j, throws, m):
    """P(no counter of m has j increments)."""
    return 1.0 if throws < j else thrown_well([1.0] * j, throws, m)


def independent(m, tail):
    """P(any of m does), each on its own with probability `tail`."""
    return 1.0 if tail >= 1 else -math.expm1(m * math.log1p(-tail))


def thrown(j, throws, m):
    if throws <= EXACT_THROWS and m > 1:
        return 1 - none_reaches(j, throws, m)
    return independent(m, maths.counter_tail(j, "spread", throws, m, 1))


@functools.lru_cache(maxsize=1 << 16)
def line_well(j, x, k, bits):
    """P(no counter of a line with x keys reaches j): each word has ⌊k/8⌋ throws of every key, and one more of some."""
    base, extra = divmod(k, maths.WORDS)
    mean, reach = x * extra / maths.WORDS, 8 * math.sqrt(x) + 8
    mores = range(max(0, int(mean - reach)), min(x, int(mean + reach)) + 1) if extra else [0]
    return sum((maths.counter_probability(more, x, extra / maths.WORDS, 0.0) if extra else 1.0)
               * none_reaches(j, x * base + more, bits) for more in mores) ** maths.WORDS


def lines(j, n, count, k, bits):
    """Over the loads of the lines."""
    if count == 1:
        return 1 - line_well(j, n, k, bits)
    most = min(n, int(n / count + 12 * math.sqrt(n / count)) + 40)
    return 1 - thrown_well([line_well(j, x, k, bits) for x in range(most + 1)], n, count)


def bound(j, layout, n, m, k):
    """The expected number of counters with j increments or more, at most 1."""
    return min(1.0, m * maths.counter_tail(j, layout, n, m, k))


def probability(j, layout, n, m, k):
    """P(any counter has j increments or more)."""
    expected = m * maths.counter_tail(j, layout, n, m, k)
    if expected < 1e-5:
        return expected  # Bonferroni: the pairs take away less than its square
    if layout == "spread":
        return thrown(j, n * k, m)
    if layout == "sliced":
        return independent(k, thrown(j, n, m // k))
    bits, halves = maths.WORD_BITS[layout], 2 if layout == "paired" else 1
    return independent(halves, lines(j, n, m // halves // (maths.WORDS * bits), k // halves, bits))


def highest(layout, n, m, k, most=15):
    """The expected highest counter, of those that end at `most`: Σ_j P(any reaches j)."""
    total = float(min(most, -(-n * k // m)))  # some counter is at the mean or above
    for j in range(int(total) + 1, most + 1):
        more = probability(j, layout, n, m, k)
        total += more
        if more < 1e-9:
            break
    return total


def counter_entropy(layout, n, m, k, most=15):
    """Bits of an entropy-coded counter."""
    trials, p1, p2 = maths.increments(layout, n, m, k)
    shares = [maths.counter_probability(c, trials, p1, p2) for c in range(most)]
    shares.append(max(0.0, 1 - sum(shares)))
    return -sum(share * math.log2(share) for share in shares if share > 0)
