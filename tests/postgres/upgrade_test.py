"""A database that was made with version 0.1 of the extension keeps its data in 0.2, and gains what that has.

Usage: upgrade_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import Server, main  # noqa: E402
from waiting import until  # noqa: E402

# Functions, aggregates, types, casts and operators of the extension.
MEMBERS = """SELECT pg_describe_object(classid, objid, 0) FROM pg_depend d
    WHERE d.refclassid = 'pg_extension'::regclass AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'posy') AND deptype = 'e' ORDER BY 1"""
VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'posy'"


class Upgrade(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def with_data(self, database):
        self.server.query(f"CREATE DATABASE {database}")
        self.server.query("""CREATE EXTENSION posy VERSION '0.1';
            CREATE TABLE users AS SELECT i AS id FROM generate_series(1, 50000) i;
            CREATE TABLE kept AS SELECT filter_agg(id, 50000, 0.01) AS f FROM users;
            CREATE VIEW known AS SELECT id FROM users, kept WHERE may_contain(f, id);
            CREATE INDEX ON users ((id % 7))""", database)
        return self.server.query("SELECT md5(f::bytea) FROM kept", database)

    def check(self, database, before):
        self.assertEqual(self.server.query("SELECT md5(f::bytea) FROM kept", database), before)
        self.assertEqual(self.server.query("SELECT count(*) FROM known", database), "50000")

    def test_data_stays_and_functions_come(self):
        before = self.with_data("old")
        self.check("old", before)
        self.assertIn("does not exist", self.server.error("SELECT count_min_agg(id, 0.01, 0.01) FROM users", "old"))
        self.server.query("ALTER EXTENSION posy UPDATE", "old")
        self.assertEqual(self.server.query(VERSION, "old"), "0.2")
        self.check("old", before)
        self.assertEqual(self.server.query("SELECT estimate(count_min_agg(id, 0.0001, 0.01), 7) >= 1 FROM users", "old"), "t")
        self.server.query("CREATE DATABASE new")
        self.server.query("CREATE EXTENSION posy", "new")
        self.assertEqual(self.server.query(MEMBERS, "old"), self.server.query(MEMBERS, "new"))

    def test_an_upgrade_that_is_killed_did_not_happen(self):
        before = self.with_data("old")
        # Its transaction has done all of it, and waits to commit.
        process = self.server.background("BEGIN; ALTER EXTENSION posy UPDATE; SELECT pg_sleep(600)", "old")
        pid = until(lambda: self.server.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 120, "a finished script")
        self.server.kill(int(pid))
        process.communicate()
        self.assertEqual(self.server.query(VERSION, "old"), "0.1")
        self.check("old", before)
        self.server.query("ALTER EXTENSION posy UPDATE", "old")
        self.check("old", before)

    def test_a_dump_brings_everything_back(self):
        before = self.with_data("old")
        self.server.query("ALTER EXTENSION posy UPDATE; CREATE TABLE more AS SELECT seal_agg(id, 0.01) AS s, map_agg(id, id, 0.01) AS m, "
                          "count_min_agg(id, 0.01, 0.01) AS c FROM users", "old")
        self.server.query("CREATE DATABASE copy")
        done = self.server.try_psql(self.server.dump("old"), "copy")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check("copy", before)
        same = "SELECT md5(s::bytea), md5(m::bytea), md5(c::bytea) FROM more"
        self.assertEqual(self.server.query(same, "copy"), self.server.query(same, "old"))


if __name__ == "__main__":
    main()
