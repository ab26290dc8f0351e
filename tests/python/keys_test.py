"""Every way a key comes in means the same bits; what is no key is refused with its place."""

import array

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import posy

TEXTS = ["", "a", "häßlich", "中文", "😀", "x" * 12, "y" * 13, "z" * 300, "user7"]
NUMBERS = [0, 1, 7, 100, 127]


def filled(keys, **options):
    made = posy.Filter(1000, 0.001)
    made.update(keys, **options)
    return made


def one_by_one(keys):
    made = posy.Filter(1000, 0.001)
    for key in keys:
        made.add(key)
    return made


class Number:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


def sliced(array):
    """The same array as a part of a longer one."""
    return pa.concat_arrays([array.slice(0, 2), array, array.slice(1, 1)]).slice(2, len(array))


@pytest.mark.parametrize("keys", [
    tuple(TEXTS), iter(TEXTS), (t for t in TEXTS), [t.encode() for t in TEXTS], [bytearray(t.encode()) for t in TEXTS],
    [memoryview(t.encode()) for t in TEXTS], [np.str_(t) for t in TEXTS], dict.fromkeys(TEXTS), set(TEXTS),
    np.array(TEXTS), np.array(TEXTS, dtype=">U300"), np.array(TEXTS, dtype=object), np.array([t.encode() for t in TEXTS]),
    np.array(TEXTS + TEXTS)[::-1][: len(TEXTS)], np.repeat(np.array(TEXTS), 2)[::2], np.array(TEXTS, dtype=np.dtypes.StringDType()),
    pa.array(TEXTS), pa.array(TEXTS, pa.large_string()), pa.array(TEXTS, pa.string_view()), pa.array([t.encode() for t in TEXTS]),
    pa.array([t.encode() for t in TEXTS], pa.binary_view()), pa.array([t.encode() for t in TEXTS], pa.large_binary()),
    pa.chunked_array([TEXTS[:3], TEXTS[3:3], TEXTS[3:]]), pa.array(TEXTS).dictionary_encode(), sliced(pa.array(TEXTS)),
    sliced(pa.array(TEXTS, pa.string_view())), sliced(pa.array(TEXTS).dictionary_encode()),
    pl.Series(TEXTS), pl.Series(TEXTS, dtype=pl.Categorical), pl.concat([pl.Series(TEXTS[:4]), pl.Series(TEXTS[4:])], rechunk=False),
    pd.Series(TEXTS), pd.Series(TEXTS, dtype=object), pd.Series(TEXTS, dtype="category"), pd.Series(TEXTS, dtype="string[pyarrow]"),
    pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())), pd.Index(TEXTS),
], ids=lambda keys: type(keys).__name__ + " " + str(getattr(keys, "dtype", getattr(keys, "type", ""))))
def test_texts(keys):
    assert filled(keys) == one_by_one(TEXTS)


@pytest.mark.parametrize("keys", [
    *(np.array(NUMBERS, dtype=order + kind) for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8") for order in "<>"),
    np.array(NUMBERS * 2)[::-1][:5], np.arange(10)[[0, 1, 7]].repeat(3)[::3].tolist() + [100, 127], array.array("q", NUMBERS),
    np.array(NUMBERS, dtype=object), [np.int16(n) for n in NUMBERS], [Number(n) for n in NUMBERS],
    *(pa.array(NUMBERS, t) for t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64())),
    pa.array(NUMBERS).dictionary_encode(), sliced(pa.array(NUMBERS)), pa.chunked_array([NUMBERS[:2], NUMBERS[2:]]),
    pl.Series(NUMBERS), pd.Series(NUMBERS), pd.Series(NUMBERS, dtype="Int64"), pd.Series(NUMBERS, dtype="uint16"),
], ids=lambda keys: type(keys).__name__ + " " + str(getattr(keys, "dtype", getattr(keys, "type", ""))))
def test_integers(keys):
    assert filled(keys) == one_by_one(NUMBERS)


def test_signs_and_widths():
    signed = np.array([-1, -5], dtype=np.int8)
    assert filled(signed) == one_by_one([-1, -5]) == one_by_one([2**64 - 1, 2**64 - 5]) == filled(pa.array([-1, -5], pa.int16()))
    assert filled(np.array([2**64 - 1], dtype=np.uint64)) == one_by_one([-1])
    assert one_by_one([7]) == one_by_one([(7).to_bytes(8, "little")])
    assert one_by_one([-(2**63), 2**64 - 1]).contains([2**63, -1]).all()


def test_fixed_width_bytes():
    column = pa.array([b"abc", b"x\0\0"], pa.binary(3))
    assert filled(column) == one_by_one([b"abc", b"x\0\0"])
    assert filled(np.array([b"abc", b"x"], dtype="S3")) == one_by_one([b"abc", b"x"])


def test_empty_batches():
    for nothing in ([], (), np.array([], dtype="i8"), np.array([], dtype="U3"), pa.array([], pa.string()), pa.chunked_array([], pa.int64()),
                    pl.Series([], dtype=pl.String), pd.Series([], dtype=object), iter(())):
        assert filled(nothing).insertions == 0
    assert filled([]).contains([]).tolist() == []


@pytest.mark.parametrize("column", [
    pa.array(["a", None, "b"]), pa.array(["a", None, "b"], pa.string_view()), pa.array(["a", None, "b"]).dictionary_encode(),
    pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"])), ["a", None, "b"], ["a", float("nan"), "b"],
    np.array(["a", None, "b"], dtype=object), pd.Series(["a", None, "b"]), pd.Series(["a", np.nan, "b"], dtype=object),
    pd.Series(["a", pd.NA, "b"], dtype="string"), pl.Series(["a", None, "b"]),
], ids=lambda keys: type(keys).__name__ + " " + str(getattr(keys, "dtype", getattr(keys, "type", ""))))
def test_nulls(column):
    mine = posy.Filter(10, 0.0001)
    with pytest.raises(TypeError, match="index 1.*|skip_nulls"):
        mine.update(column)
    assert filled(column, skip_nulls=True) == one_by_one(["a", "b"])
    assert filled(["a", "c"]).contains(column, skip_nulls=True).tolist() == [True, False, False]
    with pytest.raises(TypeError):
        mine.contains(column)


def test_nulls_of_integers_and_of_nothing():
    assert filled(pa.array([1, None, 3]), skip_nulls=True) == one_by_one([1, 3])
    assert filled(pd.Series([1, None, 3], dtype="Int64"), skip_nulls=True) == one_by_one([1, 3])
    assert filled(pa.nulls(3), skip_nulls=True).insertions == 0
    with pytest.raises(TypeError, match="index 0"):
        filled(pa.nulls(3))
    long = [None if i % 3 == 0 else i for i in range(30_000)]
    for column in (long, pa.array(long), pa.chunked_array([long[:7], long[7:]])):
        mine = posy.Filter(30_000, 1e-9)
        mine.update(column, skip_nulls=True)
        assert mine.contains(column, skip_nulls=True).tolist() == [key is not None for key in long]


@pytest.mark.parametrize("key, error, says", [
    (1.5, TypeError, "float"), (float("nan"), TypeError, "float"), (None, TypeError, "NoneType"), (True, TypeError, "bool"),
    (np.float32(1), TypeError, "float32"), (np.bool_(True), TypeError, "bool"), (np.datetime64("2020-01-01"), TypeError, "datetime64"),
    ((1, 2), TypeError, "tuple"), ([1], TypeError, "list"), (object(), TypeError, "object"), (2**64, OverflowError, "64 bits"),
    (-(2**63) - 1, OverflowError, "64 bits"), ("\ud800", ValueError, "surrogate"),
], ids=repr)
def test_no_keys(key, error, says):
    mine = posy.Filter(10, 0.1)
    for use in (lambda: mine.add(key), lambda: key in mine):
        with pytest.raises(error, match=says):
            use()
    with pytest.raises(error, match="index 2"):
        mine.update([1, 2, key])
    with pytest.raises(error, match="index 2"):
        mine.contains(["a", "b", key])


@pytest.mark.parametrize("batch, error, says", [
    (np.array([1.0]), TypeError, "floating-point"), (np.array([True]), TypeError, "bool"), (np.array([1j]), TypeError, "Zd"),
    (np.array(["2020"], dtype="M8[ns]"), TypeError, "datetime64"), (np.zeros((2, 2), int), ValueError, "one dimension"),
    (np.zeros(3, dtype=[("a", int), ("b", int)]), TypeError, "T{"), (pa.array([1.0]), TypeError, "floating-point"),
    (pa.array([True]), TypeError, "boolean"), (pa.array([[1]]), TypeError, "cast"), (pa.table({"a": [1]}), TypeError, "choose one"),
    (pa.array([0], pa.timestamp("us")), TypeError, "cast"), (pa.chunked_array([], pa.float64()), TypeError, "floating-point"),
    (pl.DataFrame({"a": [1]}), TypeError, "choose one"), (pd.Series([1.5]), TypeError, "floating-point"),
    (pd.Series(pd.to_datetime(["2020-01-01"])), TypeError, "time|date|Timestamp"), ("text", TypeError, "one key"), (b"bytes", TypeError, "one key"),
    (7, TypeError, "iterable"), (None, TypeError, "iterable"), (np.array(["\ud800"]), ValueError, "UTF-8"), (pa.Array, TypeError, "iterable"),
], ids=lambda value: type(value).__name__ + str(value)[:12])
def test_no_batches(batch, error, says):
    mine = posy.Filter(10, 0.1)
    with pytest.raises(error, match=says):
        mine.update(batch)
    with pytest.raises(error, match=says):
        mine.contains(batch)
    assert mine.insertions == 0


def test_arrow_without_pyarrow():
    """Any object with the methods of the Arrow C data interface will do, and what they return is checked."""

    class Broken:
        def __arrow_c_array__(self):
            return 1, 2

    class Wrong:
        def __arrow_c_stream__(self, requested_schema=None):
            return "no capsule"

    class Handed:
        def __arrow_c_array__(self):
            return pa.array(TEXTS).__arrow_c_array__()

    assert filled(Handed()) == one_by_one(TEXTS)
    for bad in (Broken(), Wrong()):
        with pytest.raises((TypeError, ValueError)):
            filled(bad)


def test_a_failing_iterator():
    def some():
        yield 1
        raise KeyError("gone")

    mine = posy.Filter(10, 0.1)
    with pytest.raises(KeyError):
        mine.update(some())


def test_a_list_that_shrinks():
    keys = [str(i) for i in range(100)]

    class Greedy:
        def __index__(self):
            keys.clear()
            return 7

    keys[50] = Greedy()
    mine = posy.Filter(100, 0.01)
    mine.update(keys)
    assert 7 in mine and "49" in mine and mine.insertions == 51
