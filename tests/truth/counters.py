"""Counting filters: what a plan says of them, recomputed; and some close to overflow, built and their counters read."""
import json

import mathematics as maths
import overflow
from filters import check_means, where_of

ROW_FIELDS = {"counter_bits", "memory_bytes", "overflow_probability", "overflow_bound", "highest_counter",
              "message_bits", "message_bits_per_item", "message_bytes", "frame_bytes", "file_bytes"}


def check_row(plan, row, audit, where, thorough):
    """A plan's array with counters of four or eight bits."""
    n, m, k, layout = plan["items"], plan["bits"], plan["hashes"], plan["layout"]
    width = row["counter_bits"]
    most, where = 2 ** width - 1, f"{where}  [{width}-bit counters]"
    audit.only("[counting]", row, ROW_FIELDS, where)
    bound = overflow.bound(most, layout, n, m, k)
    audit.close("counting: memory_bytes", row["memory_bytes"], maths.array_bytes(width * m) + maths.array_bytes(m), where)
    audit.close("counting: overflow_bound", row["overflow_bound"], bound, where)
    entropy = m * overflow.counter_entropy(layout, n, m, k, most)
    audit.within("counting: message_bits", row["message_bits"], entropy, 1e-3 * entropy + 1e-6, where)
    audit.close("counting: message_bits_per_item", row["message_bits_per_item"] * n, row["message_bits"], where)
    # Coded within 0.5 % and a table of the counters' values, or raw with its padding; and the frame around it.
    payload, raw = row["message_bytes"] - row["frame_bytes"], maths.array_bytes(width * m)
    ideal = min(entropy / 8, raw)
    audit.true("counting: message_bytes", ideal - 8 <= payload <= 1.01 * ideal + 100 and
               row["message_bytes"] <= raw + 68, f"{payload} for {ideal}", where)
    audit.within("counting: file_bytes", row["file_bytes"], raw, 160, where)
    audit.true("counting: overflow_probability, bounded", row["overflow_probability"] <= bound * (1 + 1e-6) + 1e-300,
               str(row), where)
    if thorough and n * k <= 10_000:
        truth = overflow.probability(most, layout, n, m, k)
        audit.within("counting: overflow_probability", row["overflow_probability"], truth, 0.01 * truth + 1e-300, where)
        # Where some words of a line get a throw more than others, they are not quite independent.
        truth, share = overflow.highest(layout, n, m, k, most), 0.01 if layout in ("spread", "sliced") else 0.03
        audit.within("counting: highest_counter", row["highest_counter"], truth, share * truth, where)


def check_rows(plan, audit, where, thorough):
    for row in plan["counting"]:
        check_row(plan, row, audit, where, thorough and row["counter_bits"] == 4)


def crowded(rng):
    """A shape in which about one counter sticks: (items, bits, hashes, layout)."""
    layout = rng.choice(maths.LAYOUTS)
    n, k = rng.randint(100, 600), rng.choice([k for k in maths.hash_counts(layout) if k <= 16])
    step, low, high = maths.granule(layout, k), 1, 1 << 20
    while high - low > 1:
        middle = (low + high) // 2
        stuck = middle * step * maths.counter_tail(15, layout, n, middle * step, k)
        low, high = (middle, high) if stuck > 0.9 else (low, middle)
    return n, high * step, k, layout


def samples(tool, plan, count, first_seed):
    """Stuck counters, whether there are any, and the highest one, of each filter."""
    stuck, some, highest = [], [], []
    for seed in range(first_seed, first_seed + count):
        payload = tool.build(plan, seed, "c.posy", "--counting").payload
        counters = [nibble for byte in payload for nibble in (byte & 15, byte >> 4)]
        stuck.append(counters.count(15))
        some.append(float(stuck[-1] > 0))
        highest.append(max(counters))
    return {"overflow_bound": stuck, "overflow_probability": some, "highest_counter": highest}


def check_built(tool, rng, audit):
    """As many counters stick as the plan says: the bound is their expected number."""
    n, m, k, layout = crowded(rng)
    plan = json.loads(tool.out("plan", "-n", n, "-b", repr(m / n), "-k", k, "--layout", layout, "--json"))
    row = plan["counting"][0]
    if not 0.2 < row["overflow_bound"] < 1 or plan["bits"] != m:
        return
    where = where_of(plan) + " --counting"
    check_means(tool, {**plan, **row}, audit, samples, 48, where, {})
    check_means(tool, {**plan, **row}, audit, packed, 12, where, {"message_bytes": 8})


def packed(tool, plan, count, first_seed):
    """Bytes of the whole message, of each filter."""
    sizes = []
    for seed in range(first_seed, first_seed + count):
        tool.build(plan, seed, "c.posy", "--counting")
        tool.out("pack", "c.posy", "-o", "p.posy")
        sizes.append(float(len(tool.read("p.posy"))))
    return {"message_bytes": sizes}
