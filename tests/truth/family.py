"""What a plan says of the rest of the family: sealed sets and maps, growing and window filters, sketches."""
import json
import math

import mathematics as maths
from measured import Message, varint


def seal(tool, n, rate, expected, bits, *options, stdin=None):
    """Sealed messages, as (stated rate, payload bits, message): one, or five of different seeds where the first is not
    within 1 % of what is expected. By chance a system takes an unknown more to have a solution, and a layer loses more
    or fewer keys, which shows in a small set."""
    found = []
    for seed in range(5):
        tool.out("seal", "-", "--threads", 1, "--fpr", repr(rate), "--seed", seed, "-o", "s.posy", *options,
                 stdin=tool.some_keys(n) if stdin is None else stdin)
        info, message = json.loads(tool.out("info", "--json", "s.posy")), Message(tool.read("s.posy"))
        found.append((info["false_positive_rate"], 8 * message.length, message))
        stated, size, _ = found[0]
        if seed == 0 and abs(stated - expected) <= 0.01 * stated and abs(size - bits) <= 0.01 * bits:
            break
    return found


def near_median(audit, figure, shown, values, floor, where):
    """Within 1 % of the median, or what the values differ by, or `floor`."""
    median = sorted(values)[len(values) // 2]
    audit.within(figure, shown, median, max(0.01 * median, max(values) - min(values), floor), where)


def sealed_model(n, rate, value_bits=0):
    """Bits of a large sealed payload (docs/sealed.md): fingerprints of r bits or, for a share x, one more, such that
    2^−r (1 − x/2) is the rate; 0.15 % of unknowns that no key uses; two bits per bucket of 128."""
    r = math.floor(-math.log2(rate) + 1e-12)
    x = 2 * (1 - rate * 2 ** r)
    return n * ((r + x + value_bits) * 1.0015 + 2 / 128)


def check_sealed(tool, plan, audit, where):
    """Small sets are sealed at the row's rate; large ones follow the model."""
    n = plan["items"]
    for row in plan.get("sealed", []):
        name, rate, bits = row["name"], row["false_positive_rate"], row["message_bits_per_item"] * n
        audit.only(f"[{name}]", row, {"name", "asked_rate", "false_positive_rate", "message_bits",
                                      "message_bits_per_item", "message_bytes", "frame_bytes"}, where)
        asked = row["asked_rate"]
        if name == "sealed, same rate":
            # Fingerprints are mixed in whole blocks, so the rate asked for is met to 2 %.
            audit.true("sealed: at most the rate", rate <= plan["false_positive_rate"] * 1.02, str(rate), where)
        elif name == "sealed, same message":
            audit.true("sealed: at most the message", bits <= plan["message_bits"] * (1 + 1e-9), str(bits), where)
        else:
            audit.true("rows that nobody checks", False, name, where)
        if n > 20_000:
            # The thresholds and unknowns without a key, a hundredth of a bit per key, count where there is less than one.
            allowed = 0.01 * (bits + n)
            audit.within("sealed: message_bits_per_item, large", bits, sealed_model(n, rate), allowed, where)
            continue
        found = seal(tool, n, min(asked * (1 + 1e-12), 0.999999), rate, bits)
        here = f"{where}  [{name}]  posy seal --fpr {asked!r} of {n} keys"
        # The seed that solves the system takes a byte or two, and an unknown its fingerprint.
        near_median(audit, "sealed: message_bits_per_item", bits, [size for _, size, _ in found],
                    16 + math.ceil(-math.log2(rate)), here)
        near_median(audit, "sealed: false_positive_rate", rate, [stated for stated, _, _ in found], 0.0, here)
        check_whole(row, bits, found[0][2], audit, here)


def check_whole(row, bits, message, audit, where):
    """Payload and frame."""
    audit.close("sealed: message_bytes", row["message_bytes"], round(bits / 8) + row["frame_bytes"], where)
    audit.within("sealed: frame_bytes", row["frame_bytes"], message.frame, 1, where)
    if "message_bits" in row:
        audit.close("sealed: message_bits", row["message_bits"], bits, where)


def divisors(number):
    low = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)})


def growing_first(layout, k):
    """The first array: the largest multiple of 55,440 units within 64 MiB (docs/growing.md)."""
    unit = max(maths.granule(layout, k), 8 * (k if layout == "sliced" else 1))
    rich = 55_440 * unit
    return (64 << 23) // rich * rich, unit


def full_at(layout, k, first, rate):
    """So many keys fill the first array: it could just be folded by 6, a twentieth of the rate to spare."""
    low, high = 1, first
    while high > low * 1.0001 + 1:
        middle = (low + high) // 2
        low, high = (middle, high) if maths.rate(layout, middle, first // 6, k) <= 0.95 * rate else (low, middle)
    return low


def folded(layout, n, k, rate, arrays):
    """The fewest bits to which arrays of 1 : 4 : 16 … can be folded so that they have the rate together."""
    first, unit = growing_first(layout, k)
    room, left = full_at(layout, k, first, rate), n
    ways = [(0.0, 0)]  # rate and bits of what the arrays so far can become
    for i in range(arrays):
        size, keys = first * 4 ** i, min(left, room * 4 ** i) if i + 1 < arrays else left
        left -= keys
        grown = []
        for divisor in reversed(divisors(size // unit)):
            if maths.rate_floor(layout, max(keys, 1), size // divisor, k) > rate:
                continue
            alone = maths.rate(layout, max(keys, 1), size // divisor, k)
            grown += [(before + alone - before * alone, bits + size // divisor) for before, bits in ways]
            if alone < 1e-3 * rate:
                break
        ways = []
        for way in sorted(way for way in grown if way[0] <= rate):
            if not ways or way[1] < ways[-1][1]:
                ways.append(way)
    return ways[-1][1] if ways else math.inf


def check_growing(plan, audit, where):
    """One array: the best divisor for the number of hashes. Several: the sum keeps the promise and its price."""
    growing = plan.get("growing")
    if growing is None:
        return
    audit.only("[growing]", growing, {
        "arrays", "hashes", "bits", "bits_per_item", "false_positive_rate", "message_bits", "message_bits_per_item",
        "message_bytes", "frame_bytes", "memory_bytes_while_growing"}, where)
    n, layout, k, promised = plan["items"], plan["layout"], growing["hashes"], plan["false_positive_rate"]
    first, unit = growing_first(layout, k)
    bits, arrays = growing["bits"], growing["arrays"]
    audit.close("growing: bits_per_item", growing["bits_per_item"] * n, bits, where)
    audit.close("growing: memory", growing["memory_bytes_while_growing"], first * (4 ** arrays - 1) // 3 // 8, where)
    audit.true("growing: at most the rate", growing["false_positive_rate"] <= promised * (1 + 1e-9),
               str(growing["false_positive_rate"]), where)
    if arrays > 1:
        # At high rates many keys seem to be there already, and are not inserted; at low ones a filter keeps clear of
        # deviations that are large.
        best = folded(layout, n, k, promised, arrays)
        audit.within("growing: bits, several arrays", bits, best, (0.12 + 0.3 * promised) * best, where)
        return
    if not audit.true("growing: a divisor", first % bits == 0 and bits % unit == 0, f"{bits} of {first}", where):
        return
    audit.close("growing: false_positive_rate", growing["false_positive_rate"], maths.rate(layout, n, bits, k), where)
    audit.close("growing: message_bits_per_item", growing["message_bits_per_item"],
                maths.message_bits(layout, n, bits, k) / n, where)
    ideal = maths.message_bits(layout, n, bits, k)
    audit.close("growing: message_bits", growing["message_bits"], ideal, where)
    # Its own head takes some twenty bytes, and nested bits some.
    payload, raw = growing["message_bytes"] - growing["frame_bytes"], maths.array_bytes(bits)
    audit.true("growing: message_bytes", min(ideal / 8, raw) <= payload <= min(1.001 * ideal / 8 + 6, raw) + 40,
               f"{payload} for {ideal / 8}", where)
    audit.true("growing: frame_bytes", 20 <= growing["frame_bytes"] <= 40, str(growing["frame_bytes"]), where)
    smaller = [first // d for d in divisors(first // unit) if first // d < bits]
    if smaller:
        # It must keep the rate whatever its seed: three deviations below, which the planner knows to a tenth.
        rate = maths.rate(layout, n, smaller[0], k)
        audit.true("growing: no smaller one", rate > promised or
                   rate * (1 + 3.3 * maths.rate_deviation(layout, n, smaller[0], k)) > promised,
                   f"{bits} bits, but {smaller[0]} will do", where)


def check_window(tool, rng, audit):
    """g + 1 arrays of a generation's share of the keys; at worst all are full."""
    n, generations, rate = int(10 ** rng.uniform(0, 8)), rng.randint(1, 20), round(10 ** rng.uniform(-4, -0.7), 6)
    layout = rng.choice(maths.LAYOUTS)
    arguments = ["plan", "-n", n, "--fpr", rate, "--layout", layout, "--window", generations, "--json"]
    where = "posy " + " ".join(map(str, arguments))
    plan = json.loads(tool.out(*arguments))
    window = plan["window"]
    audit.only("[window]", window, {
        "generations", "bits_per_array", "hashes", "memory_bytes", "memory_bytes_at_worst", "remembered_at_least_windows",
        "forgotten_after_windows", "false_positive_rate_low", "false_positive_rate", "false_positive_rate_at_worst"}, where)
    bits, k, memory = window["bits_per_array"], window["hashes"], window["memory_bytes"]
    # Of g slots some have one key more than the others; the newest one is empty, then as full as the fullest.
    few, fuller = divmod(n, generations)
    less, more = (maths.rate(layout, keys, bits, k) if keys else 0.0 for keys in (few, few + (fuller > 0)))
    low = fuller * math.log1p(-more) + (generations - fuller) * math.log1p(-less)
    truth = {"generations": generations, "memory_bytes": (generations + 1) * maths.array_bytes(bits),
             "remembered_at_least_windows": 1, "forgotten_after_windows": 1 + 1 / generations,
             "false_positive_rate_low": -math.expm1(low), "false_positive_rate": -math.expm1(low + math.log1p(-more)),
             "false_positive_rate_at_worst": rate}
    for figure, value in truth.items():
        audit.close(f"window: {figure}", window[figure], value, where)
    full = -math.expm1((generations + 1) * math.log1p(-more))
    audit.true("window: at most the rate", full <= rate * (1 + 1e-9), str(window), where)
    worst = window["memory_bytes_at_worst"]
    audit.true("window: memory_bytes_at_worst", memory <= worst <= 2 * memory, str(worst), where)


def check_map(tool, rng, audit):
    """plan --value-bits against posy seal --values."""
    n, value_bits = int(10 ** rng.uniform(0, 4.3)), rng.randint(1, 20)
    rate = round(10 ** rng.uniform(-4, -0.5), 6)
    arguments = ["plan", "-n", n, "--fpr", rate, "--layout", "spread", "--value-bits", value_bits, "--json"]
    where = "posy " + " ".join(map(str, arguments))
    plan = json.loads(tool.out(*arguments))
    shown = plan["map"]
    audit.only("[map]", shown, {"value_bits", "false_positive_rate", "message_bits", "message_bits_per_item",
                                "message_bytes", "frame_bytes"}, where)
    promised = shown["false_positive_rate"]
    lines = b"".join(b"k%07d\t%d\n" % (i, rng.getrandbits(value_bits)) for i in range(n))
    bits = shown["message_bits_per_item"] * n
    found = seal(tool, n, rate, promised, bits, "--values", "--value-bits", value_bits, stdin=lines)
    audit.close("map: value_bits", shown["value_bits"], value_bits, where)
    near_median(audit, "map: message_bits_per_item", bits, [size for _, size, _ in found],
                16 + value_bits + math.ceil(-math.log2(promised)), where)
    near_median(audit, "map: false_positive_rate", promised, [stated for stated, _, _ in found], 0.0, where)
    check_whole(shown, bits, found[0][2], audit, where)


def check_sketch(tool, rng, audit):
    """plan --sketch: the shape is the smallest that keeps the wish, posy count builds it, and 20,000 keys that came
    once each are never told too few, and rarely too many."""
    error, odds = round(10 ** rng.uniform(-3.5, -1.5), 6), round(10 ** rng.uniform(-3, -0.5), 4)
    memory = rng.random() < 0.3
    size = rng.randint(1000, 1_000_000) if memory else error
    arguments = ["plan", "--sketch", f"{size},{odds}", "--json"]
    where = "posy " + " ".join(map(str, arguments))
    sketch = json.loads(tool.out(*arguments))["sketch"]
    audit.only("[sketch]", sketch, {"width", "depth", "memory_bytes", "epsilon", "delta"}, where)
    width, depth = sketch["width"], sketch["depth"]
    epsilon = lambda width: math.e * (1 / width + 2 ** -32)
    audit.close("sketch: memory_bytes", sketch["memory_bytes"], 4 * width * depth, where)
    audit.close("sketch: epsilon", sketch["epsilon"], epsilon(width), where)
    audit.close("sketch: delta", sketch["delta"], math.exp(-depth), where)
    least = 4 * width * depth <= size < 4 * (width + 1) * depth if memory else epsilon(width) <= error < epsilon(width - 1)
    audit.true("sketch: as small as can be", depth == math.ceil(-math.log(odds) - 1e-12) and least, str(sketch), where)
    wish = ("--memory", size) if memory else ("--epsilon", error)
    tool.out("count", "--plain", *wish, "--delta", odds, "--top", 0, "-o", "c.posy", stdin=tool.keys)
    payload = Message(tool.read("c.posy")).payload
    audit.true("sketch: posy count builds it", (payload[1], varint(payload, 2)[0]) == (depth, width), str(sketch), where)
    told = [int(line.split(b"\t")[0]) for line in tool.out("count", "--ask", "c.posy", stdin=tool.keys).splitlines()]
    above = sum(value > 1 + sketch["epsilon"] * len(told) for value in told) / len(told)
    audit.true("sketch: the guarantee", min(told) >= 1 and above <= sketch["delta"], f"{above} above", where)
