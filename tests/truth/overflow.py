"""How likely it is that any counter of a counting filter overflows, and how high the highest climbs.

N throws into m counters: P(none reaches j) = N!/m^N [z^N] f(z)^m with f = Σ_{i<j} z^i/i!. With f's terms at a point λ
as a distribution, [z^N] f^m = f(λ)^m λ^−N P(m such numbers add up to N), and that probability is an integral over their
characteristic function; λ makes N their mean, so that it is not small. In the lines of a dealt array counters are
taken as independent given the load of their line, an error of the order of one in their number.
"""
import cmath
import math

import mathematics as maths

EXACT_THROWS = 10 ** 6


def none_reaches(j, throws, m):
    """P(no counter of m has j increments)."""
    if throws >= m * (j - 1):
        return 0.0 if throws > m * (j - 1) else math.exp(
            math.lgamma(throws + 1) - throws * math.log(m) - m * math.lgamma(j))
    shares = lambda at: [math.exp(i * math.log(at) - math.lgamma(i + 1)) for i in range(j)]
    low, high = 1e-12, 1e12
    for _ in range(200):
        point = math.sqrt(low * high)
        terms = shares(point)
        mean = sum(i * term for i, term in enumerate(terms)) / sum(terms)
        low, high = (point, high) if mean < throws / m else (low, point)
    total = sum(terms)
    variance = m * sum((i - throws / m) ** 2 * term for i, term in enumerate(terms)) / total
    steps = int(20 * math.sqrt(variance)) + 60  # sums this far from N are as good as impossible
    integral = 0.0
    for step in range(steps):
        angle = 2 * math.pi * step / steps
        turned = sum(term * cmath.exp(1j * angle * (i - throws / m)) for i, term in enumerate(terms)) / total
        integral += (turned ** m).real if abs(turned) > 0 else 0.0
    return math.exp(math.lgamma(throws + 1) - throws * math.log(m) + m * math.log(total) - throws * math.log(point)
                    + math.log(integral / steps))


def independent(j, m, tail):
    """P(any of m counters reaches j), were they independent."""
    return 1.0 if tail >= 1 else -math.expm1(m * math.log1p(-tail))


def thrown(j, throws, m):
    if throws <= EXACT_THROWS and m > 1:
        return 1 - none_reaches(j, throws, m)
    return independent(j, m, maths.counter_tail(j, "spread", throws, m, 1))


def lines(j, n, count, k, bits):
    """Over the loads of the lines: given its load, a line is an array of its own with one line."""
    size, layout = maths.WORDS * bits, "blocked" if bits == 64 else "narrow"
    of_load = lambda x: independent(j, size, maths.counter_tail(j, layout, x, size, k))
    if count == 1:
        return of_load(n)
    mean = n / count
    reach = 12 * math.sqrt(mean) + 40
    total = 0.0
    for x in range(max(0, int(mean - reach)), min(n, int(mean + reach)) + 1):
        total += maths.counter_probability(x, n, 1 / count, 0.0) * of_load(x)
    return independent(j, count, min(1.0, total))


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
        return independent(j, k, thrown(j, n, m // k))
    bits = maths.WORD_BITS[layout]
    if layout == "paired":
        return independent(j, 2, lines(j, n, m // 2 // (maths.WORDS * bits), k // 2, bits))
    return lines(j, n, m // (maths.WORDS * bits), k, bits)


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
