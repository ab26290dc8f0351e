"""Parquet files that pyarrow and DuckDB wrote, asked by posy; filters that posy wrote in them, asked by DuckDB.

pyarrow writes filters but has no way to ask them; DuckDB does both.
Usage: parquet_peers_test.py POSY [unittest arguments]
"""
import struct

import duckdb
import pyarrow
import pyarrow.parquet
from harness import ToolTest, main

ROWS, DIFFERENT = 4096, 150
# Of each column the values that row i has and, for DuckDB, its type.
COLUMNS = {
    "s": (lambda i: f"ké€y{i}", "VARCHAR", pyarrow.string()),
    "l": (lambda i: (i - 70) * 10 ** 12, "BIGINT", pyarrow.int64()),
    "d": (lambda i: (i - 70) * 10 ** 6, "INTEGER", pyarrow.int32()),
    "u": (lambda i: 3 * 10 ** 9 + i, "UINTEGER", pyarrow.uint32()),
    "f": (lambda i: (i - 70) / 8, "FLOAT", pyarrow.float32()),
    "g": (lambda i: (i - 70) / 7, "DOUBLE", pyarrow.float64()),
}
INTEGERS = ["l", "d", "u"]


def values(column, first, last):
    return [COLUMNS[column][0](i) for i in range(first, last)]


def as_lines(all_values):
    return "".join(f"{value}\n" for value in all_values)


class ParquetPeers(ToolTest):
    def setUp(self):
        super().setUp()
        self.duck = duckdb.connect(config={"threads": 1})
        self.addCleanup(self.duck.close)

    def table(self):
        """Rows that repeat, since DuckDB has filters for columns with a dictionary only. The groups have different values."""
        halves = [(0, DIFFERENT), (DIFFERENT, 2 * DIFFERENT)]
        return pyarrow.table({name: pyarrow.array([of(first + i % (last - first)) for first, last in halves for i in range(ROWS)],
                                                  type_)
                              for name, (of, _, type_) in COLUMNS.items()})

    def write_by_duckdb(self, name):
        self.duck.register("rows", self.table())
        self.duck.execute(f"COPY rows TO '{self.path(name)}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS})")

    def write_by_pyarrow(self, name, table, items):
        pyarrow.parquet.write_table(table, self.path(name), row_group_size=ROWS, bloom_filter_options={
            column: {"ndv": items, "fpp": 0.05} for column in table.column_names})

    def may_be_there(self, name, column, value):
        """By DuckDB: some row group's filter does not exclude it."""
        type_ = COLUMNS[column][1]
        answers = self.duck.execute(f"SELECT bloom_filter_excludes FROM parquet_bloom_probe('{self.path(name)}', '{column}', "
                                    f"?::{type_})", [value]).fetchall()
        self.assertGreater(len(answers), 0)
        return not all(excluded for excluded, in answers)

    def found(self, name, column, asked):
        self.write("asked", as_lines(asked))
        as_type = ["--integers"] if column in INTEGERS else []
        return self.posy("query", name, "--column", column, *as_type, "asked").decode().splitlines()

    def expect_the_same_answers(self, name):
        wrong = 0
        for column in COLUMNS:
            with self.subTest(name, column=column):
                there, others = values(column, 0, 2 * DIFFERENT), values(column, 1000, 1300)
                self.assertEqual(self.found(name, column, there), [str(value) for value in there])
                by_duckdb = [str(value) for value in others if self.may_be_there(name, column, value)]
                self.assertTrue(all(self.may_be_there(name, column, value) for value in there[::10]))
                # A present one among them: a query that finds nothing ends with another status.
                self.assertEqual(self.found(name, column, there[:1] + others), [str(there[0])] + by_duckdb)
                wrong += len(by_duckdb)
        return wrong

    def test_files_of_duckdb(self):
        self.write_by_duckdb("t")
        self.expect_the_same_answers("t")

    def test_files_of_pyarrow(self):
        self.write_by_pyarrow("t", self.table(), DIFFERENT)
        self.assertGreater(self.expect_the_same_answers("t"), 20)  # what is compared has false positives

    def test_posy_builds_what_stands_in_a_file(self):
        for items in 10, 1000, 50_000:
            with self.subTest(items=items):
                for column, as_type in {"s": [], "l": ["--integers"]}.items():
                    keys = values(column, 0, items)
                    table = pyarrow.table({column: pyarrow.array(keys, COLUMNS[column][2])})
                    pyarrow.parquet.write_table(table, self.path("t"), bloom_filter_options={column: {"ndv": items, "fpp": 0.01}})
                    self.write("keys", as_lines(keys))
                    self.posy("build", "keys", *as_type, "--format", "parquet", "--fpr", "0.01", "-o", "ours")
                    self.assertEqual(self.posy("convert", "t", "--column", column, "--to", "parquet"), self.read("ours"))

    def test_duckdb_asks_what_posy_wrote(self):
        """A file in whose place of the filter stands that of other keys: DuckDB believes it, and skips the row group."""
        keys, others = values("s", 0, 500), values("s", 500, 1000)
        table = pyarrow.table({"s": pyarrow.array(keys)})
        self.write_by_pyarrow("t", table, 500)
        self.write("others", as_lines(others))
        self.posy("build", "others", "--format", "parquet", "--fpr", "0.05", "-o", "ours")
        theirs, ours, file = self.posy("convert", "t", "--column", "s", "--to", "parquet"), self.read("ours"), self.read("t")
        self.assertEqual(len(theirs), len(ours))
        self.assertEqual(file.count(theirs), 1)
        self.write("forged", file.replace(theirs, ours))
        self.write("asked", as_lines(keys + others))
        found = self.posy("query", "ours", "asked").decode().splitlines()
        self.assertEqual([key for key in keys + others if self.may_be_there("forged", "s", key)], found)
        self.assertTrue(set(others) <= set(found))
        excluded = next(key for key in keys[1:-1] if key not in found)

        def rows(name):
            return self.duck.execute(f"SELECT count(*) FROM read_parquet('{self.path(name)}') WHERE s = ?", [excluded]).fetchone()[0]
        self.assertEqual((rows("t"), rows("forged")), (1, 0))

    def test_numbers_that_a_column_cannot_have(self):
        self.write_by_pyarrow("t", self.table(), DIFFERENT)
        self.assertEqual(self.posy("query", "t", "--column", "d", "--integers", stdin=f"{2 ** 40}\n{-2 ** 40}\n", status=1), b"")
        self.assertEqual(self.posy("query", "t", "--column", "g", stdin="", status=1), b"")
        self.assertEqual(self.posy("query", "t", "--column", "g", stdin="text\n1e\n", status=1), b"")
        # 0 is there; it is -0, too, and what is no number may be there.
        self.assertEqual(self.posy("query", "t", "--column", "g", stdin="-0\n0.0\nnan\n"), b"-0\n0.0\nnan\n")
        self.fails("query", "t", "--column", "d", stdin="1\n", saying="the column has integers; give --integers")
        self.fails("query", "t", "--column", "f", "--integers", stdin="1\n", saying="the column has no integers")

    def test_a_filter_alone_is_written_if_it_has_the_keys(self):
        self.write_by_pyarrow("t", self.table(), DIFFERENT)
        self.write_by_pyarrow("one", self.table().slice(0, ROWS), DIFFERENT)
        for column, (of, _, type_) in COLUMNS.items():
            with self.subTest(column):
                self.fails("convert", "t", "--column", column, "--to", "parquet", "-o", "alone", saying="keep the Parquet file")
                if column not in ("s", "l"):
                    self.fails("convert", "one", "--column", column, "--to", "parquet", "-o", "alone", saying="1 row group) cannot be written")
                    continue
                self.posy("convert", "one", "--column", column, "--to", "parquet", "-o", "alone")
                asked = as_lines(values(column, 0, DIFFERENT))
                as_type = ["--integers"] if column in INTEGERS else []
                self.assertEqual(self.posy("query", "alone", *as_type, stdin=asked).decode(), asked)

    def test_a_file_that_is_cut_off(self):
        self.write_by_pyarrow("t", self.table(), DIFFERENT)
        whole = self.read("t")
        size = struct.unpack("<I", whole[-8:-4])[0]
        for left in (0, 3, 4, 12, len(whole) - size, len(whole) - 8, len(whole) - 1):
            self.write("cut", whole[:left])
            self.posy("query", "cut", "--column", "s", stdin="a\n", status=2)
            self.assertRegex(self.stderr, r"\Aposy: cut: [^\n]*\n\Z")


if __name__ == "__main__":
    main()
