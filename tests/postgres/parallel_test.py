"""Aggregates on several workers: they are really used, and give the bits of one; a worker that dies harms nothing.

Usage: parallel_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import ServerTest, main  # noqa: E402
from waiting import until  # noqa: E402

PARALLEL = """SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;"""
SERIAL = "SET max_parallel_workers_per_gather = 0;"


def nodes_of(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes_of(child)


class Parallel(ServerTest):
    settings = ("max_worker_processes=8", "max_parallel_workers=8", "log_min_messages=fatal")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.query("""CREATE TABLE events AS SELECT i AS id, 'event' || i % 50000 AS name, i % 10 AS day FROM generate_series(1, 200000) i;
            ALTER TABLE events SET (parallel_workers = 2);
            CREATE TABLE days AS SELECT day, filter_agg(name, 60000, 0.01) AS names FROM events GROUP BY day;
            ALTER TABLE days SET (parallel_workers = 2); ANALYZE;""")

    def plan(self, query):
        return list(nodes_of(json.loads(self.sql(f"{PARALLEL} EXPLAIN (ANALYZE, FORMAT JSON) {query}"))[0]["Plan"]))

    def check(self, query):
        nodes = self.plan(query)
        self.assertEqual([node.get("Workers Launched") for node in nodes if "Gather" in node["Node Type"]], [2], query)
        self.assertIn("Partial", [node.get("Partial Mode") for node in nodes], query)
        serial = self.sql(f"{SERIAL} {query}")
        self.assertGreater(len(serial), 30)
        self.assertEqual(self.sql(f"{PARALLEL} {query}"), serial, query)

    def test_filter_agg(self):
        self.check("SELECT filter_agg(id, 200000, 0.01) FROM events")
        self.check("SELECT md5(filter_agg(name, 60000, 0.001)::bytea) FROM events")
        self.check("SELECT md5(filter_agg(CASE WHEN id % 3 = 0 THEN name END, 60000, 0.001)::bytea) FROM events")

    def test_filter_agg_by_groups(self):
        self.check("SELECT day, md5(filter_agg(name, 60000, 0.01)::bytea) FROM events GROUP BY day ORDER BY day")

    def test_filter_union(self):
        self.check("SELECT md5(filter_union(names)::bytea) FROM days")

    def test_sealed_filters_and_maps(self):
        self.check("SELECT md5(seal_agg(name, 0.001)::bytea) FROM events")
        self.check("SELECT md5(map_agg(id, day, 0.001)::bytea) FROM events")

    def test_counts(self):
        self.check("SELECT md5(count_min_agg(name, 0.001, 0.01)::bytea) FROM events")

    def test_lookups_run_on_workers(self):
        self.sql("CREATE TABLE kept AS SELECT filter_agg(id, 1000, 0.001) AS f FROM events WHERE id <= 1000")
        query = "SELECT count(*) FROM events WHERE may_contain((SELECT f FROM kept), id)"
        self.assertEqual({node["Workers Launched"] for node in self.plan(query) if "Gather" in node["Node Type"]}, {2})
        self.assertEqual(self.sql(f"{PARALLEL} {query}"), self.sql(f"{SERIAL} {query}"))

    def test_an_error_on_a_worker_is_an_error_of_the_query(self):
        error = self.server.error(f"{PARALLEL} SELECT filter_agg(id, CASE WHEN id = 150000 THEN 2 ELSE 1 END, 0.01) FROM events")
        self.assertIn("the same in all rows", error)

    def test_a_killed_aggregation_leaves_everything(self):
        self.sql("CREATE TABLE ledger (f filter); INSERT INTO ledger SELECT filter_agg(id, 200000, 0.01) FROM events")
        before = self.sql("SELECT md5(f::bytea) FROM ledger")
        for victim in ("client backend", "parallel worker"):
            # A cross join that would take hours.
            running = self.server.background(f"{PARALLEL} UPDATE ledger SET f = (SELECT filter_agg(a.id, 200000, 0.01) FROM events a, events b)"
                                             if victim == "client backend" else
                                             f"{PARALLEL} SELECT filter_agg(a.id, 200000, 0.01) FROM events a, events b")
            kind = f"backend_type = '{victim}' AND state = 'active' AND query LIKE '%events b%' AND pid <> pg_backend_pid()"
            pid = until(lambda: self.sql(f"SELECT min(pid) FROM pg_stat_activity WHERE {kind}"), 30, victim)
            self.server.kill(int(pid))
            self.assertIn("connection", running.communicate()[0])
            self.assertEqual(self.sql("SELECT md5(f::bytea) FROM ledger"), before)
            self.assertEqual(self.sql("SELECT count(*) FROM events, ledger WHERE f @> id"), "200000")


if __name__ == "__main__":
    main()
