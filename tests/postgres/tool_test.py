"""SQL and the tool read each other's filters.

Usage: tool_test.py MODULE SCRIPTS POSY [unittest arguments]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from postgres import ServerTest, main, tool  # noqa: E402

LINES = "".join(f"{line}\n" for line in ("user7", "Zürich", "東京", "", " blank ", "7", "-12", "9223372036854775807", *range(1000, 3000))).encode()


def literal(message):
    return "'\\x" + message.hex() + "'"


class Tool(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.query("CREATE TABLE lines (line text)")
        cls.server.query("COPY lines FROM STDIN;\n" + LINES.decode() + "\\.\n")

    def value(self, sql):
        """A value of SQL, as the bytes of its message."""
        return bytes.fromhex(self.sql(f"SELECT encode(({sql})::bytea, 'hex')"))

    def test_the_same_keys_are_the_same_filter(self):
        mine = self.value("SELECT filter_agg(line, 3000, 0.001) FROM lines")
        theirs = tool("build", "--items", "3000", "--fpr", "0.001", "-o", "-", "-", stdin=LINES)
        self.assertEqual(self.sql(f"SELECT {literal(mine)}::filter::bytea = {literal(theirs)}::filter::bytea"), "t")
        self.assertLess(len(mine), len(theirs))

    def test_the_tool_asks_what_sql_wrote(self):
        self.write("sql.posy", self.value("SELECT filter_agg(line, 3000, 0.000001) FROM lines"))
        self.assertEqual(tool("query", "sql.posy", "-", stdin=LINES + b"nobody\n"), LINES)

    def test_sql_asks_what_the_tool_wrote(self):
        theirs = tool("build", "--items", "3000", "--fpr", "0.000001", "--layout", "spread", "--seed", "5", "-o", "-", "-", stdin=LINES)
        self.assertEqual(self.sql(f"SELECT count(*), count(*) FILTER (WHERE may_contain({literal(theirs)}::filter, line)) FROM lines"),
                         f"{LINES.count(10)}|{LINES.count(10)}")
        self.assertEqual(self.sql(f"SELECT {literal(theirs)}::filter @> 'nobody', {literal(theirs)}::filter @> 2999"), "f|t")

    def test_numbers_are_the_lines_that_print_them(self):
        seq = "".join(f"{i}\n" for i in range(-500, 500)).encode()
        theirs = tool("build", "--items", "1000", "--fpr", "0.01", "-o", "-", "-", stdin=seq)
        for kind in ("int", "bigint", "smallint", "numeric", "text"):
            self.assertEqual(self.sql(f"SELECT filter_agg(i::{kind}, 1000, 0.01)::bytea = {literal(theirs)}::filter::bytea "
                                      "FROM generate_series(-500, 499) i"), "t", kind)

    def test_another_seed_is_refused(self):
        theirs = tool("build", "--items", "3000", "--fpr", "0.01", "--seed", "5", "-o", "-", "-", stdin=LINES)
        mine = "(SELECT filter_agg(line, 3000, 0.01) FROM lines)"
        for call in (f"SELECT unite({literal(theirs)}, {mine})", f"SELECT intersection({literal(theirs)}, {mine})",
                     f"SELECT intersection_size({literal(theirs)}, {mine})",
                     f"SELECT filter_union(f) FROM (VALUES ({literal(theirs)}::filter), ({mine})) v(f)"):
            self.assertIn("seed", self.server.error(call), call)

    def test_other_kinds_are_refused_by_name(self):
        counting = tool("build", "--counting", "--items", "10", "-o", "-", "-", stdin=b"a\n")
        self.assertIn("kind counting", self.server.error(f"SELECT {literal(counting)}::filter"))

    def test_every_layout_and_hash_can_be_asked(self):
        for options in (("--layout", "paired"), ("--layout", "sliced"), ("--layout", "narrow"), ("--hash", "siphash", "--seed", "0x123"),
                        ("--hash", "md5"), ("--hash", "xxh3"), ("--hash", "multiply-shift")):
            theirs = tool("build", "--items", "3000", "--fpr", "0.000001", *options, "-o", "-", "-", stdin=LINES)
            self.assertEqual(self.sql(f"SELECT count(*) FROM lines WHERE {literal(theirs)}::filter @> line"), str(LINES.count(10)), options)

    def test_sealed_filters_and_maps(self):
        self.write("sealed.posy", self.value("SELECT seal_agg(line, 0.000001) FROM lines"))
        self.assertEqual(tool("query", "sealed.posy", "-", stdin=LINES + b"nobody\n"), LINES)
        theirs = tool("seal", "--fpr", "0.000001", "-o", "-", "-", stdin=LINES)
        self.assertEqual(self.value("SELECT seal_agg(line, 0.000001) FROM lines"), theirs)
        pairs = "".join(f"key{i}\t{i * i}\n" for i in range(1000)).encode()
        theirs = tool("seal", "--values", "--fpr", "0.001", "-o", "-", "-", stdin=pairs)
        self.assertEqual(self.value("SELECT map_agg('key' || i, i * i, 0.001) FROM generate_series(0, 999) i"), theirs)
        self.assertEqual(self.sql(f"SELECT count(*) FROM generate_series(0, 999) i WHERE lookup({literal(theirs)}::bloomier_map, 'key' || i) = i * i"), "1000")

    def test_counts(self):
        self.write("counts.posy", self.value("SELECT count_min_agg(line, 0.0001, 0.01) FROM lines, generate_series(1, 3)"))
        self.assertEqual(tool("count", "--ask", "counts.posy", "-", stdin=b"user7\n2999\n").split(), [b"3", b"user7", b"3", b"2999"])
        theirs = tool("count", "--plain", "--top", "0", "--counter-bits", "64", "--epsilon", "0.0001", "--delta", "0.01", "-o", "-", "-", stdin=LINES)
        self.assertEqual(self.value("SELECT count_min_agg(line, 0.0001, 0.01) FROM lines"), theirs)
        self.assertEqual(self.sql(f"SELECT estimate({literal(theirs)}::count_min, 'Zürich')"), "1")

    def write(self, name, content):
        folder = self.server.folder
        os.chdir(folder)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
