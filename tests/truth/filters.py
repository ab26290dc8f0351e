"""A planned filter, built with several seeds and measured: fill, rate, what info says, and the packed message."""
import json
import math
import statistics

from measured import Message, error_of_mean, log2_choose, rate_of
from mathematics import delta_bits, entropy, rate_deviation

SHARE = 0.01  # or four deviations, whichever is more
CODECS = ("raw", "adaptive", "range", "bytes", "gaps", "counters")


def where_of(plan):
    return (f"posy build -n {plan['items']} -b {plan['bits'] / plan['items']!r} -k {plan['hashes']} "
            f"--layout {plan['layout']}")


def filters_for(n):
    """Few keys make filters that differ much, and cost little."""
    return 48 if n <= 50 else 24 if n <= 1000 else 12


def samples(tool, plan, count, first_seed):
    """Fill, rate and coded size of filters with different seeds."""
    fills, rates, sizes = [], [], []
    for seed in range(first_seed, first_seed + count):
        message = tool.build(plan, seed, "f.posy")
        ones = message.ones()
        fills.append(ones / plan["bits"])
        rates.append(rate_of(message, plan))
        sizes.append(plan["bits"] * entropy(ones / plan["bits"]))
    return {"fill": fills, "false_positive_rate": rates, "message_bits": sizes}


def check_means(tool, plan, audit, take, count, where, floor, stray={}):
    """The means over filters are the plan's: take(tool, plan, count, seed) measures some, figure by figure. The first
    sample is forgotten where it misses; `floor` is what a figure may always differ by, and `stray` its deviation where
    that is known: a sample without the rare filter that makes up most of the mean does not show it."""
    first, again = take(tool, plan, count, 1000), None
    for figure, values in first.items():
        if figure not in plan:
            continue
        allowed = lambda sample: max(SHARE * plan[figure], error_of_mean(sample), floor.get(figure, 0.0),
                                     4 * stray.get(figure, 0.0) / math.sqrt(len(sample)))
        mean = sum(values) / len(values)
        if abs(mean - plan[figure]) > allowed(values):
            again = again or take(tool, plan, 4 * count, 5000)
            audit.note("measured a second time")
            values = again[figure]
            mean = sum(values) / len(values)
        audit.within(f"measured: {figure}", plan[figure], mean, allowed(values), where)
    return first


def binomial_odds(hits, trials, p):
    """P(as far from the mean as this, or farther, on the same side)."""
    mean = trials * p
    if mean > 1000 and trials - mean > 1000:
        return math.erfc(abs(hits - mean) / math.sqrt(2 * mean * (1 - p))) / 2
    if p <= 0 or p >= 1:
        return 1.0 if hits == mean else 0.0
    log = lambda x: (math.lgamma(trials + 1) - math.lgamma(x + 1) - math.lgamma(trials - x + 1) + x * math.log(p)
                     + (trials - x) * math.log1p(-p))
    step, x, total = (1 if hits >= mean else -1), hits, 0.0
    while 0 <= x <= trials:
        term = math.exp(log(x))
        total += term
        if term < total * 1e-9:
            break
        x += step
    return total


FOUR_DEVIATIONS = math.erfc(4 / math.sqrt(2)) / 2


def check_absent_keys(tool, plan, audit):
    """The tool's own answers to absent keys: as many as the bits say."""
    for seed, absent in ((1, 20_000), (2, 200_000)):
        rate = rate_of(tool.build(plan, seed, "f.posy"), plan)
        hits = tool.positives("f.posy", absent)
        odds = binomial_odds(hits, absent, rate)
        if odds > FOUR_DEVIATIONS:
            break
    audit.true("measured: absent keys that pass", odds > FOUR_DEVIATIONS,
               f"{hits} of {absent} absent keys pass, odds {odds:.2g} at a rate of {rate:.5g}", where_of(plan))


def check_info(tool, plan, stray, audit):
    message, where = tool.build(plan, 1, "f.posy"), "posy info after " + where_of(plan)
    info, ones = json.loads(tool.out("info", "--json", "f.posy")), message.ones()
    audit.true("info: the shape", [info[x] for x in ("bits", "hashes", "layout", "items")] ==
               [plan[x] for x in ("bits", "hashes", "layout", "items")], str(info), where)
    audit.close("info: ones", info["ones"], ones, where)
    audit.close("info: fill", info["fill"], ones / plan["bits"], where)
    audit.close("info: false_positive_rate", info["false_positive_rate"], rate_of(message, plan), where)
    audit.close("info: planned_false_positive_rate", info["planned_false_positive_rate"], plan["false_positive_rate"],
                where)
    # The fewest bits for an array of so many ones; both sides lose some digits in logarithms of factorials.
    ideal = log2_choose(plan["bits"], ones)
    audit.within("info: message_bits", info["message_bits"], ideal, 1e-6 * ideal + 1e-3, where)
    tool.out("pack", "f.posy", "-o", "p.posy")
    packed = Message(tool.read("p.posy"))
    # "Within five bytes of the fewest bits there can be", and a byte that is not full.
    most = max(1.001 * ideal / 8, ideal / 8 + 6)
    raw = plan["memory_bytes"] + 68
    audit.true("packed: within 0.1 % or six bytes", ideal / 8 <= packed.length + 1e-6 and
               (packed.length <= most or packed.size == raw), f"{packed.length} bytes for {ideal / 8:.2f}", where)
    audit.true("packed: at most raw", packed.size <= raw, f"{packed.size} bytes for {raw}", where)
    audit.close("measured: file_bytes", plan["file_bytes"], message.size, where)
    # Where both come to the same, chance decides between raw and coded, and near 1 % of ones or zeros between coders.
    rarer = min(ones, plan["bits"] - ones) / plan["bits"]
    if abs(ideal / 8 + packed.frame - raw) > 8 + stray and abs(rarer - 0.01) > 0.002:
        codec = CODECS[packed.codec]
        audit.true("message_codec", codec == plan["message_codec"], f"{plan['message_codec']}, but it is {codec}", where)
        audit.within("measured: frame_bytes", plan["frame_bytes"], packed.frame, 1, where)
    allowed = max(SHARE * packed.size, 8 + stray)
    audit.within("measured: message_bytes", plan["message_bytes"], packed.size, allowed, where)


def check_delta(tool, plan, share, audit):
    """Two generations of the set, a share of the keys replaced, and what the tool sends of it."""
    n = plan["items"]
    changed = round(share * n)
    if changed == 0 or n + changed > 20_000:
        return
    where = f"posy delta, {changed} keys replaced, of two filters of " + where_of(plan)
    truth = delta_bits(plan["layout"], n, plan["bits"], plan["hashes"], changed / n)
    values = []
    for seed in range(8):
        tool.build(plan, seed, "a.posy")
        tool.build(plan, seed, "b.posy", first=changed)
        tool.out("delta", "a.posy", "b.posy", "-o", "d.posy")
        message = Message(tool.read("d.posy"))
        values.append(8 * message.length)
    mean = sum(values) / len(values)
    # Whole bytes, and up to five of them over the entropy; or the array as it is, if that is less.
    allowed = max(SHARE * truth, error_of_mean(values)) + 48
    audit.within("measured: delta_bits", min(truth, 8 * plan["memory_bytes"]), mean, allowed, where)
    if changed == share * n:
        payload = plan["delta_message_bytes"] - plan["delta_frame_bytes"]
        audit.within("measured: delta_message_bytes", 8 * payload, mean, allowed, where)
        audit.within("measured: delta_frame_bytes", plan["delta_frame_bytes"], message.frame, 2, where)


def measure(tool, plan, share, audit):
    # The mean message is up to a bit below that of the mean fill.
    rate = plan["false_positive_rate"]
    deviation = rate * rate_deviation(plan["layout"], plan["items"], plan["bits"], plan["hashes"])
    taken = check_means(tool, plan, audit, samples, filters_for(plan["items"]), where_of(plan), {"message_bits": 1.0},
                        {"false_positive_rate": deviation})
    check_absent_keys(tool, plan, audit)
    check_info(tool, plan, 4 * statistics.stdev(taken["message_bits"]) / 8, audit)
    if share is not None:
        check_delta(tool, plan, share, audit)
