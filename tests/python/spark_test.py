"""posy.spark on a real cluster: a master and two workers."""
import os
import pathlib
import re
import threading

import numpy as np
import pytest

pyspark = pytest.importorskip("pyspark", reason="posy.spark is tested where Spark is installed")

import posy
from posy import spark
from pyspark.sql import functions as F
from spark_cluster import Cluster
from waiting import until


@pytest.fixture(scope="module")
def cluster():
    with Cluster(memory="1g") as started:
        yield started


@pytest.fixture(scope="module")
def session(cluster):
    return cluster.session()


def on_one_machine(keys, items, rate=0.01, **options):
    made = posy.Filter(items, rate, **options)
    made.update(keys)
    return made


@pytest.mark.parametrize("options", [{}, {"layout": "spread"}, {"seed": 7}])
def test_the_bits_are_those_of_one_machine(session, options):
    keys = session.range(0, 300_000, 1, 20)
    made = spark.build(keys, "id", 0.01, items=300_000, **options)
    assert made == on_one_machine(np.arange(300_000), 300_000, **options)


def test_text_binary_and_every_width_of_integers(session):
    numbers = session.range(0, 5_000, 1, 3)
    expected = on_one_machine(np.arange(5_000), 5_000)
    for width in ("smallint", "int", "bigint"):
        assert spark.build(numbers, F.col("id").cast(width), items=5_000) == expected
    names = numbers.select(F.concat(F.lit("user ü "), F.col("id")).alias("a column"))
    expected = on_one_machine([f"user ü {i}" for i in range(5_000)], 5_000)
    assert spark.build(names, F.col("a column"), items=5_000) == expected
    assert spark.build(names, F.col("a column").cast("binary"), items=5_000) == expected


def test_parts_of_a_large_filter_are_few_and_a_tree_unites_many(session):
    keys = session.range(0, 1_000_000, 1, 40)
    expected = on_one_machine(np.arange(1_000_000), 1_000_000)
    assert spark.build(keys, "id", items=1_000_000) == expected
    assert spark.build(keys, "id", items=1_000_000, tasks=40) == expected


def test_items_are_counted_if_nobody_says(session):
    keys = session.range(0, 100_000, 1, 4).select((F.col("id") % 20_000).alias("key"))
    made = spark.build(keys, "key", 0.01)
    assert made.rate < 0.0115
    assert made.contains(np.arange(20_000)).all()


def test_nothing_and_nulls(session):
    empty = session.range(0)
    assert spark.build(empty, "id", items=10) == posy.Filter(10, 0.01)
    some = session.createDataFrame([("a",), (None,), ("b",)], "name string")
    made = spark.build(some, "name", items=10)
    assert made == on_one_machine(["a", "b"], 10)
    rows = some.select("name", spark.may_contain(made, "name").alias("there")).collect()
    assert {row.name: row.there for row in rows} == {"a": True, "b": True, None: None}


@pytest.mark.parametrize("how", ["inner", "left_semi", "right"])
def test_a_join_has_the_rows_that_it_has_without_a_filter(session, how):
    orders = session.range(0, 50_000, 1, 4).select((F.col("id") % 9_000).alias("customer"), F.col("id").alias("order"))
    customers = session.range(0, 500, 1, 2).select((F.col("id") * 20).alias("number"), F.lit("x").alias("name"))
    pair = ("customer", "number")
    made = spark.join(orders, customers, pair, how)
    plain = orders.join(customers, orders.customer == customers.number, how.replace("left_semi", "leftsemi"))
    assert sorted(map(tuple, made.collect()), key=str) == sorted(map(tuple, plain.collect()), key=str)


def test_a_join_that_keeps_rows_without_partner_is_refused(session):
    with pytest.raises(posy.Error, match="left_outer.*inner, leftsemi and right"):
        spark.join(session.range(1), session.range(1), "id", "left_outer")


def test_most_rows_without_partner_are_gone_before_the_join(session):
    orders = session.range(0, 200_000, 1, 4)
    few = session.range(0, 2_000, 1, 2).select((F.col("id") * 100).alias("id"))
    left = spark.prefilter(orders, few, "id", 0.01).count()
    assert 2_000 <= left < 2_000 + 198_000 * 0.013  # nine deviations


def test_the_size_of_a_join_before_it_runs(session):
    orders = session.range(0, 200_000, 1, 4).select((F.col("id") * F.col("id") % 7_919).alias("customer"))
    customers = session.range(0, 3_000, 1, 2).select(F.col("id").alias("customer"))
    estimate = spark.join_size(orders, customers, "customer")
    truth = orders.join(customers, "customer").count()
    assert abs(estimate.value - truth) < 5 * (estimate.high - estimate.low) / 3.92  # five deviations
    assert estimate.value == pytest.approx(truth, rel=0.2)


def test_frequencies_and_the_most_frequent(session):
    visits = session.range(0, 100_000, 1, 6).select(
        F.when(F.col("id") % 10 == 0, F.lit("home")).when(F.col("id") % 25 == 1, F.lit("news")).otherwise(F.concat(F.lit("p"), F.col("id"))).alias("page"))
    sketch = spark.count(visits, "page", 1e-4)
    assert 10_000 <= sketch["home"] <= 10_000 + 10
    top = spark.heavy_hitters(visits, "page", top=2)
    assert [key for key, _ in top.most_common(2)] == ["home", "news"]


def test_the_filter_of_spark_itself(session):
    keys = session.range(0, 10_000, 1, 4)
    own = keys._jdf.stat().bloomFilter("id", 10_000, 0.01)
    made = spark.from_spark(own)
    asked = session.range(0, 40_000, 1, 4)
    said = {row.id for row in asked.where(spark.may_contain(made, "id")).collect()}
    assert said == {i for i in range(40_000) if own.mightContainLong(i)}


@pytest.mark.parametrize("kind", ["double", "decimal(10,2)", "boolean", "timestamp", "array<int>"])
def test_columns_that_are_no_keys_are_refused_before_anything_runs(session, kind):
    frame = session.createDataFrame([], f"x {kind}")
    with pytest.raises(posy.Error, match="column 'x' is of type .*cast"):
        spark.build(frame, "x")


def test_columns_of_different_kinds_are_not_joined(session):
    numbers, names = session.range(5), session.range(5).select(F.col("id").cast("string"))
    for use in (spark.join, spark.prefilter, spark.join_size):
        with pytest.raises(posy.Error, match="integers.*string"):
            use(numbers, names, "id")
    assert spark.join(numbers, numbers.select(F.col("id").cast("int")), "id").count() == 5


def test_a_secret_seed_is_drawn_once(session):
    made = spark.build(session.range(0, 1_000, 1, 4), "id", items=1_000, secret=True)
    assert made.hash == "siphash" and made.contains(np.arange(1_000)).all()


def test_a_filter_that_no_row_can_hold_is_refused(session):
    with pytest.raises(posy.Error, match="2 GiB"):
        spark.build(session.range(1), "id", 0.001, items=10**10)
    with pytest.raises(posy.Error, match="2 GiB.*larger epsilon"):
        spark.count(session.range(1), "id", epsilon=2e-8)


def test_one_that_the_driver_would_not_take_is_refused(session):
    with pytest.raises(posy.Error, match="spark.driver.maxResultSize"):
        spark.build(session.range(1), "id", 0.01, items=1_000_000_000)


def test_text_with_a_collation_is_refused(session):
    words = session.sql("SELECT 'Anna' COLLATE UTF8_LCASE AS k")
    for use in (lambda: spark.build(words, "k", items=1), lambda: spark.count(words, "k"), lambda: spark.join(words, words, "k")):
        with pytest.raises(posy.Error, match="UTF8_LCASE.*UTF8_BINARY"):
            use()
    assert "anna" in spark.build(words.select(F.collate(F.lower("k"), "UTF8_BINARY").alias("k")), "k", items=1)


def test_the_page_about_clusters(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/cluster.md").read_text()
    names = {
        "orders": session.range(0, 20_000, 1, 2).select((F.col("id") % 3_000).alias("customer")),
        "customers": session.range(0, 4_000, 1, 2),
        "visits": session.range(0, 1_000, 1, 2).select(F.lit("home").alias("page")),
    }
    shown = []
    for line in re.search(r"```python\n(.*?)```", page, re.S).group(1).splitlines():
        code = line.split("#")[0].strip()
        if re.match(r"from|\w+ = |.*\.save", code):
            exec(code, names)
        elif code:
            shown.append(eval(code, names))
    few, joined, size, home, top = shown
    assert 3_000 <= few.count() <= 3_100
    assert joined.count() == 20_000
    assert abs(size.value - 20_000) < 5 * (size.high - size.low) / 3.92  # five deviations
    assert home == 1_000 and top == [("home", 1_000)]
    assert posy.load("customers.posy") == names["seen"]


# The last test: it leaves one worker.
def test_a_worker_killed_during_a_build_changes_no_bit(cluster, session, tmp_path):
    go = str(tmp_path / "go")

    def held(batches):  # from the tenth part on, until the worker is gone
        while pyspark.TaskContext.get().partitionId() >= 10 and not os.path.exists(go):
            threading.Event().wait(0.05)
        yield from batches

    keys = session.range(0, 200_000, 1, 40).mapInArrow(held, "id long")
    made = []
    build = threading.Thread(target=lambda: made.append(spark.build(keys, "id", items=200_000, tasks=40)))
    build.start()
    tasks = session.sparkContext.statusTracker()
    stages = lambda: [tasks.getStageInfo(stage) for stage in tasks.getActiveStageIds()]
    until(lambda: any(stage and stage.numCompletedTasks == 10 and stage.numActiveTasks == 2 for stage in stages()), 180)
    cluster.kill_worker("worker0")
    pathlib.Path(go).touch()
    build.join(timeout=300)
    assert made and made[0] == on_one_machine(np.arange(200_000), 200_000)
