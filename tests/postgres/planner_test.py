"""The planner's estimates for may_contain: the rows that EXPLAIN expects are those that come.

Usage: planner_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import ServerTest, main  # noqa: E402


class Planner(ServerTest):
    settings = ("max_parallel_workers_per_gather=0",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # A unique column; one with few values, some frequent; one that is mostly null; text.
        cls.server.query("""CREATE TABLE orders AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN i % 20 ELSE 1000 + i % 5000 END AS customer,
                CASE WHEN i % 10 = 0 THEN i END AS rebate, 'city ' || i % 1000 AS city FROM generate_series(1, 100000) i;
            CREATE TABLE fresh AS SELECT i AS id FROM generate_series(1, 100000) i;
            ANALYZE orders;""")

    def rows(self, keys, items, rate, column, form="may_contain(%s, %s)", table="orders"):
        """Rows expected and rows found, with a filter of these keys as a constant."""
        value = self.sql(f"SELECT filter_agg(k, {items}, {rate}) FROM ({keys}) v(k)")
        plan = json.loads(self.sql(f"EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM {table} WHERE " + form % (f"'{value}'::filter", column)))[0]["Plan"]
        return plan["Plan Rows"], plan["Actual Rows"]

    def check(self, *what, within=0.1, **more):
        expected, found = self.rows(*what, **more)
        self.assertGreater(found, 0)
        self.assertLess(abs(expected - found), within * found, (what, expected, found))

    def test_unique_keys(self):
        for count, rate in ((100, 0.0001), (1000, 0.01), (30000, 0.001), (100000, 0.01)):
            self.check(f"SELECT generate_series(1, {count})", count, rate, "id")

    def test_the_operator_as_well(self):
        self.check("SELECT generate_series(1, 1000)", 1000, 0.01, "id", form="%s @> %s")

    def test_false_positives_alone(self):
        # By the sample it is seen that none of so many keys is in the table.
        self.check("SELECT generate_series(1000001, 1050000)", 50000, 0.05, "id", within=0.5)

    def test_frequent_values_are_asked_themselves(self):
        self.check("SELECT generate_series(0, 4, 2)", 10, 0.0001, "customer")
        self.check("SELECT generate_series(1000, 1999)", 1000, 0.0001, "customer", within=0.25)

    def test_nulls_do_not_pass(self):
        self.check("SELECT generate_series(10, 20000, 10)", 2000, 0.0001, "rebate")

    def test_sealed_filters(self):
        value = self.sql("SELECT seal_agg(k, 0.01) FROM generate_series(1, 2000) k")
        for form in ("may_contain('%s'::sealed_filter, id)", "'%s'::sealed_filter @> id"):
            plan = json.loads(self.sql(f"EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM orders WHERE {form % value}"))[0]["Plan"]
            self.assertLess(abs(plan["Plan Rows"] - plan["Actual Rows"]), 0.1 * plan["Actual Rows"])

    def test_text(self):
        self.check("SELECT 'city ' || i FROM generate_series(1, 100) i", 100, 0.0001, "city", within=0.25)

    def test_a_table_without_statistics(self):
        self.check("SELECT generate_series(1, 1000)", 1000, 0.001, "id", table="fresh", within=0.5)

    def test_values_stay_hidden_from_those_who_may_not_read_them(self):
        value = self.sql("SELECT filter_agg(k, 10, 0.0001) FROM generate_series(0, 4, 2) k")
        self.sql("CREATE VIEW few WITH (security_barrier) AS SELECT customer FROM orders WHERE id < 10; CREATE ROLE guest; GRANT SELECT ON few TO guest")
        self.assertIn("rows=", self.sql(f"SET ROLE guest; EXPLAIN SELECT * FROM few WHERE may_contain('{value}'::filter, customer)"))


if __name__ == "__main__":
    main()
