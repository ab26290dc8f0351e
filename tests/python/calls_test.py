"""Calls with the wrong arguments name the argument; signatures and completion are there."""

import inspect
import io

import pandas as pd
import polars as pl
import pytest

import posy
import posy.planning
from posy import _core


@pytest.fixture
def seen():
    made = posy.Filter(100, 0.001)
    made.update(["anna", "bert"])
    return made


@pytest.mark.parametrize("call, says", [
    (lambda f: posy.plan(1000, rate=0.01, foo=2), r"plan\(\) got an unexpected keyword argument 'foo'"),
    (lambda f: posy.plan(10, rate="0.01"), "rate is a float or None, not str"),
    (lambda f: posy.Filter(10, "0.01"), "rate is a float, not str"),
    (lambda f: posy.Filter(10, None), "rate is a float, not NoneType"),
    (lambda f: posy.Filter(10, foo=2), r"Filter\(\) got an unexpected keyword argument 'foo'; it takes items, rate, layout"),
    (lambda f: posy.Filter(), r"Filter\(\) missing a required argument: 'items'"),
    (lambda f: posy.load(io.BytesIO()), "path is a str or os.PathLike, not BytesIO"),
    (lambda f: posy.Filter.load(3), "path is a str or os.PathLike, not int"),
    (lambda f: posy.from_bytes(None), "message must not be None"),
    (lambda f: f.update([1], skip_null=True), r"update\(\) got an unexpected keyword argument 'skip_null'; it takes keys, skip_nulls, threads"),
    (lambda f: f.contains([1], skip_nulls="yes"), "skip_nulls is a bool, not str"),
    (lambda f: f.contains([1], 3), "too many positional arguments"),
    (lambda f: f.compare([1]), "other is a posy.Filter, not list"),
    (lambda f: f.save("x", coding=3), "coding is a str, not int"),
    (lambda f: posy.CompressedFilter([1]), "filter is a posy.Filter, not list"),
    (lambda f: posy.theory.spread_rate("a", 1, 1), "n is a float, not str"),
    (lambda f: posy.Subscriber(3), "it takes no arguments"),
])
def test_the_argument_is_named(seen, call, says):
    with pytest.raises(TypeError, match=says) as refused:
        call(seen)
    assert "incompatible" not in str(refused.value)


def test_operators_leave_it_to_python(seen):
    with pytest.raises(TypeError, match="unsupported operand"):
        seen | 3
    assert seen != 3


def test_errors_of_keys_stay(seen):
    class Failing:
        def __index__(self):
            raise TypeError("(): incompatible function arguments. Not nanobind's")

    with pytest.raises(TypeError, match="a key is a str, bytes or an int, not float"):
        seen.update([1.5])
    with pytest.raises(TypeError, match="a key is"):
        seen.update([Failing()])


def test_expressions_of_polars_and_masks_of_pandas(seen):
    frame = pl.DataFrame({"name": ["anna", "carl"]})
    asked = frame.select(pl.col("name").map_batches(seen.contains, return_dtype=pl.Boolean))
    assert asked["name"].to_list() == [True, False]
    table = pd.DataFrame({"name": ["anna", "carl"]})
    assert table[seen.contains(table["name"])].name.tolist() == ["anna"]


def test_floats_of_pandas(seen):
    column = pd.Series([1, 2, None])
    with pytest.raises(TypeError, match=r"astype\(\"Int64\"\)"):
        seen.update(column, skip_nulls=True)
    seen.update(column.astype("Int64"), skip_nulls=True)
    assert 1 in seen and 2 in seen


def test_signatures_of_classes():
    for name in posy.__all__:
        member = getattr(posy, name)
        if inspect.isclass(member) and name not in ("Error", "Plan"):
            assert "self" not in inspect.signature(member).parameters, name
    takes = inspect.signature(posy.Filter).parameters
    assert list(takes)[:3] == ["items", "rate", "layout"] and takes["rate"].default == 0.01
    wishes = _core._Wishes.__init__.__doc__
    assert all(f"{wish}: " in wishes for wish in inspect.signature(posy.plan).parameters)
    assert wishes.splitlines()[0].count(": ") == len(inspect.signature(posy.plan).parameters)


def test_a_plan_shows_its_figures():
    best = posy.plan(1000, rate=0.01)
    figures = {name for name, member in vars(_core.Plan).items() if isinstance(member, property)}
    assert figures <= set(dir(best))
    assert figures == set(posy.planning.Advice.__annotations__)
