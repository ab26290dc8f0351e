"""Keys in databases of other encodings, and under collations: equal text is the same key, or an error.

Usage: encodings_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import ServerTest, main, tool  # noqa: E402

CITIES = "SELECT filter_agg(city, 100, 0.0001) FROM (VALUES ('Z' || chr(252) || 'rich'), ('Malm' || chr(246))) v(city)"


class Encodings(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, encoding in (("latin", "LATIN1"), ("ascii", "SQL_ASCII")):
            cls.server.query(f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'")
            cls.server.query("CREATE EXTENSION posy", name)

    def test_a_filter_means_the_same_in_every_encoding(self):
        utf8 = self.sql(CITIES)
        latin1 = self.server.query("SET client_encoding = 'UTF8';" + CITIES, "latin")
        self.assertEqual(utf8, latin1)
        self.assertEqual(self.server.query(f"SELECT '{latin1}'::filter @> ('Z' || chr(252) || 'rich'), '{latin1}'::filter @> 'Zurich'", "latin"), "t|f")
        self.assertEqual(self.server.query(f"SELECT '{latin1}'::filter @> name, '{latin1}'::filter @> padded FROM "
                                           "(VALUES (('Z' || chr(252) || 'rich')::name, ('Z' || chr(252) || 'rich')::char(20))) v(name, padded)", "latin"), "t|t")
        lines = "Zürich\nMalmö\n".encode()
        self.assertEqual(self.sql(f"SELECT '\\x{tool('build', '--items', '100', '--fpr', '0.0001', '-o', '-', '-', stdin=lines).hex()}'::filter"), utf8)

    def test_without_an_encoding_keys_are_their_bytes(self):
        self.assertEqual(self.server.query("SELECT filter_agg(k, 10, 0.0001) @> E'Z\\xc3\\xbcrich' FROM (VALUES (E'Z\\xc3\\xbcrich')) v(k)", "ascii"), "t")
        # What is not UTF-8 is a key, too.
        self.assertEqual(self.server.query("SET client_encoding = 'SQL_ASCII'; SELECT filter_agg(k, 10, 0.0001) @> E'Z\\xfcrich' "
                                           "FROM (VALUES (E'Z\\xfcrich')) v(k)", "ascii"), "t")

    def test_a_collation_with_other_equalities_is_refused(self):
        self.sql("""CREATE COLLATION either_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            CREATE TABLE people (name text COLLATE either_case, alias text COLLATE "C"); INSERT INTO people VALUES ('Ada', 'Ada')""")
        self.assertEqual(self.sql("SELECT name = 'ADA' FROM people"), "t")
        for query in ("SELECT filter_agg(name, 10, 0.01) FROM people",
                      "SELECT may_contain((SELECT filter_agg(alias, 10, 0.01) FROM people), name) FROM people",
                      "SELECT (SELECT filter_agg(alias, 10, 0.01) FROM people) @> name FROM people"):
            self.assertIn("nondeterministic collation", self.server.error(query), query)
        self.assertEqual(self.sql("SELECT filter_agg(name COLLATE \"C\", 10, 0.01) @> 'Ada' FROM people"), "t")
        self.sql("DROP TABLE people; DROP COLLATION either_case")


if __name__ == "__main__":
    main()
