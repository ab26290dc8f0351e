"""What a plan may be and what would be better: every number of hashes tried, by a search of its own.

For a given number of hashes the rate falls as the array grows, and the message, the delta and the memory rise with
it. So one array per number of hashes decides whether a better plan exists: the largest that keeps every limit and
is still better than the plan in what was to be made small. A `wish` is a dictionary with the tool's options as keys,
and "family", the hash family of the plan.
"""
import math

from mathematics import (MOST_HASHES, array_bytes, delta_bits, fill, granule, hash_counts, message_bits, rate,
                         rate_floor, with_collisions)

MOST_BITS = 1 << 40
SLACK = 1e-6  # how much better another plan must be to count
# An array more than half full with twice the hashes of a sparser one must be better by this to be preferred.
DENSE_SLACK = 0.05


def aim_of(wish):
    """What is made small, where nobody says: the rate in a given array, the message where it matters, else memory."""
    if "minimize" in wish:
        return wish["minimize"]
    if "message-bits" in wish or "delta-bits" in wish:
        return "message"
    return "rate" if "bits-per-item" in wish or ("max-memory" in wish and "fpr" not in wish) else "memory"


def layout_of(wish):
    if "layout" in wish:
        return wish["layout"]
    return "spread" if travels(wish) else "blocked"


def counts_of(wish):
    """The numbers of hashes that the wish allows."""
    allowed = hash_counts(layout_of(wish))
    if "hashes" in wish:
        return [k for k in allowed if k == wish["hashes"]]
    return [k for k in allowed if k <= wish.get("max-hashes", 32)]


def promised_rate(wish):
    """The rate to keep, if there is one: 1 % where nothing else says how large the array is."""
    if "fpr" in wish:
        return wish["fpr"]
    sized = {"bits-per-item", "message-bits", "delta-bits", "max-memory"} & wish.keys()
    return None if sized else 0.01


def keeps_budgets(wish, m, k, rounding=1e-9):
    n, layout = wish["items"], layout_of(wish)
    if "max-memory" in wish and array_bytes(m) > wish["max-memory"]:
        return False
    if "message-bits" in wish and message_bits(layout, n, m, k) > wish["message-bits"] * n * (1 + rounding):
        return False
    return "delta-bits" not in wish or delta_bits(layout, n, m, k, wish["delta-fraction"]) <= (
        wish["delta-bits"] * n * (1 + rounding))


def rate_in(wish, m, k):
    n = wish["items"]
    return with_collisions(rate(layout_of(wish), n, m, k), wish.get("family"), n)


def keeps(wish, m, k, margin=0.0):
    """Whether such an array fulfils the wish, with a margin below the promised rate."""
    n, layout, promised = wish["items"], layout_of(wish), promised_rate(wish)
    if not keeps_budgets(wish, m, k, -1e-9):
        return False
    if promised is None:
        return True
    wanted = promised * (1 - margin)
    return rate_floor(layout, n, m, k) <= wanted and rate_in(wish, m, k) <= wanted


def fixed_bits(wish, k):
    """--bits-per-item: that array, rounded up to what the layout can have."""
    step = granule(layout_of(wish), k)
    return -(-max(1, math.floor(wish["bits-per-item"] * wish["items"] + 0.5)) // step) * step


def largest(wish, k, also=lambda m: True):
    """The largest array of k hashes within the budgets, and `also`; 0 if there is none."""
    step = granule(layout_of(wish), k)
    most = MOST_BITS
    if "max-memory" in wish:
        most = min(most, wish["max-memory"] * 8)
    elif travels(wish):
        # The gain of a compressed filter has no end; the planner stops at 16 times the message.
        promised = promised_rate(wish)
        message = wish.get("message-bits", math.log2(1 / (promised or 0.01)) / math.log(2))
        most = min(most, int(16 * message * wish["items"]) + 512)
    good, bad = 0, most // step + 1
    while bad - good > 1:
        middle = (good + bad) // 2
        if keeps_budgets(wish, middle * step, k, -1e-9) and also(middle * step):
            good = middle
        else:
            bad = middle
    return good * step


def possible(wish):
    """The numbers of hashes with which the wish can be fulfilled at all, by a margin."""
    for k in counts_of(wish):
        m = fixed_bits(wish, k) if "bits-per-item" in wish else largest(wish, k)
        if 0 < m <= MOST_BITS and keeps(wish, m, k, SLACK) and fill(layout_of(wish), wish["items"], m, k) < 1 - 1e-9:
            yield k


def travels(wish):
    return aim_of(wish) in ("message", "delta") or bool({"message-bits", "delta-bits"} & wish.keys())


def coded_size(wish, m, k):
    """What is made small, where it is something that is sent."""
    n, layout = wish["items"], layout_of(wish)
    if aim_of(wish) == "delta":
        return delta_bits(layout, n, m, k, wish["delta-fraction"])
    return message_bits(layout, n, m, k)


def better(wish, plan, counts=None):
    """(hashes, bits) of a plan that beats this one, or None."""
    aim, n, layout = aim_of(wish), wish["items"], layout_of(wish)
    budgets = bool({"message-bits", "delta-bits"} & wish.keys())
    by_rate = aim == "rate" or (aim == "message" and budgets and "fpr" not in wish)
    for k in counts or counts_of(wish):
        if "bits-per-item" in wish:
            m = fixed_bits(wish, k)
        elif by_rate:
            m = largest(wish, k)
        elif aim == "memory":
            step = granule(layout, k)
            m = min((plan["bits"] - 1) // step * step, largest(wish, k))
        else:
            aimed = coded_size(wish, plan["bits"], plan["hashes"]) * (1 - SLACK)
            m = largest(wish, k, lambda m: coded_size(wish, m, k) <= aimed)
        if m == 0 or m > MOST_BITS or not keeps(wish, m, k, SLACK):
            continue
        dense = fill(layout, n, m, k) > 0.47  # which the smallest array of the rate is, if this is not
        if dense and not by_rate and promised_rate(wish) is None and not budgets:
            continue  # saturated, it would be the smallest message
        laborious = dense and travels(wish) and k >= 2 * plan["hashes"]
        if gained(wish, plan, k, m, by_rate) > (DENSE_SLACK if laborious else SLACK):
            return k, m
    return None


def gained(wish, plan, k, m, by_rate):
    """By which share this is better in what is to be made small."""
    n, layout = wish["items"], layout_of(wish)
    if by_rate:
        old = plan["false_positive_rate"]
        return 0 if rate_floor(layout, n, m, k) > old else 1 - rate_in(wish, m, k) / old
    if aim_of(wish) == "memory":
        return 1 - m / plan["bits"]
    return 1 - coded_size(wish, m, k) / coded_size(wish, plan["bits"], plan["hashes"])


def judged(wish):
    """Whether the wish says what is best: something has to keep what is made small from vanishing."""
    aim = aim_of(wish)
    sized = {"bits-per-item", "max-memory", "message-bits", "delta-bits"} & wish.keys()
    if aim == "rate":
        return bool(sized)
    if aim in ("message", "delta"):
        return "fpr" in wish or not sized or (aim == "message" and bool({"message-bits", "delta-bits"} & wish.keys()))
    return "fpr" in wish or not sized


def alternative(name, plan, share):
    """The wish behind a row of the comparison, or None if nothing is known of such a row."""
    wish = {"items": plan["items"], "layout": "spread", "family": plan["hash"]}
    if share is not None:
        wish["delta-fraction"] = share
    kind, _, what = name.partition(", ")
    if what == "same rate":
        aims = {"compressed": "message", "small delta": "delta"}
        wish.update({"fpr": plan["false_positive_rate"], "minimize": aims.get(kind, "memory")})
        if kind in MOST_HASHES:
            wish["layout"] = kind
    elif name == "standard, same message":
        wish.update({"bits-per-item": max(plan["message_bits_per_item"], 0.01), "minimize": "rate"})
    elif name == "compressed, same message":
        wish.update({"message-bits": max(plan["message_bits_per_item"], 0.01), "minimize": "message"})
    elif name == "fewer hashes, same array":
        wish.update({"layout": plan["layout"], "bits-per-item": plan["bits_per_item"], "hashes": plan["hashes"] // 2,
                     "minimize": "rate"})
    else:
        return None
    return wish
