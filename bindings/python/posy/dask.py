"""Posy on Dask: the filter of a column, or of a bag, made partition by partition and united in a tree.

    from posy import dask

    seen = dask.build(frame["customer"], rate=0.01, items=10_000_000)
    frame[dask.may_contain(seen, frame["customer"])]

Whatever scheduler is at work runs it. The bits are those of one posy.Filter that all keys were added to.
"""
from __future__ import annotations

import functools
import operator
from typing import Any

import dask

import posy

FAN = 8  # filters that one task unites


def build(keys: Any, rate: float = 0.01, *, items: int, **options: Any) -> posy.Filter:
    """The filter of a Series of dask.dataframe, or of a dask.bag. Missing values are no keys.

    `items` is the number of different keys; `keys.nunique_approx()` estimates it. Options are those of posy.Filter.
    """
    if not hasattr(keys, "to_delayed") or getattr(keys, "ndim", 1) != 1:
        raise posy.Error(f"keys are a column of dask.dataframe or a dask.bag, not {type(keys).__name__}; for a frame, give frame['column']")
    first = posy.Filter(items, rate, **options)  # a secret seed is drawn once
    options.pop("secret", None)
    options.update(hash=first.hash, seed=first.seed)
    fill, unite = dask.delayed(_filled, pure=True), dask.delayed(_united, pure=True)
    parts = [fill(part, items, rate, options) for part in keys.to_delayed()]
    while len(parts) > 1:
        parts = [unite(parts[first : first + FAN]) for first in range(0, len(parts), FAN)]
    return _read(dask.compute(parts[0])[0])


def may_contain(filter: Any, keys: Any) -> Any:
    """Whether each key of a Series may be in the set, as a Series of bool; not so where a value is missing."""
    # Of another program's filter the bytes alone do not always tell all; its pickle does.
    shipped = filter if isinstance(filter, posy.ForeignFilter) else filter.pack()
    return keys.map_partitions(_answers, dask.delayed(shipped), meta=(None, bool))


def _filled(part: Any, items: int, rate: float, options: dict[str, Any]) -> bytes:
    made = posy.Filter(items, rate, **options)
    made.update(part, skip_nulls=True)
    return made.pack()


def _read(message: bytes) -> Any:
    return posy.from_bytes(message, max_bytes=2**40)  # our own tasks wrote it


def _united(parts: list[bytes]) -> bytes:
    return functools.reduce(operator.ior, map(_read, parts)).pack()


def _answers(keys: Any, shipped: Any) -> Any:
    there = keys.notna()
    answers = there.astype(bool).copy()
    filter = shipped if isinstance(shipped, posy.ForeignFilter) else _read(shipped)
    answers[there] = filter.contains(keys[there])
    return answers
