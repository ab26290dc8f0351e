"""What the tool says when it is used in a wrong way, and how it counts and shows several files.

Usage: messages_test.py POSY [unittest arguments]
"""
import json
import subprocess

from harness import POSY, ToolTest, main


class Messages(ToolTest):
    def setUp(self):
        super().setUp()
        self.posy("build", "-n", "10", "-f", "1e-6", "-o", "f.posy", stdin="a\nb\n")

    def test_the_nearest_name(self):
        self.fails("bild", "x", saying="there is no command 'bild'; did you mean build?")
        self.fails("qurey", "f.posy", saying="there is no command 'qurey'; did you mean query?")
        self.fails("build", "--feild", "1", "-o", "x", saying="there is no option --feild; did you mean --field?")
        self.fails("build", "--fprr=1", "-o", "x", saying="there is no option --fprr; did you mean --fpr?")
        self.fails("--bogus", saying="there is no option --bogus; try 'posy --help'")
        self.fails("fold", "f.posy", "g.posy", "-o", "x", saying="'g.posy' is an argument too many")

    def test_a_key_in_place_of_a_file(self):
        self.fails("query", "f.posy", "hello", saying="keys come from files: if this is a key, write it to standard input")

    def test_an_equals_sign_behind_a_short_option(self):
        self.fails("build", "-o=x", stdin="a\n", saying="--output: '=x' begins with '='")

    def test_a_picture_of_what_has_none(self):
        self.fails("plan", "-n", "10", "--tradeoff", "--plot", "x.svg", saying="--tradeoff excludes --plot")
        self.fails("plan", "--sketch", "0.01,0.01", "--plot", "x.svg", saying="--sketch excludes --plot")

    def test_counts_of_several_files(self):
        self.write("one", "a\nx\n")
        self.write("two", "a\nb\n")
        self.write("none", "y\n")
        self.assertEqual(self.posy("query", "-c", "f.posy", "one", "two", "none"), b"one:1\ntwo:2\nnone:0\n")
        self.assertEqual(self.posy("query", "-c", "-v", "f.posy", "one", "none"), b"one:1\nnone:1\n")
        self.assertEqual(self.posy("query", "-c", "f.posy", "two"), b"2\n")
        for quiet in ["-qc", "-q", "-qv"]:
            self.assertEqual(self.posy("query", quiet, "f.posy", "one", "two"), b"")
        self.assertEqual(self.posy("query", "-q", "--json", "f.posy", "one"), b"")

    def test_one_bad_file_among_good_ones(self):
        self.write("bad", "no message")
        done = subprocess.run([POSY, "info", "--json", "f.posy", "bad", "missing", "f.posy"], capture_output=True, cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        decoder, text, seen = json.JSONDecoder(), done.stdout.decode().strip(), 0
        while text:
            _, end = decoder.raw_decode(text)
            text, seen = text[end:].strip(), seen + 1
        self.assertEqual(seen, 2)
        self.assertRegex(done.stderr.decode(), r"\Aposy: bad: [^\n]*\nposy: missing: cannot open[^\n]*\n\Z")

    def test_help_fits_100_columns(self):
        commands = self.posy("--help").decode().split("Subcommands:")[1].split("\n")
        names = [line.split()[0] for line in commands if line.startswith("  ") and line[2] != " "]
        self.assertIn("reconcile", names)
        for name in names:
            wide = [line for line in self.posy(name, "--help").decode().splitlines() if len(line) > 100]
            self.assertEqual(wide, [], name)


if __name__ == "__main__":
    main()
