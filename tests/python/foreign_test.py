"""Filters of other programs: copies, columns of Parquet files, options and files."""
import copy
import datetime
import decimal
import errno
import gzip
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import posy

KEYS = list(range(1000))
TYPES = {
    "i": (pa.int32(), int),
    "u": (pa.uint32(), int),
    "l": (pa.int64(), int),
    "f": (pa.float32(), float),
    "d": (pa.float64(), float),
    "s": (pa.string(), str),
}
EXACT = ("l", "s")  # where the filter of one row group says all
KEY = bytes(range(16))


@pytest.fixture(scope="module", params=[1, 4], ids=["one row group", "four row groups"])
def table(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.parquet"
    columns = {name: pa.array([as_key(key) for key in KEYS], of) for name, (of, as_key) in TYPES.items()}
    pq.write_table(pa.table(columns), path, row_group_size=len(KEYS) // request.param,
                   bloom_filter_options={name: {"ndv": len(KEYS), "fpp": 0.001} for name in TYPES})
    return path, request.param


def keys_of(name, numbers):
    return [TYPES[name][1](key) for key in numbers]


@pytest.mark.parametrize("name", TYPES)
def test_a_copy_of_a_column_says_the_same(table, name):
    path, _ = table
    column = posy.ForeignFilter.of_parquet_column(path, name)
    inside, outside = keys_of(name, KEYS), keys_of(name, range(1000, 4000))
    assert column.contains(inside).all()
    there = column.contains(outside)
    assert there.sum() < 200  # 12 expected at four row groups
    copies = [copy.copy(column), copy.deepcopy(column), pickle.loads(pickle.dumps(column)),
              pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(column))))]
    for one in copies:
        assert one == column and one.info() == column.info()
        assert one.contains(inside).all()
        assert (one.contains(outside) == there).all()


@pytest.mark.parametrize("name", TYPES)
def test_a_column_is_written_only_where_a_filter_says_all(table, name, tmp_path):
    path, groups = table
    column = posy.ForeignFilter.of_parquet_column(path, name)
    if groups == 1 and name in EXACT:
        column.save(tmp_path / "alone")
        assert posy.load(tmp_path / "alone").contains(keys_of(name, KEYS)).all()
        return
    for write in (column.to_bytes, lambda: column.to_bytes("parquet"), lambda: column.save(tmp_path / "alone")):
        with pytest.raises(posy.Error, match=f"the column {name} .*keep the Parquet file") as refused:
            write()
        assert refused.value.kind == "unsupported"
    assert not (tmp_path / "alone").exists()


def test_keys_of_another_type_are_refused(table):
    path, _ = table
    column = {name: posy.ForeignFilter.of_parquet_column(str(path), name) for name in TYPES}
    for ask in (lambda keys: column["l"].contains(keys), lambda keys: column["i"].contains(keys), lambda keys: column["u"].contains(keys)):
        for keys in (["1", "2"], pa.array(["1", "2"]), [b"12345678"]):
            with pytest.raises(TypeError, match=r"has integers \(INT\d+\), and the key is text or bytes"):
                ask(keys)
    with pytest.raises(TypeError, match=r"integers \(INT64\).*\(at index 1\)"):
        column["l"].contains([1, "2"])
    for ask in (lambda: 1 in column["s"], lambda: column["s"].contains([1]), lambda: column["s"].contains(np.arange(3))):
        with pytest.raises(TypeError, match=r"the column s has no integers \(BYTE_ARRAY\)"):
            ask()
    for keys in (["anna"], [b"x" * 8], [True], [None], [[1.0]], np.array(["2020-01-01"], "datetime64[ns]"),
                 pd.Series(pd.to_datetime(["2020-01-01"])), pa.array([datetime.date(2020, 1, 1)]), "1", b"1", 7):
        with pytest.raises(TypeError):
            column["d"].contains(keys)
    for key in ("anna", None, True, datetime.date(2020, 1, 1)):
        with pytest.raises(TypeError):
            key in column["f"]
    with pytest.raises(posy.Error, match="written with its rows"):
        column["s"].add("1")


@pytest.mark.parametrize("name", ["f", "d"])
def test_numbers_of_any_kind_are_asked_for(table, name):
    column = posy.ForeignFilter.of_parquet_column(table[0], name)
    for keys in (KEYS, np.arange(1000), np.arange(1000, dtype="int16"), np.arange(1000, dtype="float32"), np.arange(1000, dtype="float64"),
                 pa.array(KEYS), pa.chunked_array([pa.array(KEYS, pa.float64())]), pd.Series(KEYS), pl.Series(KEYS), map(float, KEYS),
                 [decimal.Decimal(key) for key in KEYS], [str(key) for key in KEYS]):
        assert column.contains(keys).all(), type(keys)
    assert 7 in column and 7.0 in column and np.float32(7) in column and -0.0 in column and float("nan") in column
    assert column.contains(np.arange(-1000, 0)).sum() < 60
    assert column.contains([1.5, None, float("nan")], skip_nulls=True).tolist()[1:] == [False, False]
    for keys in (pa.array([1.0, None, float("nan")]), pl.Series([1.0, None, float("nan")])):  # NaN is a number there
        assert column.contains(keys, skip_nulls=True).tolist() == [True, False, True]
    assert column.contains(np.array([1.0, float("nan")]), skip_nulls=True).all()
    assert column.contains(pd.Series([1.0, None]), skip_nulls=True).tolist() == [True, False]


def test_a_column_from_a_path_or_bytes(table, tmp_path):
    path, _ = table
    columns = [posy.ForeignFilter.of_parquet_column(source, "s") for source in (path, str(path), path.read_bytes(), memoryview(path.read_bytes()))]
    assert all(column == columns[0] for column in columns)
    with pytest.raises(FileNotFoundError):
        posy.ForeignFilter.of_parquet_column(tmp_path / "nothing", "s")
    (tmp_path / "empty").touch()
    for wrong in (tmp_path / "empty", tmp_path):
        with pytest.raises((posy.Error, OSError)):
            posy.ForeignFilter.of_parquet_column(wrong, "s")
    with pytest.raises(posy.Error, match="no column x; these have one"):
        posy.ForeignFilter.of_parquet_column(path, "x")
    with pytest.raises(TypeError):
        posy.ForeignFilter.of_parquet_column(5, "x")
    with pytest.raises(posy.Error, match="of_parquet_column"):
        posy.load(path)


def test_on_dask(table):
    dask_dataframe = pytest.importorskip("dask.dataframe")
    import dask

    import posy.dask

    frame = dask_dataframe.from_pandas(pd.DataFrame({"number": [1, 2, 5000, 3], "text": ["1", None, "no", "3"]}), npartitions=2)
    theirs = posy.ForeignFilter("bip158", 100, key=KEY)
    theirs.update(["1", "3"])
    with dask.config.set(scheduler="processes", num_workers=2):
        for name, column in (("i", "number"), ("d", "number"), ("s", "text")):
            answers = posy.dask.may_contain(posy.ForeignFilter.of_parquet_column(table[0], name), frame[column]).compute()
            assert list(answers) == ([True, False, False, True] if name == "s" else [True, True, False, True])
        assert list(posy.dask.may_contain(theirs, frame["text"]).compute()) == [True, False, False, True]


@pytest.mark.parametrize("options", [{"seed": 5}, {"jenkins": True}, {"key": KEY}])
@pytest.mark.parametrize("name", ["spark-v1", "spark-v2", "guava-64", "hadoop", "hadoop-dynamic", "bip158", "leveldb"])
def test_options_that_would_do_nothing_are_refused(name, options):
    needed = {"key": KEY} if name == "bip158" else {}
    has = {"spark-v2": "seed", "hadoop": "jenkins", "hadoop-dynamic": "jenkins", "bip158": "key"}
    if has.get(name) in options:
        assert posy.ForeignFilter(name, 100, **{**needed, **options}).format == name
        return
    with pytest.raises(posy.Error, match=f"the format {name} has no"):
        posy.ForeignFilter(name, 100, **{**needed, **options})


def test_a_key_is_bytes():
    for key in ("00" * 16, "key"):
        with pytest.raises(TypeError, match="key is 16 bytes, .* not str"):
            posy.ForeignFilter("bip158", 100, key=key)


def test_an_open_set_is_united_and_copied_open():
    a, b = posy.ForeignFilter("bip158", 100, key=KEY), posy.ForeignFilter("bip158", 100, key=KEY)
    a.add("a")
    b.add("b")
    both = a | b
    for one in (both.copy(), copy.copy(both), copy.deepcopy(both)):
        one.add("c")
        assert one.contains(["a", "b", "c", "d"]).tolist() == [True, True, True, False]
    assert both.contains(["a", "b", "c"]).tolist() == [True, True, False] and "b" not in a


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_set_keeps_its_key(duplicate):
    theirs = posy.ForeignFilter("bip158", 100, key=KEY)
    theirs.update(["a", "b"])
    read = posy.ForeignFilter.from_bytes(theirs.to_bytes(), "bip158", key=KEY)
    for one in (theirs, read, duplicate(read)):
        twin = duplicate(one)
        assert twin == one and twin.contains(["a", "b", "c"]).tolist() == [True, True, False]
    other = posy.ForeignFilter.from_bytes(theirs.to_bytes(), "bip158", key=bytes(16))
    assert other != read and not other.contains(["a", "b"]).any()


@pytest.mark.parametrize("name", ["spark-v1", "hadoop-counting", "leveldb", "dcso", "bip158"])
def test_files(name, tmp_path):
    options = {"key": KEY} if name == "bip158" else {}
    theirs = posy.ForeignFilter(name, 1000, 0.01, **options)
    theirs.update(map(str, range(500)))
    theirs.save(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == theirs.to_bytes()
    known = name not in ("leveldb", "bip158")
    for format in [name] + [None] * known:
        assert posy.ForeignFilter.load(str(tmp_path / "f"), format, **options) == theirs
    if known:
        assert posy.load(tmp_path / "f") == theirs
    with pytest.raises(FileNotFoundError):
        posy.ForeignFilter.load(tmp_path / "nothing")
    with pytest.raises(OSError):
        theirs.save(tmp_path / "no folder" / "f")
    assert theirs.bits == theirs.info()["bits"] and theirs.hashes == theirs.info()["hashes"]
    assert abs(theirs.items.value - 500) < 25  # half of the interval of 95 % is 8


def test_another_format_with_the_same_bits():
    counting, plain = (posy.ForeignFilter(name, 100) for name in ("hadoop-counting", "hadoop"))
    for one in (counting, plain):
        one.update(["a", "b"])
    assert counting.to_bytes("hadoop") == plain.to_bytes()
    with pytest.raises(posy.Error, match="other places"):
        plain.to_bytes("spark-v1")


def test_a_union_is_a_third_filter():
    a, b, both = (posy.ForeignFilter("spark-v2", 100, seed=3) for _ in range(3))
    a.add("a"), b.add("b"), both.update(["a", "b"])
    assert a | b == both and "b" not in a and "a" not in b
    with pytest.raises(posy.Error, match="cannot be united"):
        a | posy.ForeignFilter("spark-v2", 5000, seed=3)
    with pytest.raises(TypeError):
        a | posy.Filter(100)


def test_what_is_not_known_by_its_bytes(tmp_path):
    theirs = posy.ForeignFilter("leveldb", 1000)
    theirs.update(map(str, range(1000)))
    guava = posy.ForeignFilter("guava-64", 10_000)
    cases = [
        (theirs.to_bytes(), "damaged", r"ForeignFilter\.load\(path, \"leveldb\"\), or from_bytes\(data, \"leveldb\"\)"),
        (gzip.compress(guava.to_bytes()), "unsupported", "compressed by gzip; decompress it first"),
        (b"\x28\xb5\x2f\xfd and so on", "unsupported", "compressed by zstd"),
        (guava.to_bytes()[:1000], "damaged", f"format guava-64 with {len(guava.to_bytes())} bytes, of which 1000 are there"),
    ]
    for data, kind, said in cases:
        (tmp_path / "f").write_bytes(data)
        for read in (lambda: posy.from_bytes(data), lambda: posy.load(tmp_path / "f")):
            with pytest.raises(posy.Error, match=said) as refused:
                read()
            assert refused.value.kind == kind
    for data, _, said in cases[1:]:
        with pytest.raises(posy.Error, match=said):
            posy.ForeignFilter.from_bytes(data)
    with pytest.raises(posy.Error, match="name its format"):
        posy.ForeignFilter.from_bytes(b"some text")


def test_files_have_the_errors_of_files(tmp_path):
    theirs = posy.ForeignFilter("spark-v1", 10)
    with pytest.raises(FileNotFoundError) as wrong:
        theirs.save(tmp_path / "no" / "x")
    assert wrong.value.errno == errno.ENOENT and wrong.value.filename
    with pytest.raises(IsADirectoryError):
        posy.ForeignFilter.load(tmp_path)


def test_a_bool_is_no_number(tmp_path):
    table = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.0]}), table, bloom_filter_options={"x": {"ndv": 10, "fpp": 0.01}})
    column = posy.ForeignFilter.of_parquet_column(table, "x")
    for key in (True, np.True_):
        with pytest.raises(TypeError):
            key in column
    assert 1 in column and np.float32(2) in column
