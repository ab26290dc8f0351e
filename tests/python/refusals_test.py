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
