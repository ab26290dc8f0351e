"""The extension in the sqlite3 shell: loaded by name, and files shared with the tool both ways.

Usage: shell_test.py POSY EXTENSION [unittest arguments]
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tool"))
EXTENSION = os.path.splitext(os.path.abspath(sys.argv.pop(2)))[0]
from harness import ToolTest, main  # noqa: E402

NUMBERS = "CREATE TABLE t AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 5000) SELECT x, 'user' || x AS name FROM c;"


class Shell(ToolTest):
    def sql(self, *statements, status=0):
        text = "\n".join([".bail on", f".load {EXTENSION}", *statements])
        done = subprocess.run(["sqlite3", ":memory:"], input=text, capture_output=True, text=True, cwd=self.dir, timeout=600)
        self.assertEqual(done.returncode, status, done.stderr)
        self.problem = done.stderr
        return done.stdout

    def test_the_tool_reads_what_sql_wrote(self):
        self.sql(NUMBERS, "SELECT writefile('sql.posy', filter_agg(name, 5000, 0.001)) FROM t;",
                 "SELECT writefile('sealed.posy', seal_agg(name, 0.001)) FROM t;",
                 "SELECT writefile('map.posy', map_agg(name, x, 0.001)) FROM t;",
                 "SELECT writefile('ids.posy', filter_agg(x, 5000, 1e-9)) FROM t;")
        names = "".join(f"user{i}\n" for i in range(1, 5001))
        self.write("names", names)
        self.posy("build", "names", "-f", "0.001", "-o", "tool.posy")
        self.assertEqual(self.read("sql.posy"), self.read("tool.posy"))
        self.posy("seal", "names", "-f", "0.001", "-o", "tool.posy")
        self.assertEqual(self.read("sealed.posy"), self.read("tool.posy"))
        self.assertEqual(self.posy("query", "map.posy", stdin="user17\n"), b"user17\t17\n")
        self.assertEqual(self.posy("query", "ids.posy", stdin="1\n4999\n5001\n"), b"1\n4999\n")
        self.assertEqual(json.loads(self.posy("info", "--json", "sql.posy"))["items"], 5000)

    def test_sql_reads_what_the_tool_wrote(self):
        self.write("names", "".join(f"user{i}\n" for i in range(1, 2501)))
        for command in (["build"], ["build", "--counting"], ["build", "--growing"], ["seal"]):
            self.posy(*command, "names", "-f", "0.0001", "-o", "f.posy")
            found = self.sql(NUMBERS, "CREATE TABLE f AS SELECT readfile('f.posy') AS f;",
                             "SELECT sum(may_contain(f, name)), sum(may_contain(f, name) AND x > 2500), items(f) FROM t, f;")
            every, wrong, items = map(int, found.split("|"))
            self.assertEqual(every - wrong, 2500, command)
            self.assertLess(wrong, 6, command)  # 0.25 expected
            self.assertAlmostEqual(items, 2500, delta=5, msg=str(command))
        self.write("prices", "".join(f"user{i},{i * 3}\n" for i in range(1, 2501)))
        self.posy("seal", "prices", "--csv", "--values", "-o", "map.posy")
        self.assertEqual(self.sql("SELECT lookup(readfile('map.posy'), 'user100');"), "300\n")
        self.posy("count", "names", "-o", "counts.posy")
        self.assertEqual(self.sql("SELECT estimate(readfile('counts.posy'), 'user100');"), "1\n")

    def test_a_bound_filter_and_a_join(self):
        self.write("names", "".join(f"user{i}\n" for i in range(1, 101)))
        self.posy("build", "names", "-f", "1e-9", "-o", "f.posy")
        self.assertEqual(self.sql(NUMBERS, ".parameter init", ".parameter set @f \"readfile('f.posy')\"",
                                  "SELECT count(*) FROM t WHERE may_contain(@f, name);"), "100\n")
        self.assertEqual(self.sql(NUMBERS, "SELECT count(*) FROM t WHERE may_contain((SELECT readfile('f.posy')), name);"), "100\n")

    def test_a_damaged_file_is_an_error_and_the_session_goes_on(self):
        self.write("names", "a\nb\n")
        self.posy("build", "names", "-o", "f.posy")
        whole = self.read("f.posy")
        self.write("bad.posy", whole[:70] + bytes([whole[70] ^ 1]) + whole[71:])
        self.write("short.posy", whole[:-1])
        for name in ("bad", "short"):
            self.sql(f"SELECT may_contain(readfile('{name}.posy'), 'a');", status=1)
            self.assertIn("posy: ", self.problem)
        self.assertEqual(self.sql(".bail off", "SELECT may_contain(readfile('bad.posy'), 'a');",
                                  "SELECT may_contain(readfile('f.posy'), 'a');", status=1), "1\n")


if __name__ == "__main__":
    main()
