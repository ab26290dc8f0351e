"""What goes wrong on the way: nothing that was said is lost, and what cannot be is refused in words."""

import pickle
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import posy


def failing(keys):
    yield from keys
    raise RuntimeError("no more")


@pytest.mark.parametrize("count", [1, 4095, 4096, 4097, 9000])
def test_keys_before_a_failing_one_are_in(count):
    keys = [f"key{i}" for i in range(count)]
    for source, error in [(keys + [None], TypeError), ([*keys, 1.5], TypeError), (failing(keys), RuntimeError)]:
        f = posy.Filter(10_000, 1e-4)
        counts = posy.CountMin(1e-4)
        with pytest.raises(error):
            f.update(source)
        if isinstance(source, list):
            with pytest.raises(error):
                counts.update(source)
            assert (counts.estimate(keys) > 0).all()
        assert f.contains(keys).all()


LARGE = 100_000  # many pieces


def large_lists():
    texts = [f"key{i}" for i in range(LARGE)]
    mixed = [str(i) if i % 3 else i if i % 2 else f"schlüssel{i}" for i in range(LARGE)]
    return {"texts": texts, "tuple": tuple(texts), "numbers": list(range(LARGE)), "mixed": mixed}


@pytest.mark.parametrize("kind", large_lists())
def test_threads_change_nothing(kind):
    keys = large_lists()[kind]
    alone, helped = posy.Filter(LARGE, 0.01), posy.Filter(LARGE, 0.01)
    alone.update(keys, threads=1)
    helped.update(keys)
    assert alone == helped and alone.insertions == helped.insertions == LARGE
    # In order: about every other key is there.
    half = posy.Filter(LARGE, 1e-6)
    half.update(keys[::2])
    answers = half.contains(keys)
    assert (answers == half.contains(keys, threads=1)).all() and answers[::2].all()
    # 50,000 at 10^-6: more than 3 false positives come once in 5 million runs.
    assert answers[1::2].sum() <= 3
    counts, singly = posy.CountMin(1e-3, rule="plain"), posy.CountMin(1e-3, rule="plain")
    counts.update(keys)
    singly.update(iter(keys))
    assert counts == singly


def test_large_lists_skip_nulls():
    keys = [None if i % 7 == 0 else f"key{i}" for i in range(LARGE)]
    mine = posy.Filter(LARGE, 1e-9)
    mine.update(keys, skip_nulls=True)
    assert mine.contains(keys, skip_nulls=True).tolist() == [key is not None for key in keys]


@pytest.mark.parametrize("count", [32_767, 32_768, 36_864, 36_865, LARGE])
def test_large_lists_keep_the_keys_before_a_failing_one(count):
    keys = [f"key{i}" for i in range(count)]
    mine, counts = posy.Filter(LARGE, 1e-6), posy.CountMin(1e-3)
    for wrong in (None, 1.5):
        with pytest.raises(TypeError, match=f"index {count}"):
            mine.update([*keys, wrong, *keys])
        with pytest.raises(TypeError, match=f"index {count}"):
            counts.update([*keys, wrong, *keys])
        with pytest.raises(TypeError, match=f"index {count}"):
            mine.contains([*keys, wrong, *keys])
    assert mine.contains(keys).all() and mine.insertions == 2 * count and counts.total == 2 * count


def test_errors_of_large_lists_are_raised():
    sealed = posy.GrowingFilter(0.01)
    sealed.update(range(10))
    sealed.shrink()
    with pytest.raises(posy.Error):
        sealed.update([str(i) for i in range(LARGE)])


def test_an_interrupt_ends_an_endless_update():
    code = "import itertools, posy, sys; print('on', flush=True); posy.{}.update(itertools.repeat('x'))"
    for made in ("Filter(1000, 0.01)", "CountMin()", "HeavyHitters(top=3)"):
        running = subprocess.Popen([sys.executable, "-c", code.format(made)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert running.stdout.readline() == b"on\n"
        running.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in running.communicate(timeout=60)[1]


def test_a_handler_may_empty_the_list_that_is_read():
    keys = [f"key{i}" for i in range(2_000_000)]
    before = signal.signal(signal.SIGALRM, lambda *_: keys.clear())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        posy.Filter(2_000_000, 0.01).update(keys)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not keys


@pytest.mark.parametrize("kind", [posy.Filter, posy.CountingFilter, posy.SealedFilter, posy.Map, posy.CountMin, posy.GrowingFilter, posy.ForeignFilter])
def test_an_object_without_init_is_refused(kind):
    empty = kind.__new__(kind)
    with pytest.raises(TypeError, match="__init__"):
        pickle.dumps(empty)


@pytest.mark.parametrize("other", [posy.Filter(10, 0.1), posy.GrowingFilter(), posy.ForeignFilter("spark-v1", 10, 0.1)])
def test_nothing_is_united_with_an_object_without_init(other):
    empty = type(other).__new__(type(other))
    with pytest.raises(TypeError, match="__init__"):
        empty.__ior__(other)


def test_columns_in_disguise_are_refused():
    f = posy.Filter(100, 0.01)
    with pytest.raises(TypeError, match="compressed"):
        f.update(np.ma.array([1, 2, 3], mask=[0, 1, 0]))
    with pytest.raises(ValueError, match="one dimension"):
        f.update(np.array("hello", dtype=object))
    with pytest.raises(TypeError, match="as_py"):
        f.update(pa.scalar("hello"))
    with pytest.raises(TypeError, match="to_list"):
        f.update(pl.Series(["a"], dtype=pl.Object))
    with pytest.raises(TypeError, match="astype"):
        f.update(pd.Series(pd.period_range("2024", periods=2, freq="D")))
    assert f == posy.Filter(100, 0.01)


def test_a_file_that_is_larger_than_it_looks(tmp_path):
    large = posy.Filter(300_000_000, 0.01)
    large.save(tmp_path / "large", "smallest")
    with pytest.raises(posy.Error, match="limit"):
        posy.load(tmp_path / "large")
    assert posy.load(tmp_path / "large", max_bytes=2**30) == large


def test_more_behind_a_message_is_noticed(tmp_path):
    (tmp_path / "two").write_bytes(2 * posy.Filter(100, 0.01).to_bytes())
    for mapped in (True, False):
        with pytest.raises(posy.Error, match="more behind"):
            posy.load(tmp_path / "two", mmap=mapped)


@pytest.mark.parametrize("level", [0, 1, 2, -1, float("nan"), float("inf")])
def test_the_level_of_an_interval(level):
    f = posy.Filter(100, 0.01)
    with pytest.raises(posy.Error, match="between 0 and 1"):
        f.compare(f, level)


@pytest.mark.parametrize("call, name", [
    (lambda n: posy.Filter(n, 0.1), "items"), (lambda n: posy.Filter(10, 0.1, hashes=n), "hashes"),
    (lambda n: posy.Filter(10, 0.1).update([1], threads=n), "threads"), (lambda n: posy.Filter(10, 0.1).contains([1], threads=n), "threads"),
    (lambda n: posy.Filter(10, 0.1).fold(n), "divisor"), (lambda n: posy.CountingFilter(n), "items"),
    (lambda n: posy.SealedFilter(["a"], threads=n), "threads"), (lambda n: posy.Map({"a": 1}, value_bits=n), "value_bits"),
    (lambda n: posy.WindowFilter(n, 0.1, 60), "items"), (lambda n: posy.WindowFilter(10, 0.1, 60, generations=n), "generations"),
    (lambda n: posy.CountMin().add("a", n), "weight"), (lambda n: posy.HeavyHitters(n), "top"),
    (lambda n: posy.HeavyHitters(5).add("a", n), "weight"), (lambda n: posy.HeavyHitters(5).most_common(n), "n"),
    (lambda n: posy.ForeignFilter("dcso", n), "items"), (lambda n: posy.ForeignFilter("spark-v2", 10, seed=n), "seed"),
    (lambda n: posy.plan(n, rate=0.1), "items"), (lambda n: posy.plan(10, rate=0.1, max_hashes=n), "max_hashes"),
    (lambda n: posy.Publisher(posy.CountingFilter(10), now=n), "now"), (lambda n: posy.Subscriber().receive(b"", now=n), "now"),
    (lambda n: posy.from_bytes(posy.Filter(10, 0.1).to_bytes(), max_bytes=n), "max_bytes"),
])
def test_numbers_out_of_range_are_named(call, name):
    for number in (-1, 2**64, 10**5000):
        with pytest.raises(posy.Error, match=rf"^{name} is .*; it must be an int from 0 to 2\*\*(64|32) - 1$"):
            call(number)
    for no_number in ("7", 1.5):
        with pytest.raises(TypeError, match=rf"^{name} is an int from 0 to 2\*\*(64|32) - 1, not (str|float)$"):
            call(no_number)


def test_numbers_of_numpy_are_ints():
    assert posy.Filter(np.int64(100), 0.01).bits == posy.Filter(100, 0.01).bits


@pytest.mark.parametrize("values", [[5, -1], (5, -(2**63)), np.array([5, -1]), np.array([5, -1], dtype="int8"), pa.array([5, -1]),
                                    pa.array([5, -1]).dictionary_encode(), pd.Series([5, -1]), [np.int8(5), np.int8(-1)], [5, 2**64]])
def test_a_map_has_no_negative_values(values):
    with pytest.raises(OverflowError, match=r"a value of a map is an int from 0 to 2\*\*64 - 1 \(at index 1\)"):
        posy.Map(["a", "b"], values)


def test_a_map_has_large_values():
    large = [2**64 - 1, 2**63]
    for values in (large, np.array(large, dtype="uint64"), pa.array(large, pa.uint64())):
        assert posy.Map(["a", "b"], values, rate=1e-6)["a"] == 2**64 - 1


def test_a_mismatch_keeps_secrets():
    one, two = posy.Filter(100, 0.01, secret=True), posy.Filter(100, 0.01, secret=True)
    for change in (lambda: one | two, lambda: posy.Delta(one, two), lambda: one.compare(two)):
        with pytest.raises(posy.Error) as refused:
            change()
        text = str(refused.value)
        for seed in (one.seed, two.seed):
            assert str(seed) not in text and f"{seed:x}" not in text


def test_errors_without_utf_8_pass():
    """What the user's own code raises is left as it is, whatever its text."""

    def keys():
        yield "a"
        raise TypeError("\udce9")

    with pytest.raises(TypeError) as wrong:
        posy.Filter(10, 0.1).update(keys())
    assert str(wrong.value) == "\udce9"
