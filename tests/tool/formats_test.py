"""Keys as people have them: compressed, in CSV and TSV, with headers, from other systems.

Usage: formats_test.py POSY [unittest arguments]
"""
import bz2
import csv
import gzip
import io
import json
import lzma
import random
import struct
import subprocess
import zipfile

from harness import POSY, ToolTest, main


class Formats(ToolTest):
    def fields(self, *args, stdin=b""):
        """The keys that posy reads: each is counted."""
        out = self.posy("count", "--top", "1000000", "--epsilon", "1e-6", *args, stdin=stdin)
        return sorted(line.split("\t", 1)[1] for line in out.decode().splitlines())

    def zstd(self, data):
        return subprocess.run(["zstd", "-q", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout

    def test_compressed_files_and_pipes(self):
        text = self.lines(0, 300_000).encode()
        self.write("keys.txt", text)
        self.posy("build", "keys.txt", "-n", "300000", "-o", "plain.posy")
        plain = self.read("plain.posy")
        for packed in [gzip.compress(text), gzip.compress(text[:100]) + gzip.compress(text[100:]), self.zstd(text),
                       self.zstd(text[:4321]) + self.zstd(text[4321:])]:
            name = self.write("keys", packed)  # by its bytes, not its name
            self.posy("build", name, "-n", "300000", "-o", "f.posy")
            self.assertEqual(self.read("f.posy"), plain)
            self.posy("build", "-n", "300000", "-o", "f.posy", stdin=packed)
            self.assertEqual(self.read("f.posy"), plain)
            self.assertEqual(self.posy("query", "-c", "plain.posy", stdin=packed), b"300000\n")
            # Read twice: once for the number of keys.
            self.posy("build", name, "-o", "g.posy")
            self.assertEqual(json.loads(self.posy("info", "--json", "g.posy"))["items"], 300_000)

    def test_damaged_compressed_data(self):
        for name, packed in [("gzip", gzip.compress(self.lines(0, 1000).encode())), ("zstd", self.zstd(self.lines(0, 1000).encode()))]:
            self.write("cut", packed[:-9])
            self.fails("build", "cut", "-n", "10", "-o", "f.posy", saying=f"cut: the {name} data is cut off")
            self.fails("build", "-n", "10", "-o", "f.posy", stdin=packed[:-9], saying=f"standard input: the {name} data is cut off")
            self.write("bad", packed[:40] + bytes(30) + packed[70:])
            self.fails("build", "bad", "-n", "10", "-o", "f.posy", saying=f"bad: damaged {name} data")
            self.write("more", packed + b"rubbish")
            self.fails("build", "more", "-n", "10", "-o", "f.posy", saying=f"more: damaged {name} data")

    def test_other_forms_are_refused(self):
        text = self.lines(0, 1000).encode()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as z:
            z.writestr("keys.txt", text)
        rows = [("bzip2 data; pipe it through bzcat", bz2.compress(text)), ("xz data; pipe it through xzcat", lzma.compress(text)),
                ("a zip archive; pipe it through unzip -p", archive.getvalue()),
                ("UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8", text.decode().encode("utf-16")),
                ("UTF-16 text; convert it", gzip.compress(b"\xfe\xff" + text.decode().encode("utf-16-be")))]
        for saying, data in rows:
            self.write("keys", data)
            for command in [["build", "keys", "-o", "f.posy"], ["count", "keys"], ["spell", "-d", "keys", "keys"]]:
                self.fails(*command, saying="keys: " + saying)
            self.fails("count", stdin=data, saying="standard input: " + saying)
        self.assertEqual(self.posy("count", "--null", stdin=b"\xff\xfe\0"), b"1\t\xff\xfe\0")  # any bytes

    def test_commas_where_tabs_are_expected(self):
        rows = "name,town\nada,oslo\n"
        hint = "has no tab in its first line, but commas; if it is CSV, give --csv\n"
        self.posy("count", "--field", "1", stdin=rows)
        self.assertEqual(self.stderr, "posy: warning: standard input " + hint)
        for how in [["--csv"], ["--delimiter", ","], ["--delimiter", "\\t"]]:
            self.posy("count", "--field", "1", *how, stdin=rows)
            self.assertEqual(self.stderr, "")
        self.fails("count", "--field", "name", stdin=rows, saying="its first row has: name,town; if it is CSV, give --csv")

    def test_blank_lines_are_no_rows(self):
        self.assertEqual(self.fields("--csv", "--field", "1", stdin='a,1\r\n\r\n"",2\n\nb,3\n'), ["", "a", "b"])
        self.assertEqual(self.fields("--json-path", "a", stdin='{"a":1}\n\n \r\n{"a":2}\n'), ["1", "2"])

    def test_json_paths_and_json_that_is_none(self):
        self.assertEqual(self.fields("--json-path", ".user.id", stdin='{"user": {"id": 7}}\n'), ["7"])
        self.fails("count", "--json-path", "user.id", stdin="{bad\n", saying="a record without JSON in it")
        self.fails("count", "--json-path", "id", stdin='{\n  "id": 7\n}\n', saying="line 1: a record without JSON in it; each line must be JSON of its own: 'jq -c .'")
        self.fails("count", "--json-path", "id", stdin='[{"id": 7}, {"id": 8}]\n', saying="without a value at id; it is an array: 'jq -c .[]'")

    def test_large_integers_of_json_are_different_keys(self):
        numbers = ["18446744073709551615", "18446744073709551616", "18446744073709551617", "-9223372036854775809", "1.5", "true"]
        self.assertEqual(self.fields("--json-path", "a.0", stdin="".join(f'{{"a": [{n}]}}\n' for n in numbers)), sorted(numbers))
        self.fails("count", "--json-path", "a", "--integers", stdin='{"a": 18446744073709551616}\n', saying="without a 64-bit integer")

    def test_a_path_beyond_all_elements_is_an_error(self):
        for index in ["1", "18446744073709551616", "01", "-"]:
            self.fails("count", "--json-path", f"a.{index}", stdin='{"a": [7]}\n', saying=f"a record without a value at a.{index}")
        self.assertEqual(self.fields("--json-path", "a.18446744073709551616", stdin='{"a": {"18446744073709551616": "x"}}\n'), ["x"])

    def test_values_of_json(self):
        rows = [('{"a": {"b": 1}, "a": {"b": 2}}', ["2"]), ('{"a": {"b": 1}, "a": {}}', []), ('{"b": 1, "a": {"c": {"b": 3}}}', []), ('[{"b": 1}]', []),
                ('{"a": {"x": [[1], {"b": 4}], "b": "5"}}', ["5"]), ('{"a": {"b": null}}', []), ('{"a": {"b": [1]}}', [])]
        for row, keys in rows:
            out = self.posy("count", "--json-path", "a.b", "--skip-missing", stdin=row + "\n", status=0 if keys else 1).decode()
            self.assertEqual([line.split("\t")[1] for line in out.splitlines()], keys, row)

    def test_a_header_of_a_million_columns(self):
        # In quadratic time this would take hours.
        names = ",".join(f"c{i}" for i in range(1_000_000))
        row = "," * 999_999 + "x"
        self.assertEqual(self.fields("--csv", "--field", "c999999", stdin=f"{names}\n{row}\n"), ["x"])

    def test_errors_quote_a_bad_weight(self):
        self.fails("count", "--csv", "--field", "1", "--weight-field", "2", stdin="a,1\nb,-3\n",
                   saying="line 2: a record without a weight from 0 to 18446744073709551615 in field 2, which has '-3'")

    def test_errors_name_the_line(self):
        rows = "a,1\n" * 1_000_000 + "b,x\n"
        self.write("rows.csv", rows)
        self.fails("count", "rows.csv", "--field", "1", "--weight-field", "2", saying="rows.csv: at byte 4000000, line 1000001: a record without a weight")
        self.fails("count", "--csv", "--field", "1", "--weight-field", "2", stdin="a,1\n\nb,x\n", saying="standard input: at byte 5, line 3: a record")
        self.fails("count", "--csv", "--field", "n", "--weight-field", "2", stdin="n,w\nb,x\n", saying="standard input: at byte 4, line 2: a record")
        self.fails("count", "--csv", "--field", "1", "--weight-field", "2", stdin="n,w\nb,2\n", saying="if it has the names of columns, give --header;")

    def test_times_in_milliseconds_are_refused(self):
        seen = ["seen", "--window", "600", "--time-field", "1", "--field", "2"]
        self.fails(*seen, stdin="1800000000000\ta\n", saying="line 1: the time in field 1 lies beyond the year 5000; are these milliseconds")
        self.assertEqual(self.posy(*seen, stdin="1800000000.5\ta\n"), b"1800000000.5\ta\n")

    def test_skipped_records_are_counted(self):
        text = "a\t1\nb\nc\nd\t2\n"
        self.write("rows", text)
        self.posy("build", "rows", "--field", "2", "--skip-missing", "-o", "f.posy")  # reads it twice
        self.assertEqual(self.stderr, "posy: rows: skipped 2 records without what was asked for\n")
        self.assertEqual(self.fields("--field", "1", "--skip-missing", stdin=text), ["a", "b", "c", "d"])
        self.assertEqual(self.stderr, "")
        self.posy("count", "--json-path", "a", "--skip-missing", stdin='{bad\n{"a": 1}\n')
        self.assertEqual(self.stderr, "posy: standard input: skipped 1 record without what was asked for\n")

    def test_quoted_rows_are_what_a_csv_reader_reads(self):
        chance = random.Random(1)
        pieces = ["a", "b", " ", ",", "\n", '"', "\r\n", "é", "\t", "x" * 50]
        for delimiter, flag in [(",", "--csv"), ("\t", "--tsv")]:
            rows = [["".join(chance.choices(pieces, k=chance.randrange(6))) for _ in range(3)] for _ in range(3000)]
            text = io.StringIO()
            csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
            data = text.getvalue().encode()
            for column in (1, 2, 3):
                expected = sorted(row[column - 1] for row in rows)
                self.posy("build", "-n", "3000", "-f", "1e-9", flag, "--field", str(column), "-o", "g.posy", stdin=data)
                # Keys with newlines cannot be printed as lines: they are asked for.
                raw = "\0".join(key for key in expected).encode() + b"\0"
                self.assertEqual(self.posy("query", "-c", "--null", "g.posy", stdin=raw), b"3000\n")

    def test_large_files_are_cut_between_rows(self):
        rows = [[f"key {i}", "text with\nnewlines, and \"quotes\"" * (i % 40)] for i in range(20_000)]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        self.write("rows.csv", text.getvalue())
        self.assertEqual(self.fields("rows.csv", "--field", "1"), sorted(row[0] for row in rows))
        self.assertEqual(self.fields("--csv", "--field", "1", stdin=text.getvalue().encode()), sorted(row[0] for row in rows))

    def test_a_quote_that_does_not_end(self):
        self.write("bad.csv", 'a,b\n"c,d\n')
        self.fails("build", "bad.csv", "--field", "1", "-n", "9", "-o", "f", saying="bad.csv: at byte 4, line 2: a field begins with a quote and does not end")
        self.fails("build", "--csv", "--field", "1", "-n", "9", "-o", "f", stdin='a,b\n"c,d\n', saying="at byte 4, line 2: a field begins with a quote")
        # The place is that of the quote, in rows that have newlines in them, and behind many blocks.
        rows = '"a\nb",1\n' * 500_000 + 'x,y,"z\n' + "a,1\n" * 1000
        self.write("bad.csv", rows)
        for command in (["bad.csv"], ["--csv"]):
            self.fails("build", *command, "--field", "1", "-n", "9", "-o", "f", stdin=rows.encode(),
                       saying="at byte 4000004, line 1000001: a field begins with a quote")

    def test_a_quote_that_does_not_end_takes_little_memory(self):
        self.write("bad.csv", "a,1\n" + '"b,2\n' + "c,3\n" * 25_000_000)
        kilobytes = 250_000 + 100_000  # the file is mapped; the rest is the program and 16 MiB of text
        done = subprocess.run(["bash", "-c", f"ulimit -v {kilobytes}; exec '{POSY}' build --threads 1 bad.csv --field 1 -n 9 -o f"], cwd=self.dir, capture_output=True)
        self.assertIn(b"bad.csv: at byte 4, line 2: a field begins with a quote and does not end, or not within 16 MiB", done.stderr)
        self.write("bad.csv", "a," + "x" * 20_000_000 + "\n")
        self.fails("build", "bad.csv", "--field", "1", "-n", "9", "-o", "f", saying="at byte 0, line 1: a row of more than 16 MiB")

    def test_a_column_has_a_number_or_a_name(self):
        self.fails("count", "--field", "", stdin="a\tb\n", saying="--field: it is empty; give the number or the name of a column")
        self.fails("count", "--every", "0s", stdin="a\n", saying="--every 0s: the interval must be longer than 0")

    def test_headers_and_names(self):
        text = "\ufeffcity,country,people\r\nParis,France,2\r\nParis,Texas,3\r\n"
        self.write("Cities.CSV", text)
        self.write("cities.csv.gz", gzip.compress(text.encode()))
        for name in ["Cities.CSV", "cities.csv.gz"]:
            self.assertEqual(self.fields(name, "--field", "country"), ["France", "Texas"])
            self.assertEqual(self.fields(name, "--field", "2", "--header"), ["France", "Texas"])
            self.assertEqual(self.fields(name, "--field", "country,city"), ["France\tParis", "Texas\tParis"])
            self.assertEqual(self.posy("count", name, "--field", "city", "--weight-field", "people"), b"5\tParis\n")
        self.posy("seal", "Cities.CSV", "--field", "country", "--value-field", "people", "-o", "map.posy")
        self.assertEqual(self.posy("query", "map.posy", stdin="Texas\n"), b"Texas\t3\n")
        self.fails("count", "Cities.CSV", "--field", "town", saying="no column is named 'town'; its first row has: city, country, people")

    def test_a_key_of_several_fields_has_the_bytes_of_a_tuple(self):
        self.posy("build", "--csv", "--field", "1,3", "-n", "10", "-f", "1e-9", "-o", "f.posy", stdin="ab,x,c\n")
        key = b"".join(struct.pack("<Q", len(part)) + part for part in [b"ab", b"c"])
        self.posy("build", "-n", "10", "-f", "1e-9", "-o", "bytes.posy", stdin=key + b"\n")  # a line may have NUL in it
        self.assertEqual(self.read("f.posy"), self.read("bytes.posy"))
        self.posy("build", "--csv", "--field", "1,2", "--integers", "-n", "10", "-f", "1e-9", "-o", "g.posy", stdin="7,-1\n")
        self.assertEqual(self.posy("query", "-c", "--csv", "--field", "2,1", "--integers", "g.posy", stdin="-1,7\n"), b"1\n")

    def test_blanks(self):
        self.assertEqual(self.fields("--delimiter", "blank", "--field", "2", stdin="a  b\t c\n  d \t e\n"), ["b", "e"])

    def test_nothing_is_lost_of_csv_that_is_not_quite_csv(self):
        self.write("q.csv", '"x"y\n"x"z,1\n"a""b" ,2\n"x"\n')
        self.assertEqual(self.fields("q.csv", "--field", "1"), sorted(['xy', 'xz', 'a"b ', 'x']))
        self.write("cr.csv", "a,b\r1,2\r3,4\r")
        self.posy("count", "--field", "1", "cr.csv")
        self.assertIn("cr.csv has lines that end with CR alone", self.stderr)
        self.write("crlf.csv", "a,b\r\n1,2\r\n")
        self.posy("count", "--field", "b", "crlf.csv")
        self.assertEqual(self.stderr, "")

    def test_marks_and_carriage_returns_are_noticed(self):
        for text in ["\ufeffa\nb\n", "a\r\nb\r\n"]:
            self.posy("count", stdin=text)
            self.assertIn("--trim removes it", self.stderr)
            self.assertEqual(self.fields("--trim", stdin=text), ["a", "b"])
            self.assertEqual(self.stderr, "")
        self.assertEqual(self.fields("--trim", stdin=" a \n\tb\n"), ["a", "b"])
        self.assertEqual(self.fields("--json-path", "a", stdin='\ufeff{"a":1}\n'), ["1"])
        self.assertEqual(self.stderr, "")
        self.posy("count", stdin="a\rb\rc\r")
        self.assertIn("lines that end with CR alone", self.stderr)
        self.write("keys", "a\r\nb\r\n")
        self.posy("build", "keys", "-o", "f.posy")  # reads it twice, warns once
        self.assertEqual(self.stderr.count("\n"), 1)

    def test_a_filter_is_not_keys(self):
        self.posy("build", "-n", "10", "-o", "f.posy", stdin="a\n")
        self.fails("build", "f.posy", "-n", "10", "-o", "g.posy", saying="f.posy: this is a posy file, not a list of keys")
        self.fails("query", "f.posy", "f.posy", saying="f.posy: this is a posy file, not a list of keys")

    def test_json_lines_have_weights_and_times(self):
        rows = '{"who": "a", "n": {"bytes": 5}}\n{"who": "b", "n": {"bytes": 7}}\n{"who": "a", "n": {"bytes": 1}}\n'
        self.assertEqual(self.posy("count", "--json-path", "who", "--weight-field", "n.bytes", stdin=rows), b"7\tb\n6\ta\n")
        self.fails("count", "--json-path", "who", "--weight-field", "n.packets", stdin=rows, saying="a record without a weight")

    def test_words(self):
        text = "well-known 'dog's' -- rock-'n'-roll e.g.\n"
        self.assertEqual(self.fields("--words", stdin=text), sorted(["well", "known", "dog's", "rock", "n", "roll", "e", "g"]))
        self.assertEqual(self.fields("--words", "--inner", "'-", stdin=text), sorted(["well-known", "dog's", "rock-'n'-roll", "e", "g"]))


if __name__ == "__main__":
    main()
