"""Is the plan the truth? Random plans over all layouts, sizes from one key to 10^9 and all options, every figure
recomputed by mathematics of its own (mathematics.py, wishes.py), and a sample of them built and measured.

Recomputed figures must agree to six digits. Measured ones must lie within 1 % or four standard deviations, taken
from the measured filters themselves; one beyond is measured again with four times as many filters of other seeds,
and only a second miss counts: 10^4 such checks cry wolf once in 25,000 runs. Seeds are fixed.

Usage: plans_test.py POSY [PLANS [MEASURED [SEED]]]: 60 and 8, or with POSY_LONG_TESTS=1 20,000 and 2,000.
"""
import json
import os
import random
import shlex
import sys
import tempfile

import counters
import family
import mathematics as maths
from audit import Audit
from draws import draw
from filters import measure
from measured import Tool
from wishes import (aim_of, alternative, better, counts_of, judged, keeps_budgets, layout_of, possible,
                    promised_rate, rate_in)


def command(wish, *more):
    return ["plan", *(part for option, value in wish.items() for part in (f"--{option}", value)), *more, "--json"]


NESTED = {"alternatives", "sealed", "growing", "map", "window", "counting"}
PLAN_FIELDS = NESTED | {
    "items", "bits", "hashes", "layout", "hash", "hash_collision_rate", "bits_per_item", "fill", "false_positive_rate", "memory_bytes", "file_bytes",
    "message_bits", "message_bits_per_item", "message_codec", "message_bytes", "frame_bytes", "delta_bits", "delta_bits_per_item", "delta_message_bytes", "delta_frame_bytes", "name"}


def check_figures(plan, share, audit, where, row=""):
    """Every figure of one plan against its own geometry."""
    where += row
    audit.only(row, plan, PLAN_FIELDS, where)
    n, m, k, layout = plan["items"], plan["bits"], plan["hashes"], plan["layout"]
    audit.true("shape", m % maths.granule(layout, k) == 0 and k in maths.hash_counts(layout),
               f"{m} bits, {k} hashes, {layout}", where)
    message, memory = maths.message_bits(layout, n, m, k), maths.array_bytes(m)
    truth = {"bits_per_item": m / n, "fill": maths.fill(layout, n, m, k), "memory_bytes": memory,
             "false_positive_rate": maths.with_collisions(maths.rate(layout, n, m, k), plan["hash"], n),
             "hash_collision_rate": maths.collisions(plan["hash"], n), "message_bits": message,
             "message_bits_per_item": message / n}
    if share is not None:
        delta = maths.delta_bits(layout, n, m, k, share)
        truth.update({"delta_bits": delta, "delta_bits_per_item": delta / n})
        check_coded(plan, "delta_", delta, audit, where)
    for figure, value in truth.items():
        audit.close(figure, plan[figure], value, where, 1e-9 if "_bits" in figure else 1e-300)
    audit.true("deltas are told when asked for", ("delta_bits" in plan) == (share is not None), str(share), where)
    check_coded(plan, "", message, audit, where)
    # The head of a raw array fills 64 bytes.
    audit.close("file_bytes", plan["file_bytes"], memory + 68, where)


def check_coded(plan, prefix, bits, audit, where):
    """The whole message: what is coded within 0.5 % and six bytes of its entropy, or raw with its padding; and a frame."""
    frame = plan[f"{prefix}frame_bytes"]
    payload, raw = plan[f"{prefix}message_bytes"] - frame, maths.array_bytes(plan["bits"])
    ideal = min(bits / 8, raw)
    audit.true(f"{prefix}message_bytes", ideal - 3 <= payload <= max(raw if frame == 68 else 0, 1.005 * ideal + 6)
               and payload + frame <= raw + 68, f"{payload} for {ideal}", where)
    audit.true(f"{prefix}frame_bytes", 20 <= frame <= (68 if payload == raw else 64), str(frame), where)


def check_choice(plan, wish, audit, where, row="", counts=None):
    """The wish is kept, and nothing better is possible."""
    m, k = plan["bits"], plan["hashes"]
    promised = promised_rate(wish)
    kept = keeps_budgets(wish, m, k) and (promised is None or plan["false_positive_rate"] <= promised * (1 + 1e-9))
    kept = kept and k in counts_of(wish) and (layout_of(wish), wish["items"]) == (plan["layout"], plan["items"])
    audit.true("wishes are kept", kept, str({field: plan[field] for field in plan.keys() - NESTED}), where + row)
    if kept and judged(wish):
        other = better(wish, plan, counts)
        audit.true(f"nothing better: {aim_of(wish)}", other is None, f"{describe(wish, k, m)}; but "
                   f"{other and describe(wish, *other)}", where + row)


def check_hash(plan, wish, audit, where):
    """fold64 if its collisions are at most a thousandth of the rate, and then they are no more of the plan's."""
    added = maths.collisions("fold64", plan["items"])
    rate = wish.get("fpr", plan["false_positive_rate"])
    small = added <= 1e-3 * rate
    audit.true("hash", (plan["hash"] == "fold64") == small or abs(added / (1e-3 * rate) - 1) < 0.01,
               f"{plan['hash']} for {plan['items']} items at {rate}", where)


def describe(wish, k, m):
    n, layout = wish["items"], layout_of(wish)
    return (f"{k} hashes in {m} bits have {rate_in(wish, m, k):.5g}, "
            f"{maths.message_bits(layout, n, m, k):.6g} bits")


def check_refusal(wish, audit, where, said):
    audit.note("plans refused")
    ways = list(possible(wish))
    audit.true("what is refused is impossible", not ways, f"{said.strip()}; but {ways} hashes will do", where)


def check_plan(tool, wish, rng, audit):
    """One plan and its comparison. Returns it, or None if it was refused."""
    arguments = command(wish)
    where = shlex.join(map(str, ["posy", *arguments]))
    status, stdout, stderr = tool.run(*arguments)
    if status != 0:
        check_refusal(wish, audit, where, stderr)
        return None
    plan, share = json.loads(stdout), wish.get("delta-fraction")
    check_figures(plan, share, audit, where)
    check_hash(plan, wish, audit, where)
    check_choice(plan, {**wish, "family": plan["hash"]}, audit, where)
    for other in plan.get("alternatives", []):
        audit.note("plans in comparisons")
        row = f"  [{other['name']}]"
        check_figures(other, share, audit, where, row)
        as_wish = alternative(other["name"], plan, share)
        if as_wish is None:
            audit.true("rows that nobody checks", False, other["name"], where)
        elif rng.random() < 0.25:
            check_choice(other, as_wish, audit, where, row)
    family.check_sealed(tool, plan, audit, where)
    family.check_growing(plan, audit, where)
    counters.check_rows(plan, audit, where, rng.random() < 0.01)
    return plan


def check_tradeoff(tool, wish, audit):
    """The best for each number of hashes, and none left out."""
    arguments = command(wish, "--tradeoff")
    where = shlex.join(map(str, ["posy", *arguments]))
    rows = json.loads(tool.out(*arguments))
    for plan in rows:
        audit.note("plans in tradeoffs")
        check_figures(plan, wish.get("delta-fraction"), audit, where, f"  [{plan['hashes']} hashes]")
        check_choice(plan, {**wish, "family": plan["hash"]}, audit, where, f"  [{plan['hashes']} hashes]",
                     [plan["hashes"]])
    missing = set(possible(wish)) - {plan["hashes"] for plan in rows}
    audit.true("tradeoff leaves nothing out", not missing, f"{sorted(missing)} hashes will do", where)


def main():
    long = os.environ.get("POSY_LONG_TESTS") == "1"
    plans, measured, seed = 60, 8, 1
    if long:
        plans, measured = 20_000, 2_000
    given = [int(a) for a in sys.argv[2:]]
    plans, measured, seed = (given + [plans, measured, seed][len(given):])
    rng, audit = random.Random(seed), Audit()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tool = Tool(os.path.abspath(sys.argv[1]), folder)
        to_measure = []
        for i in range(plans):
            wish = draw(rng)
            plan = check_plan(tool, wish, rng, audit)
            audit.note("plans")
            if plan and plan["items"] <= 20_000 and plan["bits"] <= 400_000:
                to_measure.append((plan, wish.get("delta-fraction")))
            if plan and i % 25 == 0:
                check_tradeoff(tool, wish, audit)
        for plan, share in to_measure[:measured]:
            measure(tool, plan, share, audit)
            audit.note("plans measured")
        for _ in range(100 if long else 1):
            family.check_window(tool, rng, audit)
            family.check_map(tool, rng, audit)
            family.check_sketch(tool, rng, audit)
            counters.check_built(tool, rng, audit)
    print(audit.table(with_places=long))
    print(audit.complaints() or "every figure is true")
    return 1 if audit.failures else 0


if __name__ == "__main__":
    sys.exit(main())
