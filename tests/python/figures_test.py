"""Estimates and comparisons: numbers with intervals, which travel and are written as numbers are."""

import copy
import json
import math
import pickle
import statistics

import numpy as np
import pandas as pd
import pytest

import posy


@pytest.fixture
def seen():
    made = posy.Filter(3000, 0.01)
    made.update(range(2000))
    return made


def test_an_estimate_is_a_number(seen):
    items = seen.items
    assert isinstance(items, float) and items == items.value == float(items) and items in items
    assert items.low < items < items.high and 2000 in items and 1000 not in items
    assert items + 1 == items.value + 1 and round(items) == round(items.value) and int(items) == math.floor(items.value)
    assert f"{items:.0f}" == f"{items.value:.0f}" and f"{items}" == str(items.value) and repr(items) == str(items)
    assert statistics.mean([items, items]) == items and posy.Estimate.fromhex("0x1p3") == 8
    table = pd.DataFrame({"x": [1.0, 9e9]})
    table["n"] = items  # a number, and no sequence of three
    assert (table["n"] == items).all() and table["x"].clip(upper=items).max() == items
    assert np.array([items, items]).dtype == float and pd.DataFrame({"items": [items]})["items"].dtype == float


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_figures_travel(seen, protocol):
    def travelled(value):
        return pickle.loads(pickle.dumps(value, protocol))

    for twin in (travelled(seen.items), copy.copy(seen.items), copy.deepcopy(seen.items)):
        assert type(twin) is posy.Estimate and repr(twin) == repr(seen.items)
    about = seen.compare(seen)
    if protocol >= 2:  # what has slots needs it
        assert repr(travelled(about)) == repr(about) and repr(travelled(about).union) == repr(about.union)
    assert repr(copy.deepcopy(about)) == repr(about)
    assert travelled(seen.info()) == seen.info() == copy.deepcopy(seen.info())


def test_info_is_json(seen):
    told = json.loads(json.dumps(seen.info()))
    assert told["items"] == seen.items.value and told["bits"] == seen.bits
