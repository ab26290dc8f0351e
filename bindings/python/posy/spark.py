"""Posy on Spark: filters and sketches of a column, made where its partitions are.

    from posy import spark

    seen = spark.build(orders, "customer", rate=0.01)          # a posy.Filter, on the driver
    customers.where(spark.may_contain(seen, "id"))             # rows that may have ordered
    spark.join(customers, orders, "id")                        # the same join, with most rows left out before it
    spark.join_size(customers, orders, "id")                   # how many rows it will have

A task reads its partitions as Arrow batches, fills a filter or sketch of its own, and passes it on coded. These parts are
united in a tree of tasks. A part that is made again, because a worker was lost or a task was started twice, has the same bits;
so has the result. (Not so heavy hitters: their counts depend on the order of the rows, within the same bounds.)

Keys are columns of text, binary or integers of any width: 5 as an integer and as a long is one key. NULL is no key, as in a
join. Text that Spark compares by a collation is refused, but not by may_contain, which cannot see it: give it
collate(column, 'UTF8_BINARY'). Needs Spark 4.1 or later (not through Spark Connect, which has no broadcast), and posy, pyarrow
and numpy on every worker.
"""
from __future__ import annotations

import functools
import math
import operator
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import functions as F
from pyspark.sql import types as T

import posy

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A row of Spark, and so a part of a filter, has at most 2 GiB.
MOST_BYTES = 2**31 - 2**20
# Parts that one task unites, about, and that the driver takes at once.
FAN = 8
# Bytes of a key that may be frequent, with what is kept of it; about.
_CANDIDATE = 128
# What the driver takes at once, unless the application says otherwise. Spark ends a job that brings more.
_RESULT_SIZE = "spark.driver.maxResultSize"

_PART = T.StructType([T.StructField("part", T.BinaryType(), False)])
_KEYS = (T.StringType, T.BinaryType, T.ByteType, T.ShortType, T.IntegerType, T.LongType)


def build(
    df: DataFrame,
    column: str | Column,
    rate: float = 0.01,
    *,
    items: int | None = None,
    tasks: int | None = None,
    **options: Any,
) -> posy.Filter:
    """The filter of a column.

    `items` is the number of different keys; unless given, Spark counts them first, within 1 %, which is one more pass over the
    data. `tasks` is how many filters are filled at once: as many as there are cores, unless given. Further options are those of
    posy.Filter: layout, hashes, seed. The bits are those of one posy.Filter that all keys were added to.
    """
    keys = _keys(df, column)
    if items is None:
        items = _different(keys)
    make = _maker(posy.Filter, items, rate, **options)
    if tasks is None and make().bits > 2**23:  # small parts are cheap to send; large ones had better be few
        tasks = _cores(df)
    return _made(keys, make, tasks, "split the keys by a hash, and build a filter for each part")


def count(
    df: DataFrame, column: str | Column, epsilon: float = 1e-5, delta: float = 0.01, *, tasks: int | None = None, **options: Any
) -> posy.CountMin:
    """The Count-Min sketch of a column: how often each key occurs, at most epsilon times the rows too high.

    Counted by the plain rule, so that it does not depend on how the rows lie on partitions. Options are those of posy.CountMin.
    """
    make = _maker(posy.CountMin, epsilon, delta, rule="plain", **options)
    return _made(_keys(df, column), make, tasks or _cores(df), "take a larger epsilon")


def heavy_hitters(df: DataFrame, column: str | Column, top: int = 100, *, tasks: int | None = None, **options: Any) -> posy.HeavyHitters:
    """The most frequent keys of a column, and how often they occur: `most_common(top)` of the result.

    A part keeps eight times as many, because a key may be less frequent in it. Options are those of posy.HeavyHitters.
    """
    make = _maker(posy.HeavyHitters, top=8 * top, **options)
    return _made(_keys(df, column), make, tasks or _cores(df), "take a larger epsilon or a smaller top", 8 * top * _CANDIDATE)


def may_contain(filter: posy.Filter | posy.SealedFilter | posy.ForeignFilter, column: str | Column) -> Column:
    """Whether a key may be in the set: a boolean column, NULL where the key is. The filter is sent to every worker once.

    Text is compared by its bytes: give it collate(column, 'UTF8_BINARY') of a column with a collation.
    Any filter that posy reads serves, one of Spark's own among them (`from_spark`).
    """
    shared = SparkContext.getOrCreate().broadcast(filter)

    @F.arrow_udf("boolean")
    def ask(keys: pa.Array) -> pa.Array:
        return _answers(shared.value, keys)

    return ask(column)


def prefilter(
    df: DataFrame, other: DataFrame, on: str | tuple[str, str], rate: float = 0.01, *, items: int | None = None
) -> DataFrame:
    """The rows of `df` whose key may be in `other`: what a join can use, and a share of about `rate` of the rest.

    `on` is the key's column, or a pair of them: that of `df`, and that of `other`.
    """
    mine, theirs = _columns(on)
    _check_kinds(df, mine, other, theirs)
    return df.where(may_contain(build(other, theirs, rate, items=items), mine))


def join(
    df: DataFrame,
    other: DataFrame,
    on: str | tuple[str, str],
    how: str = "inner",
    rate: float = 0.01,
    *,
    items: int | None = None,
) -> DataFrame:
    """The rows of a join, of which most of the rows of `df` without a partner are left out before they are shuffled.

    It pays where `df` is large and few of its rows match. `how` is inner, leftsemi or right, the joins that have no row for
    keys of `df` alone.
    """
    kinds = {"inner": "inner", "leftsemi": "leftsemi", "semi": "leftsemi", "right": "right", "rightouter": "right"}
    kind = kinds.get(how.lower().replace("_", ""))
    if kind is None:
        raise posy.Error(f"a join of kind {how!r} needs rows that have no partner; inner, leftsemi and right can be filtered before")
    mine, theirs = _columns(on)
    few = prefilter(df, other, (mine, theirs), rate, items=items)
    return few.join(other, mine, kind) if mine == theirs else few.join(other, few[mine] == other[theirs], kind)


def join_size(
    df: DataFrame, other: DataFrame, on: str | tuple[str, str], epsilon: float = 1e-5, **options: Any
) -> posy.Estimate:
    """How many rows an inner join will have, with an interval, from a sketch of each side: both are read once, nothing is shuffled."""
    mine, theirs = _columns(on)
    _check_kinds(df, mine, other, theirs)
    return count(df, mine, epsilon, **options).join_size(count(other, theirs, epsilon, **options))


def from_spark(filter: Any) -> posy.ForeignFilter:
    """The filter that Spark's own `df.stat.bloomFilter` made (through its JVM object), or its bytes."""
    if not isinstance(filter, (bytes, bytearray, memoryview)):
        stream = SparkContext.getOrCreate()._jvm.java.io.ByteArrayOutputStream()
        filter.writeTo(stream)
        filter = bytes(stream.toByteArray())
    return posy.from_bytes(filter)


def _columns(on: str | tuple[str, str]) -> tuple[str, str]:
    if isinstance(on, str):
        return on, on
    if len(on) != 2 or not all(isinstance(name, str) for name in on):
        raise posy.Error("on must be the name of a column, or a pair: the column here, and the column there")
    return on[0], on[1]


def _keys(df: DataFrame, column: str | Column) -> DataFrame:
    keys = df.select(F.col(column) if isinstance(column, str) else column)
    field = keys.schema[0]
    if not isinstance(field.dataType, _KEYS):
        raise posy.Error(
            f"column {field.name!r} is of type {field.dataType.simpleString()}; keys are string, binary or integers: "
            f"cast it, e.g. col({field.name!r}).cast('string')"
        )
    if isinstance(field.dataType, T.StringType) and not field.dataType.isUTF8BinaryCollation():
        raise posy.Error(
            f"column {field.name!r} is of type {field.dataType.simpleString()}: Spark takes different texts for equal there, "
            f"and a filter does not; make one text of them, e.g. collate(lower({field.name!r}), 'UTF8_BINARY')"
        )
    return keys


def _check_kinds(df: DataFrame, mine: str, other: DataFrame, theirs: str) -> None:
    """Spark compares 5 with '5'; to a filter they are different keys."""
    kinds = [_keys(frame, name).schema[0].dataType for frame, name in ((df, mine), (other, theirs))]
    here, there = ("integers" if isinstance(kind, T.IntegralType) else kind.simpleString() for kind in kinds)
    if here != there:
        raise posy.Error(f"column {mine!r} is of {here} and column {theirs!r} of {there}, which have different keys; cast one of them")


def _maker(kind: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Any]:
    """What makes equal empty objects on every worker. A secret seed is drawn once, here."""
    first = kind(*arguments, **options)
    options.pop("secret", None)
    return functools.partial(kind, *arguments, **{**options, "hash": first.hash, "seed": first.seed})


def _different(keys: DataFrame) -> int:
    name = keys.columns[0]
    found = keys.select(F.approx_count_distinct(F.col(f"`{name}`"), 0.01)).first()[0]
    return max(1, math.ceil(found * 1.03))  # three deviations of the estimate


def _cores(df: DataFrame) -> int:
    return max(1, df.sparkSession.sparkContext.defaultParallelism)


def _part(made: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([made.to_bytes("fastest")], pa.binary())], ["part"])


def _read(part: bytes) -> Any:
    return posy.from_bytes(part, max_bytes=2 * MOST_BYTES)  # our own tasks wrote it


def _united(into: Any, parts: Iterable[bytes]) -> Any:
    """Filters unite, and sketches add up."""
    unite = operator.ior if hasattr(into, "__ior__") else operator.iadd
    return functools.reduce(unite, map(_read, parts), into)


def _fill(make: Callable[[], Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = make()
        for batch in batches:
            made.update(batch.column(0), skip_nulls=True)
        yield _part(made)

    return run


def _unite(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    parts = (part.as_py() for batch in batches for part in batch.column(0))
    first = next(parts, None)
    if first is not None:
        yield _part(_united(_read(first), parts))


def _most_at_once(df: DataFrame) -> int:
    """Bytes of parts that Spark lets the driver take, less what a part has beside its array."""
    most = df.sparkSession.sparkContext._jsc.sc().conf().getSizeAsBytes(_RESULT_SIZE, "1g")
    return max(most - 2**20, most // 2) if most > 0 else sys.maxsize


def _made(keys: DataFrame, make: Callable[[], Any], tasks: int | None, instead: str, beside: int = 0) -> Any:
    """Fills an object per task, and unites them in a tree whose root is the driver. `beside`: bytes that a filled one has more."""
    made = make()
    size, most = sys.getsizeof(made) + beside, _most_at_once(keys)
    if size > MOST_BYTES:
        raise posy.Error(f"{made!r} takes {size:,} bytes, and a row of Spark holds at most 2 GiB; {instead}")
    if size > most:
        raise posy.Error(f"{made!r} takes {size:,} bytes, and Spark's driver takes no more than {_RESULT_SIZE}; raise that, or {instead}")
    count = keys.rdd.getNumPartitions()
    if tasks is not None and tasks < count:
        count = max(1, tasks)
        keys = keys.coalesce(count)
    parts = keys.mapInArrow(_fill(make), _PART)
    while count > FAN:
        count = math.ceil(count / FAN)
        parts = parts.repartition(count).mapInArrow(_unite, _PART)
    if count * size > min(most, MOST_BYTES):
        parts = parts.repartition(1).mapInArrow(_unite, _PART)
    return _united(made, (part.as_py() for part in parts.toArrow().column(0)))


def _answers(filter: Any, keys: pa.Array) -> pa.Array:
    answers = filter.contains(keys, skip_nulls=True)
    return pa.array(answers, mask=keys.is_null().to_numpy(zero_copy_only=False) if keys.null_count else None)
