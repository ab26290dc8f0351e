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

    def test_a_command_that_is_missing_is_one_of_these(self):
        self.fails(saying="a command is missing: plan, build, query, ")
        self.fails("password", saying="a command is missing: seal or check; try 'posy password --help'")

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

    # ---- options that would do nothing ----

    def test_options_that_do_nothing_are_refused(self):
        self.write("keys", "a\nb\n")
        for arguments, saying in [
                (["build", "keys", "--counter-bits", "8", "-o", "x"], "--counter-bits requires --counting"),
                (["query", "f.posy", "keys", "--alphabet", "abc"], "--alphabet requires --near"),
                (["query", "f.posy", "keys", "-c", "--json"], "--json excludes --count"),
                (["query", "f.posy", "keys", "--timeout", "3"], "--timeout is for a URL, and f.posy is not; leave it out"),
                (["pack", "f.posy", "--field", "1"], "--field requires --from-keys"),
                (["pack", "f.posy", "--hash", "md5"], "--hash requires --from-keys"),
                (["pack", "f.posy", "--threads", "2"], "--threads requires --from-keys"),
                (["pack", "f.posy", "--max-memory", "1M"], "--max-memory requires --from-keys"),
                (["pack", "f.posy", "--fast", "--codec", "range"], "--codec excludes --fast"),
                (["pack", "f.posy", "--queryable", "small", "--codec", "range"], "--queryable excludes --codec"),
                (["pack", "--from-keys", "keys", "--max-bytes", "100", "--codec", "range"], "--from-keys excludes --codec"),
                (["seen", "keys", "--window", "1m", "--save-every", "1s"], "--save-every requires --state"),
                (["build", "keys", "--csv", "--words", "-o", "x"], "excludes"),
                (["build", "keys", "--json-path", "a", "--delimiter", ",", "-o", "x"], "excludes"),
                (["build", "keys", "--null", "--tsv", "-o", "x"], "excludes"),
                (["plan", "-n", "10", "--items-there", "10"], "--items-there requires --difference"),
                (["plan", "-n", "10", "--tradeoff", "--window", "3"], "--tradeoff excludes --window"),
                (["reconcile", "keys", "keys", "--bits-per-item", "8"], "--bits-per-item is the size of a filter or tree, and --method exact has none"),
                (["reconcile", "keys", "keys", "--json", "--missing-here"], "--json excludes --missing-here"),
                (["info", "--json", "-v", "f.posy"], "--verbose excludes --json"),
                (["papers", "--list", "--trials", "3"], "--list excludes --trials")]:
            with self.subTest(arguments=arguments):
                self.posy(*arguments, status=2)
                self.assertRegex(self.stderr, r"\Aposy: [^\n]*\n\Z")
                self.assertTrue(saying in self.stderr or " ".join(reversed(saying.split(" "))) in self.stderr, self.stderr)

    def test_a_counting_filter_loses_its_counters_only_with_a_word(self):
        self.posy("build", "--counting", "-n", "10", "-o", "c.posy", stdin="a\nb\n")
        self.posy("pack", "--queryable", "small", "c.posy", "-o", "q.posy")
        self.assertIn("posy: note: c.posy: a queryable filter has no counters", self.stderr)
        self.posy("pack", "--queryable", "small", "f.posy", "-o", "q.posy")
        self.assertEqual(self.stderr, "")
        self.posy("pack", "c.posy", "-o", "packed.posy")
        self.assertEqual(self.stderr, "")
        self.posy("remove", "packed.posy", stdin="a\n")

    def test_records_that_lack_something_are_skipped_where_asked(self):
        self.write("t.csv", "a,1\nb\nc,x\nd,4\n")
        self.fails("seal", "--values", "t.csv", "-o", "x", saying="--skip-missing skips such records")
        self.posy("seal", "--values", "--skip-missing", "t.csv", "-o", "m.posy")
        self.assertEqual(self.posy("query", "m.posy", stdin="a\nd\n"), b"a\t1\nd\t4\n")
        self.assertEqual(json.loads(self.posy("info", "--json", "m.posy"))["items"], 2)
        seen = ["seen", "--window", "1m", "--field", "1", "--time-field", "2", "t.csv"]
        self.posy(*seen, status=2)
        self.assertIn("--skip-missing skips such records", self.stderr)
        self.assertEqual(self.posy(*seen, "--skip-missing"), b"a,1\nd,4\n")

    # ---- a filter filled past its plan ----

    def test_a_filter_that_holds_more_than_planned(self):
        self.write("many", self.lines(0, 300))
        warning = "it holds 300 items, 200 more than the 100 it was planned for"
        for kind in [[], ["--counting"]]:
            self.posy("build", "-n", "100", *kind, "many", "-o", "full.posy")
            self.assertIn(warning, self.stderr)
            self.posy("build", "-n", "100", *kind, "-o", "grown.posy")
            self.assertEqual(self.stderr, "")
            self.posy("add", "grown.posy", "many")
            self.assertIn(warning, self.stderr)
            self.posy("query", "-c", "grown.posy", "many")
            self.assertIn(warning, self.stderr)
            self.posy("query", "-q", "grown.posy", "many")
            self.assertEqual(self.stderr, "")
            self.assertRegex(self.posy("info", "grown.posy").decode(), r"(?m)^items planned +100; exceeded by 200$")
            self.assertTrue(json.loads(self.posy("info", "--json", "grown.posy"))["past_plan"])
        self.posy("pack", "--queryable", "small", "full.posy", "-o", "q.posy")
        self.posy("query", "-c", "q.posy", "many")
        self.assertIn(warning, self.stderr)
        self.posy("query", "-c", "f.posy", "many", status=1)
        self.assertEqual(self.stderr, "")

    def test_one_key_more_than_planned_is_no_reason_to_rebuild(self):
        self.posy("build", "-n", "1k", "-o", "f1k.posy", stdin=self.lines(0, 1000))
        self.posy("add", "f1k.posy", stdin="another\n")
        self.assertEqual(self.stderr, "")
        self.posy("add", "f1k.posy", stdin=self.lines(1000, 1200))
        self.assertIn("it holds 1,201 items, 201 more than the 1,000 it was planned for", self.stderr)

    def test_repeated_keys_of_a_pipe_are_within_the_plan(self):
        for text in ["a b c d e f a\n", "a b a b a b a b a b a b\n", "a a a\n"]:
            self.posy("build", "--words", "--fpr", "1e-6", "-o", "words.posy", stdin=text)
            self.assertEqual(self.stderr, "")

    # ---- tiny numbers ----

    def test_a_tiny_rate_is_not_zero(self):
        self.posy("build", "-n", "1", "-b", "200000", "-k", "2", "--layout", "spread", "-o", "tiny.posy", stdin="a\n")
        text = self.posy("info", "tiny.posy").decode()
        self.assertRegex(text, r"(?m)^fill +0\.001 %$")
        self.assertRegex(text, r"(?m)^false-positive rate +1e-10 \(1 in 9,999,999,995\)$")
        self.assertRegex(text, r"(?m)^  predicted +1e-10 \(1 in [\d,]+\) for 1 item$")
        self.assertRegex(self.posy("plan", "-n", "1", "-b", "200000", "-k", "2", "--layout", "spread").decode(), r"(?m)^fill +0\.001 %$")
        self.posy("build", "-n", "100k", "-o", "a.posy", stdin=self.lines(0, 100_000))
        self.posy("build", "-n", "100k", "-o", "b.posy", stdin=self.lines(99_999, 100_003))
        self.assertRegex(self.posy("compare", "a.posy", "b.posy").decode(), r"(?m)^Jaccard +[\d.]+e-0\d ")


if __name__ == "__main__":
    main()
