"""posy.dask, by processes."""
import numpy as np
import pytest

pytest.importorskip("dask.dataframe", reason="posy.dask is tested where Dask is installed")

import dask
import dask.bag
import dask.dataframe
import pandas

import posy
import posy.dask


@pytest.fixture(autouse=True)
def by_processes():
    with dask.config.set(scheduler="processes", num_workers=2):
        yield


def on_one_machine(keys):
    made = posy.Filter(20_000, 0.01)
    made.update(keys)
    return made


def test_a_column(tmp_path):
    table = pandas.DataFrame({"number": np.arange(20_000), "name": [f"user{i}" for i in range(20_000)]})
    frame = dask.dataframe.from_pandas(table, npartitions=20)
    assert posy.dask.build(frame["number"], items=20_000) == on_one_machine(table.number.to_numpy())
    assert posy.dask.build(frame["name"], items=20_000) == on_one_machine(list(table.name))


def test_missing_values_are_no_keys():
    table = pandas.DataFrame({"name": ["a", None, "b", "c"]})
    frame = dask.dataframe.from_pandas(table, npartitions=2)
    made = posy.dask.build(frame["name"], items=20_000)
    assert made == on_one_machine(["a", "b", "c"])
    answers = posy.dask.may_contain(on_one_machine(["a", "c"]), frame["name"]).compute()
    assert list(answers) == [True, False, False, True]


def test_a_bag():
    words = [f"word{i}" for i in range(1_000)]
    assert posy.dask.build(dask.bag.from_sequence(words, npartitions=9), items=20_000) == on_one_machine(words)
    holes = dask.bag.from_sequence(["a", None, "b", float("nan")], npartitions=2)
    assert posy.dask.build(holes, items=20_000) == on_one_machine(["a", "b"])


def test_a_whole_frame_is_refused():
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"a": [1]}), npartitions=1)
    with pytest.raises(posy.Error, match="frame\\['column'\\]"):
        posy.dask.build(frame, items=1)
