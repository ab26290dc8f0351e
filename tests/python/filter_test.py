"""posy.Filter against set(): every layout, every way in; no false negatives, and about as many false positives as promised."""

import copy
import math
import pickle
import random
import sys
import threading

import numpy as np
import pytest

import posy

LAYOUTS = ["blocked", "paired", "spread", "sliced", "narrow"]


def random_key(source):
    kind = source.randrange(4)
    if kind == 0:
        return source.randrange(-(2**63), 2**64)
    if kind == 1:
        return source.randbytes(source.randrange(20))
    return "".join(chr(source.choice([65 + source.randrange(26), 0xE4, 0x4E2D, 0x1F600])) for _ in range(source.randrange(12)))


def canonical(key):
    """What makes two keys the same: their bytes."""
    if isinstance(key, int):
        return (key % 2**64).to_bytes(8, "little")
    return key.encode() if isinstance(key, str) else bytes(key)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(3))
def test_behaves_like_a_set(layout, seed):
    source = random.Random(seed)
    mine = posy.Filter(3000, 0.001, layout=layout, seed=seed)
    truth = set()
    for _ in range(200):
        step = source.randrange(3)
        keys = [random_key(source) for _ in range(source.randrange(10))]
        truth.update(map(canonical, keys))
        if step == 0:
            for key in keys:
                mine.add(key)
        elif step == 1:
            mine.update(keys)
        else:
            other = mine.empty_copy()
            other.update(iter(keys))
            mine |= other
    asked = [random_key(source) for _ in range(2000)]
    answers = mine.contains(asked)
    assert [key in mine for key in asked] == answers.tolist()
    assert all(key in mine for key in truth)
    # 2000 keys at 0.001: more than 17 false positives come about once in 10^10 runs.
    assert sum(answers[i] and canonical(key) not in truth for i, key in enumerate(asked)) <= 17
    # The interval of 95 % is widened threefold: 5.9 standard deviations.
    estimate = mine.items
    assert abs(len(truth) - estimate.value) <= 3 * max(estimate.high - estimate.value, estimate.value - estimate.low) + 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rate_is_the_planned_one(layout):
    count, asked = 20_000, 200_000
    mine = posy.Filter(count, 0.01, layout=layout)
    mine.update(np.arange(count))
    found = int(mine.contains(np.arange(count, count + asked)).sum())
    # Six standard deviations: once in 5 * 10^8 runs.
    assert abs(found - asked * mine.rate) <= 6 * math.sqrt(asked * mine.rate)
    assert mine.rate == pytest.approx(mine.planned[1], rel=0.1)


def test_algebra():
    a, b = posy.Filter(1000, 0.01), posy.Filter(1000, 0.01)
    a.update(range(600))
    b.update(range(400, 1000))
    both = posy.Filter(1000, 0.01)
    both.update(range(1000))
    assert (a | b) == both and a != b and a != "a filter"
    common = a & b
    assert common.contains(range(400, 600)).all() and common.insertions is None
    assert 200 in a.compare(b).intersection
    a_before = a.copy()
    same = a
    a |= b
    assert a is same and a == both and a_before != a
    a &= a
    assert a == both
    with pytest.raises(posy.Error, match="differ in bits"):
        a | posy.Filter(10, 0.1)
    with pytest.raises(TypeError):
        a | {1, 2}
    with pytest.raises(TypeError):
        hash(a)
    with pytest.raises(TypeError):
        len(a)
    assert both.fold(both.bits // 512).bits == 512


def test_copies_are_equal_and_apart():
    mine = posy.Filter(1000, 0.01, secret=True)
    mine.update(["a", "b"])
    for twin in (copy.copy(mine), copy.deepcopy(mine), mine.copy(), pickle.loads(pickle.dumps(mine)), posy.from_bytes(mine.pack())):
        assert twin == mine and twin.insertions == 2 and twin.seed == mine.seed
        twin.add("c")
        assert twin != mine
    assert sys.getsizeof(mine) >= mine.bits // 8
    assert mine.empty_copy().insertions == 0
    mine.clear()
    assert "a" not in mine and mine.info()["insertions"] == 0


def test_bad_shapes():
    for arguments, keywords in [((0, 0.1), {}), ((10, 0), {}), ((10, 2), {}), ((10, float("nan")), {}), ((2**50, 0.01), {}),
                                ((10, 0.1), {"layout": "round"}), ((10, 0.1), {"hashes": 99}), ((10, 0.1), {"hashes": 0}),
                                ((10, 0.1), {"hash": "sha"}), ((10, 0.1), {"hash": "md5", "seed": 7}),
                                ((10, 0.1), {"secret": True, "seed": 7})]:
        with pytest.raises(posy.Error):
            posy.Filter(*arguments, **keywords)
    for seed in (-1, 2**128):
        with pytest.raises(OverflowError):
            posy.Filter(10, 0.1, seed=seed)
    with pytest.raises(TypeError):
        posy.Filter(10, 0.1, seed="x")
    with pytest.raises(posy.Error):
        posy.Filter(-1, 0.1)
    assert posy.Filter(10, 0.1, hash="siphash", seed=2**127 + 5).seed == 2**127 + 5


def test_objects_without_init_are_refused():
    blank = posy.Filter.__new__(posy.Filter)
    for use in (lambda: 1 in blank, lambda: blank.add(1)):
        with pytest.raises(TypeError, match="not initialised"):
            use()
    with pytest.warns(RuntimeWarning), pytest.raises(TypeError):
        blank.bits


def test_many_threads_lose_nothing():
    """Changes from several threads wait for each other; lookups meanwhile find what was inserted before."""
    mine = posy.Filter(400_000, 0.001)
    mine.add("before")
    columns = [np.arange(t * 50_000, (t + 1) * 50_000) for t in range(8)]
    failures = []

    def work(column):
        mine.update(column[:25_000])
        mine.update(column[25_000:40_000].tolist())
        for key in column[40_000:].tolist():
            mine.add(key)
        if "before" not in mine or not mine.contains(column).all():
            failures.append(column[0])

    threads = [threading.Thread(target=work, args=(column,)) for column in columns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and mine.insertions == 400_001
    alone = mine.empty_copy()
    alone.add("before")
    alone.update(np.concatenate(columns), threads=4)
    assert alone == mine
