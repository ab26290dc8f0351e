"""Random wishes: what users might ask of a plan, and some things that cannot be."""
import mathematics as maths
from wishes import layout_of

KINDS = ("rate", "rate", "bits", "bits", "message", "memory", "smallest message", "smallest delta", "delta")


def log_uniform(rng, low, high, digits):
    return round(10 ** rng.uniform(low, high), digits)


def draw_items(rng):
    """A third up to 20, a third up to a thousand, a third up to 10^9."""
    return rng.choice([rng.randint(1, 20), int(10 ** rng.uniform(0, 3)), int(10 ** rng.uniform(0, 9))])


def draw_sizes(rng, kind, wish):
    if kind in ("rate", "smallest message") and rng.random() < 0.9:
        wish["fpr"] = log_uniform(rng, -6, -0.2, 8)
    if kind == "smallest message":
        wish["minimize"] = "message"
    if kind == "bits":
        wish["bits-per-item"] = log_uniform(rng, -0.3, 2, 3)
    if kind == "message":
        wish["message-bits"] = log_uniform(rng, 0, 1.5, 3)
    if kind == "memory" or (kind in ("message", "smallest message") and rng.random() < 0.4):
        wish["max-memory"] = max(1, int(wish["items"] * 10 ** rng.uniform(-0.5, 1.3)))
        if kind == "memory" and rng.random() < 0.3:
            wish["fpr"] = log_uniform(rng, -4, -0.2, 6)
            if rng.random() < 0.5:
                wish["minimize"] = "rate"


def draw_delta(rng, kind, wish):
    if "delta" in kind or rng.random() < 0.15:
        wish["delta-fraction"] = log_uniform(rng, -3, 0, 4)
    if kind == "smallest delta":
        wish.update({"minimize": "delta", "fpr": log_uniform(rng, -4, -0.5, 6)})
    if kind == "delta":
        if rng.random() < 0.7:
            wish["delta-bits"] = log_uniform(rng, -1, 1.2, 3)
        other = rng.choice(["fpr", "bits-per-item", None, None])
        if other:
            wish[other] = round(rng.uniform(2, 20), 2) if other == "bits-per-item" else rng.choice([0.01, 0.2])


def draw(rng):
    """The options of a random plan."""
    wish, kind = {"items": draw_items(rng)}, rng.choice(KINDS)
    if rng.random() < 0.85:
        wish["layout"] = rng.choice(maths.LAYOUTS)
    draw_sizes(rng, kind, wish)
    draw_delta(rng, kind, wish)
    chance = rng.random()
    if chance < 0.25:
        wish["hashes"] = rng.choice(list(maths.hash_counts(layout_of(wish))))
    elif chance < 0.27:
        wish["hashes"] = rng.randint(1, 32)  # not every layout has so many
    elif chance < 0.35:
        wish["max-hashes"] = rng.randint(2, 12)
    return wish
