"""A join between two servers: the filter goes there, and few rows come back.

The survey's example (3.2): one server has cities, the other employees. Who lives in a city where life is expensive?
Usage: semi_join_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import Server, main  # noqa: E402
from relay import Relay  # noqa: E402

KEYS = "SELECT name FROM cities WHERE cost > 99000"
PLAIN = f"SELECT e.* FROM employees e WHERE city IN ({KEYS}) ORDER BY id"
JOIN = f"SELECT e.* FROM semi_join(NULL::employees, 'city', '{KEYS}') e ORDER BY id"
ROWS = 50000


class SemiJoin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.here, cls.there = Server(("max_parallel_workers_per_gather=0",)), Server()
        cls.addClassCleanup(cls.here.close)
        cls.addClassCleanup(cls.there.close)
        cls.relay = Relay(cls.there.port)
        cls.addClassCleanup(cls.relay.close)
        cls.there.query(f"""CREATE EXTENSION posy; CREATE TABLE employees AS
            SELECT i AS id, 'employee number ' || i AS name, 'city' || i * 7919 % 1000 AS city FROM generate_series(1, {ROWS}) i;
            INSERT INTO employees VALUES (0, 'a nomad', NULL)""")
        cls.here.query("""CREATE EXTENSION posy; CREATE EXTENSION postgres_fdw;
            CREATE TABLE cities AS SELECT 'city' || i AS name, 100 * i AS cost FROM generate_series(1, 1000) i; ANALYZE cities""")
        for name, options in (("there", ", extensions 'posy'"), ("untold", "")):
            cls.here.query(f"""CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw
                OPTIONS (host '127.0.0.1', port '{cls.relay.port}', dbname 'postgres'{options});
                CREATE USER MAPPING FOR postgres SERVER {name} OPTIONS (user 'postgres')""")
        cls.here.query("""CREATE FOREIGN TABLE employees (id int, name text, city text) SERVER there;
            CREATE FOREIGN TABLE strangers (id int, name text, city text) SERVER untold OPTIONS (table_name 'employees')""")

    def moved(self, sql):
        self.relay.taken()
        return self.here.query(sql), self.relay.taken()

    def test_exactly_the_rows_of_the_join_and_few_bytes(self):
        plain, all_bytes = self.moved(PLAIN)
        mine, few_bytes = self.moved(JOIN)
        self.assertEqual(mine, plain)
        self.assertGreater(all_bytes, 1000000)
        self.assertLess(few_bytes, 0.05 * all_bytes)

    def test_false_positives_come_and_are_removed(self):
        """A fifth of the rows belong to the join, and at a rate of 30 % many others come."""
        keys = "SELECT name FROM cities WHERE cost > 80000"
        loose, more_bytes = self.moved(f"SELECT id FROM semi_join(NULL::employees, 'city', '{keys}', 0.3) ORDER BY id")
        plain, all_bytes = self.moved(f"SELECT id FROM employees e WHERE city IN ({keys}) ORDER BY id")
        self.assertEqual(loose, plain)
        self.assertGreater(more_bytes, 0.3 * all_bytes)

    def test_the_lookup_is_in_the_query_that_is_sent(self):
        made = f"SELECT count(*) FROM employees WHERE may_contain((SELECT filter_of('{KEYS.replace('cities', 'public.cities')}')), city)"
        self.assertRegex(self.here.query("EXPLAIN (VERBOSE) " + made), r"Remote SQL: .*may_contain\(")
        self.assertGreaterEqual(int(self.here.query(made)), self.here.query(PLAIN).count("\n") + 1)
        in_subquery = f"SELECT * FROM employees WHERE may_contain((SELECT filter_agg(name, 10, 0.001) FROM ({KEYS}) k), city)"
        self.assertRegex(self.here.query("EXPLAIN (VERBOSE) " + in_subquery), r"Remote SQL: .*may_contain\(\$1")
        passing = self.here.query(in_subquery).count("\n") + 1
        self.assertGreaterEqual(passing, self.here.query(PLAIN).count("\n") + 1)
        self.assertRegex(self.here.query("EXPLAIN (VERBOSE) SELECT filter_agg(city, 1000, 0.01) FROM employees"), r"Remote SQL: .*filter_agg\(")

    def test_the_size_is_known_before(self):
        truth = int(self.here.query(f"SELECT count(*) FROM ({PLAIN}) p"))
        estimate, moved = self.moved(f"SELECT semi_join_size(NULL::employees, 'city', '{KEYS}')")
        self.assertLess(abs(float(estimate) - truth), 0.2 * truth)
        self.assertLess(moved, 20000)
        self.assertEqual(self.here.query("SELECT semi_join_size(NULL::employees, 'city', 'SELECT name FROM cities WHERE false')"), "0")

    def test_nulls_on_either_side(self):
        keys = "SELECT NULL UNION ALL SELECT ''city7''"
        self.assertEqual(self.here.query(f"SELECT count(*) FROM semi_join(NULL::employees, 'city', '{keys}')"), str(ROWS // 1000))

    def test_a_server_that_sends_all_is_warned_of(self):
        done = self.here.try_psql(JOIN.replace("employees", "strangers"))
        self.assertEqual(done.returncode, 0)
        self.assertIn("server untold sends all rows of strangers", done.stderr)
        self.assertEqual(done.stdout.rstrip("\n"), self.here.query(PLAIN))


if __name__ == "__main__":
    main()
