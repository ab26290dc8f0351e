"""Lists that change while they are read, columns inside columns, and columns that mean something else than they hold."""

import decimal
import threading
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import posy


def filled(keys, **options):
    made = posy.Filter(1000, 1e-6)
    made.update(keys, **options)
    return made


class Changing:
    """A key, the int 1, that changes its list when it is read; another thread does it if that is wanted."""

    def __init__(self, change, thread):
        self.change, self.thread = change, thread

    def __index__(self):
        if self.thread:
            other = threading.Thread(target=self.change)
            other.start()
            other.join()
        else:
            self.change()
        return 1


def looked_up():
    """Every way to look up a list, by its name."""
    counting, growing, counts = posy.CountingFilter(10), posy.GrowingFilter(), posy.CountMin()
    window = posy.WindowFilter(10, 0.1, 60)
    foreign, compressed = posy.ForeignFilter("guava-64", 10), posy.CompressedFilter(posy.Filter(10, 0.1))
    return {
        "Filter": posy.Filter(10, 0.1).contains, "one thread": lambda keys: posy.Filter(10, 0.1).contains(keys, threads=1),
        "SealedFilter": posy.SealedFilter([1]).contains, "Map": posy.Map({1: 1}).lookup, "CountMin": counts.estimate,
        "CountingFilter": counting.contains, "discard_many": counting.discard_many, "GrowingFilter": growing.contains,
        "WindowFilter": lambda keys: window.seen_many(keys, 0), "ForeignFilter": foreign.contains, "CompressedFilter": compressed.contains,
        "skip_nulls": lambda keys: posy.Filter(10, 0.1).contains(keys, skip_nulls=True),
    }


@pytest.mark.parametrize("thread", [False, True], ids=["same thread", "other thread"])
@pytest.mark.parametrize("size", [10, 5000, 100_000])
@pytest.mark.parametrize("way", looked_up())
def test_a_list_that_changes_its_length_gets_no_answers(way, size, thread):
    for says, change in [("shrank", lambda: keys.__delitem__(slice(3, None))), ("shrank", lambda: keys.clear()),
                         ("grew", lambda: keys.extend([1, None, "x"] if way == "skip_nulls" else [1, 2, "x"]))]:
        keys = [1] * size
        keys[2] = Changing(change, thread)
        with pytest.raises(posy.Error, match=f"the list {says} while it was read .it had {size} keys"):
            looked_up()[way](keys)


def dictionary(indices, values, of=pa.int8()):
    return pa.DictionaryArray.from_arrays(pa.array(indices, of), values, safe=False)


@pytest.mark.parametrize("column, keys", [
    (dictionary([0, 1], dictionary([1, 0], pa.array(["aa", "bb"]), pa.int32())), ["aa", "bb"]),
    (dictionary([0, 1, 2], dictionary([1, 0, 2], pa.array([5, 6, -7]))), [5, 6, -7]),
    (dictionary([0, 1, 0], dictionary([1, 0], dictionary([1, 0], pa.array(["aa", "b" * 20], pa.string_view())))), ["aa", "b" * 20]),
    (pa.chunked_array([dictionary([0], dictionary([0], pa.array(["a"]))), dictionary([0], dictionary([0], pa.array(["b"])))]), ["a", "b"]),
    (dictionary([], dictionary([], pa.array([], pa.string()))), []), (dictionary([], pa.array([], pa.int64())), []),
])
def test_dictionaries_of_dictionaries(column, keys):
    assert filled(column) == filled(keys)
    assert filled(keys).contains(column).all()


@pytest.mark.parametrize("column, keys", [
    (dictionary([0, 1, None], dictionary([1, None], pa.array(["aa", "bb"]))), ["bb"]),
    (dictionary([0, 1, 2], dictionary([1, 0, 1], pa.array([None, 6]))), [6, 6]),
    (dictionary([0, 1], pa.nulls(2)), []), (dictionary([None, None], pa.array([], pa.string())), []),
])
def test_nulls_in_dictionaries_of_dictionaries(column, keys):
    assert filled(column, skip_nulls=True) == filled(keys)
    with pytest.raises(TypeError, match="a null is no key"):
        filled(column)


@pytest.mark.parametrize("column", [
    dictionary([0, 5], pa.array(["a", "b"])), dictionary([0, -1], pa.array(["a", "b"])), dictionary([None, 2], pa.array(["a", "b"])),
    dictionary([0, 0], pa.array([], pa.int64())), dictionary([0, 0], dictionary([0, 5], pa.array(["a"]))),
])
def test_an_index_that_names_no_value(column):
    seen = posy.Filter(100, 0.01)
    for use in (seen.update, seen.contains):
        with pytest.raises(ValueError, match="names the value -?[0-9]+, and its dictionary has [0-9]+ values"):
            use(column, skip_nulls=True)
    assert seen.insertions == 0


@pytest.mark.parametrize("column", [
    dictionary([0], pa.array([1.5])), dictionary([0], pa.array([True])), dictionary([0], dictionary([0], pa.array([1.5]))),
    dictionary([0], pa.RunEndEncodedArray.from_arrays([1], ["a"])), pa.RunEndEncodedArray.from_arrays([2], dictionary([0], pa.array(["a"]))),
    pa.chunked_array([], pa.dictionary(pa.int8(), pa.float64())),
])
def test_dictionaries_of_what_is_no_key(column):
    with pytest.raises(TypeError):
        filled(column)


class Marked(np.ma.MaskedArray):
    pass


def test_arrays_with_a_mask_by_any_name():
    for keys in (Marked([1, 99], mask=[0, 1]), np.ma.array([1, 99], mask=[0, 1]), np.ma.array(["a", "b"], mask=[0, 1]),
                 Marked(["a", 1], mask=[0, 1], dtype=object)):
        with pytest.raises(TypeError, match="compressed"):
            filled(keys)
    assert filled(pd.array([1, 99], dtype="Int64")) == filled([1, 99])


@pytest.mark.parametrize("count", [3, 40_000])
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("step", [1, -2])
def test_an_array_with_a_surrogate_is_refused_whole(count, order, step):
    bad = count // 2
    texts = [f"{i} ä€😀" for i in range(count)]
    keys = np.array(texts)[::step].copy() if step == 1 else np.array(texts)[::step]
    place = bad if step == 1 else bad // 2
    keys[place] = "x\ud800"
    keys = keys.astype(order + keys.dtype.str[1:])
    for threads in (1, 2):
        seen = posy.Filter(3_000_000, 0.01)
        with pytest.raises(ValueError, match=rf"surrogate.*\(at index {place}\); give bytes"):
            seen.update(keys, threads=threads)
        assert seen.insertions == 0 and not seen.contains(texts).any()
        with pytest.raises(ValueError, match=f"at index {place}"):
            seen.contains(keys, threads=threads)


def test_a_surrogate_is_one_error_in_every_container():
    texts = ["a", "b", "x\ud800"]
    said = set()
    for keys in (texts, tuple(texts), dict.fromkeys(texts), np.array(texts), np.array(texts, dtype=object)):
        for made in (posy.Filter(10, 0.1), posy.CountMin(), posy.HeavyHitters(5), posy.ForeignFilter("guava-64", 10)):
            with pytest.raises(ValueError) as refused:
                made.update(keys)
            said.add((type(refused.value), str(refused.value)))
    assert len(said) == 1 and "(at index 2); give bytes" in str(said)


def extension(name, storage):
    """A column of an extension type that pyarrow does not know."""

    class Column:
        def __arrow_c_array__(self, requested_schema=None):
            field = pa.field("", storage.type, metadata={"other": "x" * 7, "ARROW:extension:name": name, "ARROW:extension:metadata": ""})
            return field.__arrow_c_schema__(), storage.__arrow_c_array__()[1]

    return Column()


@pytest.mark.parametrize("column, says", [
    (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8())), "booleans are no keys"),
    (pa.chunked_array([], pa.bool8()), "booleans are no keys"),
    (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([uuid.UUID(int=1).bytes], pa.binary(16))), "arrow.uuid; cast it"),
    (pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((2, 2), "int64")), "arrow.fixed_shape_tensor"),
    (pa.array(pd.period_range("2024", periods=2, freq="D")), "pandas.period"),
    (extension("my.money", pa.array([1, 2])), "my.money"), (extension("my.money", pa.array(["a"]).dictionary_encode()), "my.money"),
    (pd.Series([True], dtype=pd.ArrowDtype(pa.bool8())), "booleans are no keys"),
])
def test_extension_types_are_no_keys(column, says):
    with pytest.raises(TypeError, match=says):
        filled(column)


def test_extension_types_that_are_their_storage():
    texts = ['{"a": 1}', "[]"]
    assert filled(pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts))) == filled(texts)
    field = pa.field("", pa.string(), metadata={"what": "ARROW:extension:name"})

    class Described:
        def __arrow_c_array__(self, requested_schema=None):
            return field.__arrow_c_schema__(), pa.array(texts).__arrow_c_array__()[1]

    assert filled(Described()) == filled(texts)


@pytest.mark.parametrize("column", [
    pd.Series([1, None, 2], dtype=pd.CategoricalDtype([1, 2])), pd.Categorical([1, None, 2]), pd.CategoricalIndex([1, None, 2]),
    [1, np.float32("nan"), 2], [1, np.float16("nan"), 2], [1, pd.NaT, 2], [1, np.datetime64("NaT"), 2], [1, decimal.Decimal("nan"), 2],
    pd.Series([1, pd.NaT, 2], dtype=object), np.array([1, np.float32("nan"), 2], dtype=object), (1, pd.NA, 2), iter([1, np.float64("nan"), 2]),
], ids=lambda keys: type(keys).__name__ + " " + str(getattr(keys, "dtype", "")))
def test_missing_values_of_every_type(column):
    if not hasattr(column, "__next__"):
        with pytest.raises(TypeError):
            filled(column)
        assert filled([1, 2]).contains(column, skip_nulls=True).tolist() == [True, False, True]
    assert filled(column, skip_nulls=True) == filled([1, 2])


@pytest.mark.parametrize("key", [1.5, np.float32(1), np.array([float("nan")]), (float("nan"),), [None], pd.Timestamp(0), np.array(1.5), decimal.Decimal(1),
                                 pl.col("a"), object()], ids=repr)
def test_what_is_there_and_no_key_is_not_left_out(key):
    with pytest.raises(TypeError, match="index 1"):
        filled([1, key], skip_nulls=True)


def test_categories():
    for kind in (pd.Series, pd.Categorical, pd.CategoricalIndex):
        assert filled(kind(["a", "b", "a"], dtype="category")) == filled(["a", "b", "a"])
        assert filled(kind([1, 2, 1], dtype="category")) == filled([1, 2, 1])
        assert filled(kind(["a", None, "b"], dtype="category"), skip_nulls=True) == filled(["a", "b"])


class Own(pd.Series):
    pass


def test_columns_of_derived_classes():
    assert filled(Own(["a", 2, b"c"], dtype=object)) == filled(["a", 2, b"c"])
    assert filled(Own([1, 2])) == filled([1, 2])
    assert filled(Own(["a", None]), skip_nulls=True) == filled(["a"])


def test_a_frame_without_rows_yet():
    with pytest.raises(TypeError, match=r"collect\(\)"):
        filled(pl.LazyFrame({"a": [1]}))
