"""The other classes: what each promises, its messages, and bad input."""

import collections
import copy
import pickle
import random
import sys

import numpy as np
import pyarrow as pa
import pytest

import posy

WORDS = [f"word{i}" for i in range(2000)]


def messages_of(made):
    """The same object by way of bytes, of the smallest bytes and of pickle."""
    return [type(made).from_bytes(made.to_bytes()), posy.from_bytes(made.pack()), pickle.loads(pickle.dumps(made))]


def test_counting_filter_against_a_counter():
    source = random.Random(3)
    mine, truth = posy.CountingFilter(3000, 0.0001), collections.Counter()
    for _ in range(3000):
        key = source.choice(WORDS)
        if truth[key] and source.random() < 0.5:
            truth[key] -= 1
            mine.remove(key)
        else:
            truth[key] += 1
            mine.add(key)
    assert mine.items == truth.total()
    assert all(key in mine for key in truth if truth[key])
    gone = [key for key in WORDS if not truth[key]]
    # At 0.0001 and at most 2000 keys: more than 5 false positives come once in 10^8 runs.
    assert mine.contains(gone).sum() <= 5
    for twin in messages_of(mine):
        assert twin.items == mine.items and twin.filter() == mine.filter()
    for key in gone[:20]:
        if key not in mine:
            with pytest.raises(KeyError, match=key):
                mine.remove(key)
            assert not mine.discard(key)
    left = list(truth.elements())
    assert mine.discard_many(left).all() and mine.items == 0 and mine.rate == 0


def test_sealed_filter():
    mine = posy.SealedFilter(pa.array(WORDS), 0.001)
    assert mine.contains(WORDS).all() and mine.items == len(WORDS) and "word7" in mine
    others = [f"other{i}" for i in range(20_000)]
    # 20 expected; six standard deviations.
    assert mine.contains(others).sum() <= 20 + 6 * 4.5
    assert 8 * mine.nbytes / mine.items < 10.5
    for twin in messages_of(mine):
        assert twin.contains(WORDS).all() and twin.rate == mine.rate
    assert posy.SealedFilter([], 0.01).items == 0
    with pytest.raises(posy.Error, match="rate"):
        posy.SealedFilter(WORDS, 0)


def test_map():
    values = {word: i for i, word in enumerate(WORDS)}
    mine = posy.Map(values, rate=1e-6)
    found, there = mine.lookup(WORDS)
    assert found.tolist() == list(range(len(WORDS))) and there.all() and found.dtype == np.uint64
    assert mine["word7"] == 7 and mine.get("nobody") is None and mine.get("nobody", 5) == 5 and "nobody" not in mine
    with pytest.raises(KeyError):
        mine["nobody"]
    assert mine.hash == "xxh3"  # two keys of one digest could have no map
    assert posy.Map(pa.array(WORDS), np.arange(len(WORDS)), rate=1e-6)["word9"] == 9
    for twin in messages_of(mine):
        assert twin["word1999"] == 1999 and twin.value_bits == 11
    with pytest.raises(posy.Error, match="one value for each key"):
        posy.Map(["a", "b"], [1])
    with pytest.raises(posy.Error):
        posy.Map(["a", "a"], [1, 2])
    with pytest.raises(posy.Error):
        posy.Map({"a": 8}, value_bits=3)
    with pytest.raises(TypeError):
        posy.Map(["a", "b"])
    with pytest.raises(TypeError, match="index 0"):
        posy.Map({"a": "text"})


def test_count_min_is_never_too_low():
    source = np.random.default_rng(5)
    keys = source.zipf(1.3, 50_000) % 5000
    truth = collections.Counter(keys.tolist())
    for rule in ("plain", "conservative"):
        mine = posy.CountMin(0.001, 0.01, rule=rule)
        mine.update(keys)
        counts = mine.estimate(list(truth))
        exact = np.array(list(truth.values()))
        assert (counts >= exact).all() and mine.total == len(keys)
        # A share of 0.01 may be further away.
        assert (counts > exact + mine.error_bound).mean() <= 0.01
        for twin in messages_of(mine):
            assert twin == mine
    parts = [posy.CountMin(0.001, 0.01, rule="plain") for _ in range(2)]
    for part, half in zip(parts, np.split(keys, 2)):
        part.update(half)
    parts[0] += parts[1]
    whole = posy.CountMin(0.001, 0.01, rule="plain")
    whole.update(keys)
    assert parts[0] == whole and whole.add("new", 5) == 5 and whole["new"] == 5
    with pytest.raises(posy.Error):
        parts[0] += posy.CountMin(0.01, 0.01)
    with pytest.raises(posy.Error):
        posy.CountMin(0, 0.01)


def test_heavy_hitters():
    stream = ["a"] * 500 + ["b"] * 300 + [f"rare{i}" for i in range(1000)]
    random.Random(1).shuffle(stream)
    top, above = posy.HeavyHitters(top=50), posy.HeavyHitters(share=0.1)
    for mine in (top, above):
        mine.update(stream)
        assert mine["a"] >= 500 and mine.total == 1800
    assert [key for key, _ in top.most_common(2)] == ["a", "b"]
    assert dict(above.most_common()).keys() == {"a", "b"}
    assert sys.getsizeof(top) > sys.getsizeof(posy.HeavyHitters(top=50)) + 50 * 64 > posy.CountMin(1e-4, 0.01).width * 8
    for twin in messages_of(top):
        assert twin.most_common(2) == top.most_common(2)
    numbers = posy.HeavyHitters(top=10)
    numbers.update(pa.array([7, 7, -3]))
    numbers.add(b"\xff", 9)
    assert numbers.most_common() == [(b"\xff", 9), ("7", 2), ("-3", 1)]
    for arguments in ({}, {"top": 1, "share": 0.1}):
        with pytest.raises(posy.Error, match="either"):
            posy.HeavyHitters(**arguments)


def test_distinct_counter():
    mine = posy.DistinctCounter()
    mine.update(list(range(100)) * 3)
    assert mine.count.value == 100
    mine.update(np.arange(50_000))
    # Six standard errors of 3.25 %.
    assert abs(mine.count.value - 50_000) < 6 * 0.0325 * 50_000


@pytest.mark.parametrize("sizes", [(50, 60), (100, 100), (100, 5000), (5000, 5000)])
def test_distinct_counters_of_parts(sizes):
    parts = [posy.DistinctCounter(seed=7), posy.DistinctCounter(seed=7)]
    whole = posy.DistinctCounter(seed=7)
    for number, (part, size) in enumerate(zip(parts, sizes)):
        keys = [f"key{i}" for i in range(40 * number, 40 * number + size)]
        part.update(keys)
        whole.update(keys)
    one, other = (pickle.loads(pickle.dumps(part)) for part in parts)
    assert repr((one | other).count) == repr(whole.count) and repr(one.count) == repr(parts[0].count)
    one |= other
    assert repr(one.count) == repr(whole.count) == repr(copy.deepcopy(one).count) and one.seed == 7
    for stranger in (posy.DistinctCounter(), posy.DistinctCounter(secret=True)):
        with pytest.raises(posy.Error, match="do not unite"):
            one |= stranger


def test_unions_leave_both_sides():
    def growing(key):
        made = posy.GrowingFilter(0.01)
        made.add(key)
        return made

    def counts(key):
        made = posy.CountMin(0.01, 0.01, rule="plain")
        made.add(key)
        return made

    a, b = growing("a"), growing("b")
    assert (a | b).contains(["a", "b"]).all() and "b" not in a and "a" not in b
    a, b = counts("a"), counts("b")
    both = a + b
    assert (both["a"], both["b"], a.total, b.total) == (1, 1, 1, 1) and both == b + a
    with pytest.raises(TypeError):
        a + 1
    with pytest.raises(posy.Error):
        a + posy.CountMin(0.1, 0.01, rule="plain")


def test_objects_say_what_they_are():
    plain = posy.Filter(1000, 0.01)
    plain.add("a")
    news = posy.Publisher(posy.CountingFilter(10))
    there = posy.Subscriber()
    assert repr(posy.WindowFilter(100, 0.01, window=60)).startswith("<posy.WindowFilter: 60 s in 8 generations, ")
    assert repr(posy.CompressedFilter(plain)).startswith("<posy.CompressedFilter: small, ")
    assert repr(posy.Delta(plain.empty_copy(), plain, 7)) == f"<posy.Delta: {plain.hashes} of {plain.bits} bits change, from generation 7>"
    assert repr(there) == "<posy.Subscriber: needs a whole filter>"
    there.receive(news.answer(), now=1)
    assert repr(news) == "<posy.Publisher: generation 1>" and repr(there) == "<posy.Subscriber: generation 1>"
    assert repr(posy.Reconciliation(["a", "b"])) == "<posy.Reconciliation: 2 keys, not done>"
    assert repr(plain & plain).endswith("blocked, an intersection>")


def test_growing_filter():
    mine = posy.GrowingFilter(0.01)
    mine.update(np.arange(100_000))
    assert mine.contains(np.arange(100_000)).all() and mine.insertions == 100_000
    assert mine.contains(np.arange(100_000, 200_000)).mean() <= 0.011
    mine.shrink()
    assert mine.contains(np.arange(100_000)).all() and 9 < mine.bits / 100_000 < 12
    with pytest.raises(posy.Error):
        mine.add(1)
    for twin in messages_of(mine):
        assert twin.contains(np.arange(100_000)).all()


def test_window_filter():
    mine = posy.WindowFilter(1000, 0.001, window=60, generations=6)
    assert mine.add("a", 100) and mine.seen("a", 160) and not mine.seen("a", 171)
    assert mine.update(["b", "c"], 1000.5)
    assert mine.seen_many(["a", "b", "c"], time=1010).tolist() == [False, True, True]
    assert not mine.add("late", 100) and not mine.update(["late"], 100)
    assert mine.items(1010) == 2 and mine.rate(1010) < 0.001
    for twin in messages_of(mine):
        assert twin.seen("b", 1010)
    for time in (-1, float("nan"), 1e300):
        with pytest.raises(posy.Error, match="seconds"):
            mine.add("x", time)


def test_compressed_filter():
    plain = posy.Filter(2000, 0.01)
    plain.update(WORDS[:200])
    for form in ("small", "fast", "list"):
        mine = posy.CompressedFilter(plain, form)
        assert mine.contains(WORDS).tolist() == plain.contains(WORDS).tolist() and mine.unpack() == plain
        assert mine.rate == pytest.approx(plain.rate)
        for twin in messages_of(mine):
            assert twin.unpack() == plain


def test_delta(tmp_path):
    old = posy.Filter(1000, 0.01)
    old.update(WORDS[:500])
    new = old.copy()
    new.update(WORDS[500:600])
    change = posy.from_bytes(posy.Delta(old, new, base_generation=7).to_bytes())
    assert change.base_generation == 7 and change.changed_bits > 0
    with pytest.raises(posy.Error):
        change.apply_to(new.empty_copy())
    change.save(tmp_path / "change.posy")
    for twin in (*messages_of(change), posy.load(tmp_path / "change.posy"), posy.Delta.load(tmp_path / "change.posy")):
        assert twin == change
    assert len(change.to_bytes()) == len(change.pack())
    change.apply_to(old)
    assert old == new


def test_publisher_and_subscriber():
    here, there = posy.Publisher(posy.CountingFilter(1000, 0.001)), posy.Subscriber()
    assert there.filter is None and there.wants and there.edition is None
    here.add("a")
    here.publish(now=1)
    assert there.receive(here.answer(there.edition), now=1) == "replaced" and "a" in there.filter
    for i in range(100):
        here.add(i)
    assert here.due(now=2)
    here.publish(now=2)
    update = here.answer(there.edition)
    assert there.receive(update, now=3) == "updated" and there.receive(update, now=3) in ("duplicate", "gap")
    assert here.answer(there.edition) is None and 99 in there.filter and there.edition[0] == here.generation
    assert here.discard("a") and not here.discard("nobody")
    assert there.receive(b"rubbish", now=4) == "damaged" and "POSY" in there.complaint
    assert "a" in there.filter


def talk(a, b):
    while not (a.done and b.done):
        sent = False
        for sender, receiver in (a, b), (b, a):
            while (message := sender.send()) is not None:
                sent = True
                receiver.receive(message)
        assert sent


@pytest.mark.parametrize("method", ["exact", "filter", "tree"])
def test_reconciliation(method):
    mine, theirs = WORDS[:1990] + ["ä"], WORDS[5:]
    a, b = posy.Reconciliation(mine, asks=True, method=method), posy.Reconciliation(theirs)
    talk(a, b)
    if method == "exact":
        assert set(a.only_here) == set(WORDS[:5]) | {"ä"} and set(a.only_there) == set(WORDS[1990:])
        assert a.missing == 10 and sum(a.traffic) < 2000
    # The others may miss some, and invent none.
    assert set(a.only_here) <= set(mine) - set(theirs) and set(a.only_there) <= set(theirs) - set(mine)


def test_reconciliation_of_bad_input():
    with pytest.raises(TypeError, match="index 1"):
        posy.Reconciliation(["a", 7])
    b = posy.Reconciliation(["a"])
    with pytest.raises(posy.Error):
        b.receive(posy.Filter(10, 0.1).to_bytes())
    with pytest.raises(posy.Error):
        b.receive(b"rubbish")
    with pytest.raises(posy.Error, match="nothing has been received"):
        b.only_here


@pytest.mark.parametrize("name", ["spark-v1", "spark-v2", "guava-32", "guava-64", "hadoop", "parquet", "redis", "dcso"])
def test_foreign_filters(name):
    mine = posy.ForeignFilter(name, 2000, 0.01)
    mine.update(pa.array(WORDS[:1000]))
    twin = posy.from_bytes(mine.to_bytes())
    assert isinstance(twin, posy.ForeignFilter) and twin.format == name == mine.info()["format"]
    assert twin.contains(WORDS[:1000]).all() and twin.rate == pytest.approx(mine.rate)
    # 10 expected at most, as many as planned; six standard deviations.
    assert twin.contains(WORDS[1000:]).sum() <= 10 + 6 * 3.2
    assert pickle.loads(pickle.dumps(mine)).to_bytes() == mine.to_bytes()
    with pytest.raises(posy.Error):
        posy.ForeignFilter.from_bytes(mine.to_bytes()[:5])


def test_foreign_bad_input():
    with pytest.raises(posy.Error, match="format"):
        posy.ForeignFilter("sparkle", 10, 0.1)
    with pytest.raises(posy.Error, match="16 bytes"):
        posy.ForeignFilter("bip158", 10, 0.1, key=b"short")
    a = posy.ForeignFilter("spark-v1", 10, 0.1)
    with pytest.raises(posy.Error):
        a |= posy.ForeignFilter("guava-64", 10, 0.1)
    with pytest.raises(TypeError):
        a.add(1.5)


def test_plan():
    best = posy.plan(1_000_000, rate=0.001)
    made = best.filter(seed=5)
    assert (made.bits, made.hashes, made.layout) == (best.bits, best.hashes, best.layout) and made.planned == (best.items, best.rate)
    assert best.rate <= 0.001 and best.alternatives and best.sealed[0].message_bits < best.message_bits
    assert [p.hashes for p in best.tradeoff()] == sorted(p.hashes for p in best.tradeoff())
    assert posy.plan(1000, bits_per_item=8, layout="spread").bits == 8000
    for wishes in ({"rate": 2}, {"rate": 0.01, "max_memory": 10}, {"layout": "round"}, {"minimize": "fun"}):
        with pytest.raises(posy.Error):
            posy.plan(1000, **wishes)
    with pytest.raises(TypeError):
        posy.plan(1000, colour="red")
    with pytest.raises(AttributeError):
        best.colour


def test_plan_is_drawn():
    import matplotlib

    matplotlib.use("Agg")
    ax = posy.plan(100_000, rate=0.01).plot()
    curve, point = ax.lines
    assert point.get_xdata()[0] == 100_000
    # The planned point lies on the curve.
    xs, ys = np.asarray(curve.get_xdata(), float), np.asarray(curve.get_ydata(), float)
    assert np.exp(np.interp(np.log(100_000), np.log(xs), np.log(ys))) == pytest.approx(point.get_ydata()[0], rel=0.1)
    assert np.all(np.diff(ys) > 0)


def test_theory():
    n, m, k = 1000, 10_000, 7
    assert posy.theory.false_positive_rate(n, m, k) == pytest.approx((1 - np.exp(-k * n / m)) ** k)
    assert posy.theory.zero_probability(n, m, k) == pytest.approx((1 - 1 / m) ** (k * n))
    assert posy.theory.lower_bound_bits(n, 0.01) == pytest.approx(n * np.log2(100))
    assert posy.theory.count_min_error([0.0] * 5, 100, 4) == pytest.approx(0, abs=1e-9)
