"""The mathematics of the filters once more, derived from the papers and docs/format.md and not from the library.

Where the library follows a chain of positive terms, this takes inclusion and exclusion in decimal numbers long
enough for the cancellation; where it tabulates the lines of a blocked array by load, this sums the loads in
closed form. The two share no step, so a figure that both give is right.

Everything is a pure function of n keys, m bits, k hashes and a layout's name. A rate takes about a millisecond.
"""
import functools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

WORDS = 8
WORD_BITS = {"blocked": 64, "paired": 64, "narrow": 16}
MOST_HASHES = {"spread": 32, "sliced": 32, "blocked": 16, "paired": 16, "narrow": 16}
LAYOUTS = tuple(MOST_HASHES)


def granule(layout, k):
    """The sizes of a layout are the multiples of this."""
    return {"spread": 1, "sliced": k, "blocked": 512, "paired": 1024, "narrow": 128}[layout]


def hash_counts(layout):
    return range(2, 17, 2) if layout == "paired" else range(1, MOST_HASHES[layout] + 1)


def entropy(p):
    if p <= 0 or p >= 1:
        return 0.0
    return -(p * math.log2(p) + (1 - p) * math.log1p(-p) / math.log(2))


def miss(layout, n, m, k):
    """P(a given bit is still 0 after n keys)."""
    if layout == "spread":
        return math.exp(n * k * math.log1p(-1 / m)) if m > 1 else 0.0
    if layout == "sliced":
        return math.exp(n * math.log1p(-k / m)) if m > k else 0.0
    halves = 2 if layout == "paired" else 1
    lines = m // halves // (WORDS * WORD_BITS[layout])
    # A word has ⌊k/8⌋ draws of the key, and one more with probability (k mod 8)/8.
    bits, (base, extra) = WORD_BITS[layout], divmod(k // halves, WORDS)
    avoid = (1 - 1 / bits) ** base * (1 - extra / WORDS / bits)
    return math.exp(n * math.log1p(-(1 - avoid) / lines))


def fill(layout, n, m, k):
    """The share of ones, without the cancellation of 1 − miss."""
    if layout == "spread":
        return -math.expm1(n * k * math.log1p(-1 / m)) if m > 1 else 1.0
    if layout == "sliced":
        return -math.expm1(n * math.log1p(-k / m)) if m > k else 1.0
    return 1 - miss(layout, n, m, k)


def message_bits(layout, n, m, k):
    return m * entropy(fill(layout, n, m, k))


def delta_bits(layout, n, m, k, share):
    """A bit differs if it was 0 and one of the share·n new keys hits it, or the other way round."""
    p = miss(layout, n, m, k)
    return m * entropy(-2 * p * math.expm1(share * math.log(p))) if p > 0 else 0.0


def digits_for(layout, n, m, k):
    """Decimal places that survive the cancellation: the rate is not far below fill^k, the terms not above 2^k."""
    ones = max(fill(layout, n, m, k), 1e-30)
    return 30 + math.ceil(0.302 * k - k * math.log10(ones) + math.log10(n * k + 1))


def power(base, exponent):
    return base ** exponent if exponent > 0 else Decimal(1)


def spread_rate(n, m, k):
    """E[(X/m)^k], X ones: k looks see j different bits, and N = kn throws cover them all with probability
    Σ_i (−1)^i C(j,i) (1 − i/m)^N."""
    ones = m * fill("spread", n, m, k)
    if ones > 1000 * k * k:
        # To second order in the spread of X; the rest is below (k²/ones)² = 1e-6 of the rate.
        p, throws = miss("spread", n, m, k), n * k
        variance = m * p * -math.expm1(throws * math.log1p(-1 / (m - 1))) + (m * p) ** 2 * math.expm1(
            throws * math.log1p(-1 / (m - 1) ** 2))
        return (ones / m) ** k * (1 + k * (k - 1) / 2 * variance / ones ** 2)
    with localcontext() as context:
        context.prec = digits_for("spread", n, m, k)
        most = min(k, m)
        looks = [Decimal(1)] + [Decimal(0)] * most  # P(so many different bits)
        for _ in range(k):
            looks = [Decimal(0)] + [(looks[j] * j + looks[j - 1] * (m - j + 1)) / m for j in range(1, most + 1)]
        total = Decimal(0)
        for i in range(most + 1):
            weight = sum(looks[j] * math.comb(j, i) for j in range(i, most + 1))
            if i < m:
                total += (-1) ** i * weight * power(1 - Decimal(i) / m, n * k)
        return float(total)


def sliced_rate(n, m, k):
    return fill("sliced", n, m, k) ** k


@functools.lru_cache(maxsize=None)
def line_terms(bits, k):
    """Inclusion and exclusion over the queried bits of one line: pairs (coefficient, P(a key of that line hits one
    of the chosen bits)). The chosen bits are `one` words with one of them and `two` words with two."""
    base, extra = divmod(k, WORDS)
    # The words of the query: with b different bits, Σ over its subsets is 1 − y, or 1 − 2y + z; y and z mark them.
    single = {(0, 0): Fraction(1), (1, 0): Fraction(-1)}
    meet = Fraction(1, bits)
    double = {(0, 0): Fraction(1), (1, 0): -2 + meet, (0, 1): 1 - meet}
    if base == 0:
        factors = [single] * extra
    elif base == 1:
        factors = [single] * (WORDS - extra) + [double] * extra
    else:
        factors = [double] * WORDS
    product = {(0, 0): Fraction(1)}
    for factor in factors:
        grown = {}
        for (a, b), x in product.items():
            for (c, d), y in factor.items():
                grown[a + c, b + d] = grown.get((a + c, b + d), 0) + x * y
        product = grown
    terms = []
    for (one, two), coefficient in product.items():
        avoid = [1 - Fraction(1, bits)] * one + [1 - Fraction(2, bits)] * two + [Fraction(1)] * (WORDS - one - two)
        symmetric = [Fraction(1)] + [Fraction(0)] * extra
        for value in avoid:
            for j in range(extra, 0, -1):
                symmetric[j] += value * symmetric[j - 1]
        missed = math.prod(avoid) ** base * symmetric[extra] / math.comb(WORDS, extra)
        terms.append((coefficient, 1 - missed))
    return terms


def line_rate(n, lines, k, bits):
    """Loads are binomial: Σ_x C(n,x) L^−x (1−1/L)^(n−x) g^x = (1 − (1−g)/L)^n, term by term."""
    layout, m = ("blocked" if bits == 64 else "narrow"), lines * WORDS * bits
    with localcontext() as context:
        context.prec = digits_for(layout, n, m, k)
        total = Decimal(0)
        for coefficient, hit in line_terms(bits, k):
            base = 1 - Decimal(hit.numerator) / (Decimal(hit.denominator) * lines)
            total += Decimal(coefficient.numerator) / Decimal(coefficient.denominator) * power(base, n)
        return float(total)


@functools.lru_cache(maxsize=1 << 16)
def rate(layout, n, m, k):
    """The expected false-positive rate."""
    if layout == "spread":
        return spread_rate(n, m, k)
    if layout == "sliced":
        return sliced_rate(n, m, k)
    bits = WORD_BITS[layout]
    if layout == "paired":
        return line_rate(n, m // 2 // (WORDS * bits), k // 2, bits) ** 2
    return line_rate(n, m // (WORDS * bits), k, bits)


def collisions(family, n):
    """P(an absent key has the digest of one of n keys)."""
    return math.ldexp(n, -64 if family == "fold64" else -128)


def with_collisions(rate_of_bits, family, n):
    return rate_of_bits + (1 - rate_of_bits) * collisions(family, n)


def rate_deviation(layout, n, m, k):
    """How far the rates of different filters stray, as a share of the rate, roughly: by the fill (k/√n at most), and in
    lines by their loads. With h(x) = Σ_i c_i g_i^x the rate of a line with x keys, E h² is the double sum over g_i g_j."""
    halves = 2 if layout == "paired" else 1
    stray = k / math.sqrt(n)
    if layout in WORD_BITS:
        bits = WORD_BITS[layout]
        lines, terms = m // halves // (WORDS * bits), line_terms(bits, k // halves)
        with localcontext() as context:
            context.prec = 2 * digits_for("blocked" if bits == 64 else "narrow", n, m // halves, k // halves)
            numbers = [(Decimal(c.numerator) / c.denominator, 1 - Decimal(hit.numerator) / hit.denominator)
                       for c, hit in terms]
            square = sum(a * b * power(1 - (1 - g * h) / lines, n) for a, g in numbers for b, h in numbers)
        mean = line_rate(n, lines, k // halves, bits)
        stray += math.sqrt(halves * max(0.0, float(square) / mean ** 2 - 1) / lines)
    return stray


def rate_floor(layout, n, m, k):
    """Never much above the rate, and quick: the power of the mean fill (Jensen's inequality, and 30 % of room
    because the bits of a line are dealt without repetition)."""
    return 0.7 * fill(layout, n, m, k) ** k


def increments(layout, n, m, k):
    """A counter's increments as n' trials that add 1 with probability p1 and 2 with p2."""
    if layout == "spread":
        return n * k, 1 / m, 0.0
    if layout in ("sliced", "paired") or k <= WORDS:
        return n, k / m, 0.0
    bits = WORD_BITS[layout]
    lines, second = m // (WORDS * bits), (k - WORDS) / WORDS  # odds that the counter's word has a second draw
    return n, (1 / bits + second * (1 / bits - 2 / bits ** 2)) / lines, second / bits ** 2 / lines


def counter_probability(c, trials, p1, p2):
    """P(a counter has c increments)."""
    total = 0.0
    for twice in range(c // 2 + 1 if p2 > 0 else 1):
        once, hits = c - 2 * twice, c - twice
        if hits > trials or p1 + p2 >= 1 and hits < trials:
            continue
        log = (trials - hits) * math.log1p(-p1 - p2) if hits < trials else 0.0
        for i in range(hits):
            log += math.log(trials - i)
        for number, p in ((once, p1), (twice, p2)):
            log -= math.lgamma(number + 1)
            if number:
                log += number * math.log(p)
        total += math.exp(log)
    return total


def counter_tail(least, layout, n, m, k):
    """P(a given counter has `least` increments or more)."""
    trials, p1, p2 = increments(layout, n, m, k)
    if trials * (p1 + 2 * p2) > least:
        return 1 - sum(counter_probability(c, trials, p1, p2) for c in range(least))
    total, c = 0.0, least
    while True:
        term = counter_probability(c, trials, p1, p2)
        total += term
        if c > trials * 2 or term <= total * 1e-12:
            return total
        c += 1


def array_bytes(bits):
    return (bits + 63) // 64 * 8
