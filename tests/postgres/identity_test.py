"""Lookups keep the value they decoded last: another value is never taken for it, whatever it shares with it and wherever it lies.

Values come in pairs that differ by one key among many: their sizes, their first bytes and their last ones are equal, except for the
checksum. They alternate, so that each is asked where the other was asked before.

Usage: identity_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import ServerTest, main  # noqa: E402


class Identity(ServerTest):
    settings = ("max_parallel_workers_per_gather=0", "jit=off")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Half of their bits are ones, so they are stored as they are. Small values are compared whole, large ones by their ends.
        for name, items in (("small", 1000), ("large", 100000)):
            cls.server.query(f"""CREATE TABLE {name} (own text, other text, f filter);
                INSERT INTO {name} SELECT own, other, filter_agg(k, {items}, 0.0001)
                    FROM (VALUES ('one', 'two'), ('two', 'one')) v(own, other),
                    LATERAL (SELECT own AS k UNION ALL SELECT 'common ' || i FROM generate_series(2, {items}) i) keys GROUP BY own, other;
                CREATE TABLE {name}_rows AS SELECT i, own, other, f FROM generate_series(1, 20) i, {name} ORDER BY i, own""")

    def test_the_pairs_are_alike(self):
        for name, least in (("small", 512), ("large", 100000)):
            sizes = self.sql(f"SELECT string_agg(octet_length(f::bytea)::text, ' ' ORDER BY own) FROM {name}").split()
            self.assertEqual(sizes[0], sizes[1])
            self.assertGreater(int(sizes[0]), least)
            for part in ("substr(f::bytea, 1, 64)", f"substr(f::bytea, {int(sizes[0]) - 63}, 60)"):
                self.assertEqual(self.sql(f"SELECT count(DISTINCT {part}) FROM {name}"), "1", part)
            self.assertEqual(self.sql(f"SELECT count(DISTINCT f::bytea) FROM {name}"), "2")

    def check(self, rows, value, more=""):
        """All rows have their own key and not the other's."""
        self.assertEqual(self.sql(f"{more} SELECT count(*), count(*) FILTER (WHERE may_contain({value}, own)), "
                                  f"count(*) FILTER (WHERE may_contain({value}, other)) FROM {rows} r"), "40|40|0")

    def test_stored_values(self):
        self.check("small_rows", "f")
        self.check("large_rows", "f")

    def test_results_in_memory_that_is_used_again(self):
        for name in ("small", "large"):
            self.check(f"{name}_rows", "unite(f, f)")  # a new value per row, where that of the last row was
            self.check(f"(SELECT own, other, f::bytea::filter AS f FROM {name}_rows ORDER BY i, own OFFSET 0)", "f")
            self.check(f"{name}_rows", f"(SELECT k.f FROM {name} k WHERE k.own = r.own)")

    def test_variables_of_a_procedure(self):
        for name in ("small", "large"):
            self.sql(f"""DO $$ DECLARE f filter; r record; BEGIN
                FOR r IN SELECT * FROM {name}_rows ORDER BY i, own LOOP
                    f := unite(r.f, r.f);
                    ASSERT may_contain(f, r.own) AND NOT may_contain(f, r.other), r.own;
                    f := NULL;
                END LOOP; END $$""")

    def test_a_value_that_is_refused_is_not_kept(self):
        # The error comes between two good rows, in one transaction.
        self.sql("""DO $$ DECLARE f filter; bad bytea; BEGIN
            SELECT small.f INTO f FROM small WHERE own = 'one';
            bad := set_byte(f::bytea, 200, 255 - get_byte(f::bytea, 200));
            FOR i IN 1..10 LOOP
                ASSERT may_contain(f, 'one');
                BEGIN PERFORM may_contain(bad::filter, 'one'); ASSERT false; EXCEPTION WHEN invalid_binary_representation THEN NULL; END;
                ASSERT may_contain(f, 'one') AND NOT may_contain(f, 'two');
            END LOOP; END $$""")


if __name__ == "__main__":
    main()
