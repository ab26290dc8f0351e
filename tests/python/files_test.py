"""Files and bytes: shared with the tool, damaged, missing, mapped."""

import errno
import os
import pathlib
import pickle
import threading

import numpy as np
import pytest

import posy

KEYS = [f"user{i}" for i in range(1000)] + ["häßlich", ""]


@pytest.fixture
def mine():
    made = posy.Filter(1000, 0.001)
    made.update(KEYS)
    return made


def test_the_tool_reads_ours(mine, tool, tmp_path):
    mine.save(tmp_path / "ours.posy")
    assert tool("query", tmp_path / "ours.posy", input="user7\nhäßlich\nnobody\n") == "user7\nhäßlich\n"
    (tmp_path / "packed.posy").write_bytes(mine.pack())
    assert tool("query", tmp_path / "packed.posy", input="user7\nnobody\n") == "user7\n"
    numbers = posy.Filter(1000, 0.001)
    numbers.update(np.arange(-5, 5))
    numbers.save(tmp_path / "numbers.posy", "smallest")
    assert tool("query", "--integers", tmp_path / "numbers.posy", input="-5\n4\n77\n") == "-5\n4\n"


def test_we_read_the_tools(tool, tmp_path):
    path = tmp_path / "theirs.posy"
    lines = "\n".join(KEYS[:-1]) + "\n"
    tool("build", "--fpr", "0.001", "-o", path, "-", input=lines)
    theirs = posy.load(path)
    assert theirs.contains(KEYS[:-1]).all() and theirs.insertions == len(KEYS) - 1
    # Built of the same shape, it has the same bits.
    again = theirs.empty_copy()
    again.update(KEYS[:-1])
    assert again == theirs
    tool("build", "--fpr", "0.001", "--integers", "-o", path, "-", input="1\n-2\n18446744073709551615\n")
    assert posy.load(path).contains([1, -2, 2**64 - 1, -1]).all() and 5 not in posy.load(path)


def test_other_kinds_of_the_tools(tool, tmp_path):
    lines = "\n".join(KEYS[:-1]) + "\n"
    tool("seal", "--fpr", "0.01", "-o", tmp_path / "sealed.posy", "-", input=lines)
    sealed = posy.load(tmp_path / "sealed.posy")
    assert isinstance(sealed, posy.SealedFilter) and sealed.contains(KEYS[:-1]).all()
    tool("build", "--format", "spark-v1", "--items", "1100", "--fpr", "0.01", "-o", tmp_path / "spark", "-", input=lines)
    spark = posy.load(tmp_path / "spark")
    assert isinstance(spark, posy.ForeignFilter) and spark.contains(KEYS[:-1]).all()


def test_mapped_and_read(mine, tmp_path):
    path = tmp_path / "a.posy"
    for coding in ("raw", "fastest", "smallest"):
        mine.save(path, coding)
        before = path.read_bytes()
        for mmap in (True, False):
            for load in (posy.load, posy.Filter.load):
                loaded = load(path, mmap=mmap)
                assert loaded == mine
                loaded.add("more")  # stays in memory
        assert path.read_bytes() == before
    mine.save(str(path))
    assert posy.load(str(path)) == mine


def test_errors_of_files(mine, tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        posy.load(tmp_path / "nothing")
    assert missing.value.filename == str(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError) as missing:
        mine.save(tmp_path / "no folder" / "a.posy")
    assert missing.value.filename == str(tmp_path / "no folder" / "a.posy") and missing.value.errno == errno.ENOENT
    for call in (lambda: posy.load(tmp_path), lambda: posy.load(tmp_path, mmap=False), lambda: posy.Filter.load(tmp_path), lambda: mine.save(tmp_path)):
        with pytest.raises(IsADirectoryError) as folder:
            call()
        assert folder.value.filename == str(tmp_path) and folder.value.errno == errno.EISDIR
    with pytest.raises(posy.Error, match="kind sealed"):
        posy.SealedFilter(["a"]).save(tmp_path / "s.posy")
        posy.Filter.load(tmp_path / "s.posy")
    with pytest.raises(posy.Error, match="coding"):
        mine.save(tmp_path / "a.posy", "tiny")
    assert not (tmp_path / "a.posy").exists()
    with pytest.raises(TypeError):
        posy.load(5)


def test_damaged_bytes(mine):
    good = mine.pack()
    for size in range(0, len(good), 97):
        with pytest.raises(posy.Error):
            posy.from_bytes(good[:size])
    for at in range(0, len(good), 31):
        bad = bytearray(good)
        bad[at] ^= 0x41
        try:
            assert posy.from_bytes(bad) == mine
        except posy.Error as error:
            assert error.kind in ("damaged", "invalid", "too large", "unsupported", "mismatch")
    with pytest.raises(posy.Error) as more:
        posy.from_bytes(good + b"x")
    assert more.value.offset == len(good)
    for no_bytes in ("text", 5, None):
        with pytest.raises(TypeError):
            posy.from_bytes(no_bytes)
    assert posy.from_bytes(memoryview(good)) == mine


def test_every_reader_can_raise_the_limit(tmp_path):
    """What posy wrote can be larger in memory than is believed of it; the error says which argument believes it."""
    path = tmp_path / "sparse.posy"
    sparse = posy.Filter(80_000_000, 0.01)
    sparse.update(range(1000))
    sparse.save(path, "smallest")
    packed = sparse.pack()
    for read, source in ((posy.load, path), (posy.Filter.load, path), (posy.from_bytes, packed), (posy.Filter.from_bytes, packed)):
        with pytest.raises(posy.Error, match=r"above the limit of \d+; raise it if you trust the sender \(max_bytes=\)") as refused:
            read(source)
        assert refused.value.kind == "too large"
        assert read(source, max_bytes=2**28) == sparse
    small = posy.CompressedFilter(sparse)
    small.save(path)
    assert posy.CompressedFilter.load(path, max_bytes=2**28) == small == pickle.loads(pickle.dumps(small))


def test_golden_messages():
    """Every golden message is read as the class of its kind, or refused as one that Python has no class for."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "testdata"
    seen = set()
    for path in sorted(folder.rglob("*.posy")):
        try:
            seen.add(type(posy.load(path)).__name__)
        except posy.Error as error:
            seen.add(error.kind)
    assert {"Filter", "CountingFilter", "SealedFilter"} <= seen


def through_a_pipe(path, data, load):
    """What load(path) returns while another thread writes into the pipe."""
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[data])
    writer.start()
    try:
        return load(path)
    finally:
        writer.join()
        path.unlink()


def test_pipes_are_read_once(mine, tmp_path):
    pipe = tmp_path / "pipe"
    for data in (mine.to_bytes(), mine.pack()):
        for load in (posy.load, posy.Filter.load, lambda path: posy.load(path, mmap=False)):
            assert through_a_pipe(pipe, data, load) == mine
    large = posy.Filter(1_000_000, 0.01)  # more than a pipe holds
    assert through_a_pipe(pipe, large.to_bytes(), posy.load) == large
    theirs = posy.ForeignFilter("dcso", 100, 0.01)
    assert through_a_pipe(pipe, theirs.to_bytes(), posy.load) == theirs
    for data in (b"", b"rubbish", mine.to_bytes()[:-1], mine.to_bytes() + b"x"):
        with pytest.raises(posy.Error):
            through_a_pipe(pipe, data, posy.load)
    with pytest.raises(posy.Error, match="dev/null"):
        posy.Filter.load("/dev/null")


def test_equal_objects_are_equal():
    """By value, for all that has bytes; and none of them is a key of a dict, because they change."""

    def window(key):
        made = posy.WindowFilter(100, 0.01, window=60)
        made.add(key, time=1)
        return made

    def with_key(made, key):
        made.add(key)
        return made

    makes = [
        lambda key: with_key(posy.Filter(100, 0.01), key), lambda key: with_key(posy.CountingFilter(100, 0.01), key),
        lambda key: with_key(posy.GrowingFilter(0.01), key), window, lambda key: with_key(posy.CountMin(0.01, 0.01), key),
        lambda key: with_key(posy.HeavyHitters(5), key), lambda key: posy.SealedFilter([key]), lambda key: posy.Map({key: 1}, rate=1e-6),
        lambda key: with_key(posy.ForeignFilter("spark-v1", 100, 0.01), key),
        lambda key: posy.Delta(posy.Filter(100, 0.01), with_key(posy.Filter(100, 0.01), key)),
    ]
    for make in makes:
        one, same, other = make("a"), make("a"), make("b")
        assert one == same and not one != same and one != other and one != "a", type(one)
        assert one == one
        with pytest.raises(TypeError, match="unhashable"):
            hash(one)
    assert posy.ForeignFilter("spark-v1", 100, 0.01) != posy.Filter(100, 0.01)
