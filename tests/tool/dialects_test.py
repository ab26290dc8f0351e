"""Filters of other programs: built, asked, united and written, with the programs that are at hand.

Usage: dialects_test.py POSY [unittest arguments]
"""
import gzip
import json
import os
import subprocess

from harness import ToolTest, main

KNOWN_BY_THEIR_BYTES = ["spark-v1", "spark-v2", "guava-32", "guava-64", "hadoop", "hadoop-counting", "hadoop-dynamic",
                        "hadoop-retouched", "parquet", "squid", "dcso", "redis", "rocksdb", "cassandra"]
BLOCK = "43497fd7f826957108f4a30fd9cec3aeba79972084e90ead01ea330900000000"
TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/dialects")
OTHERS = {"leveldb": ["--format", "leveldb"], "bip158": ["--format", "bip158", "--block-hash", BLOCK]}


class Dialects(ToolTest):
    def bloom(self, *args, stdin=b""):
        return subprocess.run(["bloom", *args], cwd=self.dir, input=stdin, check=True, stdout=subprocess.PIPE).stdout

    def keys(self, first, last):
        return self.lines(first, last).encode()

    def counted(self, *args):
        """Of 10,000 keys, those that may be present; some are certainly not."""
        return 10_000 - json.loads(self.posy("query", "-v", "--json", *args))["absent"]

    def test_every_format_is_built_and_asked(self):
        self.write("keys", self.keys(0, 1000))
        self.write("others", self.keys(1000, 11_000))
        for name in KNOWN_BY_THEIR_BYTES + list(OTHERS):
            with self.subTest(name):
                how = OTHERS.get(name, [])
                self.posy("build", "keys", *(how or ["--format", name]), "-o", "f")
                self.assertEqual(self.posy("query", "-c", *how, "f", "keys"), b"1000\n")
                info = json.loads(self.posy("info", "--json", *how, "f"))
                self.assertEqual(info["kind"], name)
                found = self.counted(*how, "f", "others")
                # 10,000 lookups at no more than 1.3 %: six standard deviations are one false alarm in 500 million.
                self.assertLess(found, 130 + 6 * 130 ** 0.5)
                self.assertLess(info["false_positive_rate"], 0.013)

    def test_the_bloom_tool_reads_what_posy_writes_and_the_reverse(self):
        keys, more = self.keys(0, 1000), self.keys(500, 1500)
        self.write("keys", keys)
        self.write("more", more)
        self.posy("build", "keys", "--format", "dcso", "-o", "ours")
        self.bloom("create", "-p", "0.01", "-n", "1000", "theirs")
        self.bloom("insert", "theirs", stdin=keys)
        self.assertEqual(self.read("ours"), self.read("theirs"))
        self.assertEqual(self.bloom("check", "ours", stdin=keys), keys)

        self.bloom("create", "-p", "0.01", "-n", "1000", "second")
        self.bloom("insert", "second", stdin=more)
        self.posy("union", "ours", "second", "-o", "both")
        self.bloom("join", "theirs", "second")
        self.assertEqual(self.read("both"), self.read("theirs"))

        self.bloom("--gzip", "create", "-p", "0.01", "-n", "1000", "packed")
        self.bloom("--gzip", "insert", "packed", stdin=keys)
        self.assertEqual(self.posy("query", "packed", "keys"), keys)
        self.assertEqual(self.posy("convert", "packed", "--to", "dcso"), gzip.decompress(self.read("packed")))

    def test_integers_are_longs(self):
        self.write("keys", b"-7\n1234567890123\n")
        bits = "01070000000f" + "0" * 240
        self.write("empty", bytes.fromhex(bits))
        self.assertEqual(self.posy("query", "-c", "--integers", "empty", "keys", status=1), b"0\n")
        self.posy("build", "keys", "--integers", "--format", "guava-64", "-n", "100", "-o", "f")
        with open(os.path.join(TESTDATA, "java_vectors.txt")) as lines:
            vector = next(line.split()[1] for line in lines if line.startswith("guava64_long "))
        self.assertEqual(self.read("f").hex(), vector)

    def test_a_column_of_a_parquet_file(self):
        table = os.path.join(TESTDATA, "duckdb_sbbf.parquet")
        self.write("keys", "".join(f"key{i}\n" for i in range(50)))
        self.assertEqual(self.posy("query", "-c", table, "--column", "s", "keys"), b"50\n")
        self.assertEqual(json.loads(self.posy("info", "--json", table, "--column", "s"))["kind"], "parquet")
        self.write("alone", self.posy("convert", table, "--column", "s", "--to", "parquet"))
        self.assertEqual(self.posy("query", "-c", "alone", "keys"), b"50\n")
        self.fails("query", table, "keys", saying="a Parquet file; --column says which filter of it")
        self.fails("query", table, "--column", "x", "keys", saying="there is no column x; these have one: s, l")
        self.fails("query", "alone", "--column", "s", "keys", saying="--column is for a Parquet file")
        self.fails("query", table, "--column", "l", "keys", saying="give --integers")
        self.fails("query", table, "--column", "s", "--integers", "keys", saying="the column has no integers")
        self.fails("query", table, "--column", "d", "keys", saying="give --integers")
        self.fails("convert", table, "--column", "d", "--to", "parquet",
                   saying="the column d (INT32, 1 row group) cannot be written as one filter")
        self.posy("info", table, "--column", "d")
        self.fails("union", table, table, "-o", "u", saying="'posy query --column' asks them")
        self.posy("build", "keys", "-o", "own.posy")
        self.fails("query", "own.posy", "--column", "s", "keys", saying="own.posy: --column is for a Parquet file")
        self.write("numbers", "".join(f"{i}\n" for i in range(50)))
        self.assertEqual(self.posy("query", "-c", table, "--column", "l", "--integers", "numbers"), b"50\n")

    def test_commands_that_do_not_take_them_say_so(self):
        self.write("keys", self.keys(0, 100))
        self.posy("build", "keys", "--format", "dcso", "-o", "f")
        for command in [("add", "f", "keys"), ("compare", "f", "f"), ("pack", "f", "-o", "p"), ("spell", "-d", "f", "keys")]:
            self.fails(*command, saying="f: a filter of the format dcso, which this command does not take")
        self.fails("build", "keys", "--format", "dcso", "--streaming", "-o", "-", saying="--streaming")
        self.fails("build", "keys", "--format", "squid", "-n", "10", "-o", "x", saying="Squid refuses one with more than 65 %")
        self.fails("build", "keys", "--format", "leveldb", "-n", "1000000T", "--fpr", "1e-9", "-o", "x", saying="fewer than 2^32 bits")
        self.fails("build", "keys", "--format", "dcso", "-n", "1000T", "-o", "x", saying="no memory for an array of")
        self.posy("build", "keys", "--format", "dcso", "-n", "10", "-o", "full")
        self.assertIn("full: its false-positive rate is", self.stderr)

    def test_converts_where_bits_can_be_kept(self):
        self.write("keys", self.keys(0, 100))
        self.posy("build", "keys", "--format", "hadoop-counting", "-o", "counting")
        self.posy("build", "keys", "--format", "hadoop", "-o", "plain")
        self.assertEqual(self.posy("convert", "counting", "--to", "hadoop"), self.read("plain"))
        self.posy("build", "keys", "--format", "hadoop-retouched", "-o", "retouched")
        self.assertEqual(self.posy("convert", "retouched", "--to", "hadoop"), self.read("plain"))
        self.fails("convert", "plain", "--to", "squid", saying="keys have other places there")
        self.fails("convert", "plain", "--to", "hadoop-counting", saying="do not tell what else stands in that format")
        self.posy("build", "keys", "--format", "hadoop-dynamic", "-n", "40", "-o", "rows")
        self.fails("convert", "rows", "--to", "hadoop", saying="rows: it has 3 rows, and the format hadoop has one")
        self.fails("convert", "-", "--to", "hadoop", stdin=self.read("plain"), saying="name the format of the filter with --format")
        self.posy("build", "keys", "-o", "own.posy")
        self.fails("convert", "own.posy", "--to", "dcso", saying="own.posy: not a filter of another program")
        self.write("empty", b"")
        self.fails("convert", "empty", "--to", "hadoop", saying="empty: it is empty")

    def test_refuses_what_does_not_go_together(self):
        self.write("keys", self.keys(0, 100))
        self.posy("build", "keys", "--format", "dcso", "-o", "small")
        self.posy("build", "keys", "--format", "dcso", "-n", "1000", "-o", "large")
        self.posy("build", "keys", "--format", "spark-v1", "-o", "spark")
        self.posy("build", "keys", "-o", "own.posy")
        self.fails("union", "small", "large", "-o", "u", saying="large: filters of different sizes")
        self.fails("union", "small", "spark", "-o", "u", saying="spark: filters of different formats")
        self.fails("union", "small", "own.posy", "-o", "u", saying="own.posy: not a filter of the same program")
        self.fails("union", "own.posy", "spark", "-o", "u",
                   saying="spark: a filter of the format spark-v1; it and a filter of Posy's own do not unite")
        self.fails("build", "--format", "dcso", "-o", "f", stdin=b"a\n", saying="give their number with --items")
        for option, value in [("--layout", "spread"), ("--max-memory", "1MiB"), ("--max-hashes", "3"), ("--message-bits", "9"),
                              ("--minimize", "memory"), ("--delta-bits", "9"), ("--delta-fraction", "0.1"), ("--hashes", "3")]:
            self.fails("build", "keys", "--format", "dcso", option, value, "-o", "f", saying=option)
        self.fails("build", "keys", "--format", "dcso", "--block-hash", BLOCK, "-o", "f", saying="only bip158 has a key")
        self.fails("build", "keys", "--format", "bip158", "-o", "f", saying="give it with --block-hash")
        self.fails("build", "keys", "--format", "bip158", "--block-hash", "12", "-o", "f", saying="32 hexadecimal digits")
        self.fails("query", "--format", "spark-v1", "small", "keys", saying="of another version")
        self.write("cut", self.read("large")[:-1])
        self.fails("query", "--format", "dcso", "cut", "keys", saying="cut: at byte 32: an array of")
        size = len(self.read("large"))
        self.fails("query", "cut", "keys",
                   saying=f"cut: at byte {size - 1}: it begins as a filter of the format dcso with {size} bytes, of which {size - 1}")
        for command in [("info", "-"), ("query", "-", "keys")]:
            self.fails(*command, stdin=self.read("spark"), saying="read it from a pipe with --format")
        self.assertIn(b"spark-v1", self.posy("info", "--format", "spark-v1", "-", stdin=self.read("spark")))

    def test_says_which_rate_a_format_can_have(self):
        """LevelDB's hash has 32 bits, and a set of BIP 158 one rate: more items would change neither."""
        self.write("keys", self.keys(0, 1000))
        self.posy("build", "keys", "--format", "leveldb", "--fpr", "1e-12", "-o", "f")
        self.assertRegex(self.stderr, r"instead of .*; the best that the format leveldb can have with these keys is 2\.328e-07 .*, whatever its size")
        self.posy("build", "keys", *OTHERS["bip158"], "--fpr", "1e-9", "-o", "f")
        self.assertIn("the best that the format bip158 can have", self.stderr)
        self.posy("build", "keys", "--format", "leveldb", "-n", "100", "-o", "f")
        self.assertIn("; build it with more --items", self.stderr)


if __name__ == "__main__":
    main()
