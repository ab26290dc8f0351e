"""The posy command from outside: what users type, what they see, and what bad input gets.

Usage: tool_test.py POSY [unittest arguments]
"""
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import unittest

POSY = os.path.abspath(sys.argv[1])


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.dir = self.scratch.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return name

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def posy(self, *args, stdin=b"", status=0, **kwargs):
        stdin = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run([POSY, *args], input=stdin, capture_output=True, cwd=self.dir, timeout=600, **kwargs)
        self.assertEqual(done.returncode, status, f"posy {' '.join(args)}: {done.stderr.decode()}")
        self.stderr = done.stderr.decode()
        return done.stdout

    def fails(self, *args, saying, **kwargs):
        """Exit status 2, one line on standard error that says so, nothing on standard output, no file left."""
        before = sorted(os.listdir(self.dir))
        out = self.posy(*args, status=2, **kwargs)
        self.assertEqual(out, b"")
        self.assertRegex(self.stderr, r"\Aposy: [^\n]*\n\Z")
        self.assertIn(saying, self.stderr)
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def lines(self, start, stop):
        return "".join(f"key {i}\n" for i in range(start, stop))


class Plan(ToolTest):
    def test_the_papers_figures(self):
        def rate(*args):
            return json.loads(self.posy("plan", "--items", "1000000", *args, "--json"))["false_positive_rate"]
        ten = ["--bits-per-item", "10", "--layout", "spread", "--hashes"]
        self.assertEqual(round(rate(*ten, "4"), 4), 0.0118)
        self.assertEqual(round(rate(*ten, "7"), 4), 0.0082)

    def test_fields_for_programs(self):
        plan = json.loads(self.posy("plan", "-n", "1M", "--fpr", "0.01", "--delta-fraction", "0.05", "--json"))
        for field in ["items", "bits", "hashes", "layout", "bits_per_item", "fill", "false_positive_rate",
                      "memory_bytes", "file_bytes", "message_bits_per_item", "message_bytes", "frame_bytes",
                      "delta_bits_per_item", "delta_message_bytes", "delta_frame_bytes"]:
            self.assertIn(field, plan)
        for counting, width in zip(plan["counting"], [4, 8]):
            self.assertEqual(counting["counter_bits"], width)
            self.assertLessEqual(counting["overflow_probability"], counting["overflow_bound"])
            self.assertGreater(counting["highest_counter"], 5)
        for row in plan["sealed"] + [plan["growing"]] + plan["alternatives"]:
            self.assertGreater(row["message_bytes"] - row["frame_bytes"], 0.99 * row["message_bits_per_item"] * 1e6 / 8)
            self.assertIn(row["frame_bytes"], range(15, 80))
        self.assertLessEqual(plan["false_positive_rate"], 0.01)
        self.assertIn("standard, same rate", [a["name"] for a in plan["alternatives"]])

    def test_a_message_budget_beats_the_plain_filter(self):
        plan = json.loads(self.posy("plan", "-n", "10000", "--message-bits", "8", "--max-memory", "17.5kB", "--json"))
        self.assertEqual((plan["bits"], plan["hashes"]), (139968, 2))  # whole words: 17,496 bytes
        self.assertAlmostEqual(plan["false_positive_rate"], 0.0177, places=4)

    def test_many_hashes_use_the_message_too(self):
        plan = json.loads(self.posy("plan", "-n", "1M", "--message-bits", "8", "--hashes", "10", "--json"))
        self.assertLessEqual(plan["false_positive_rate"], 0.0206)
        rows = json.loads(self.posy("plan", "-n", "1M", "--message-bits", "8", "--tradeoff", "--json"))
        self.assertEqual(len(rows), 32)
        for row in rows:
            self.assertAlmostEqual(row["message_bits_per_item"], 8, places=3)
            self.assertLess(row["false_positive_rate"], 0.0217)

    def test_the_smallest_delta(self):
        plan = json.loads(self.posy("plan", "-n", "10M", "-b", "13", "-f", "0.0217", "--minimize", "delta",
                                    "--delta-fraction", "0.05", "--json"))
        self.assertEqual((plan["hashes"], round(plan["delta_bits_per_item"], 4)), (2, 1.3124))
        self.fails("plan", "-n", "10M", "--minimize", "delta", saying="a delta needs a delta fraction")
        self.fails("plan", "-n", "1M", "-f", "0.001", "--delta-bits", "0.1", "--delta-fraction", "0.05",
                   saying="a delta of 0.1 bits per item is too small")

    def test_messages_are_as_large_as_planned(self):
        self.write("keys.txt", self.lines(0, 5000))
        plan = json.loads(self.posy("plan", "-n", "5000", "--message-bits", "6", "-k", "12", "--json"))
        self.posy("build", "keys.txt", "-n", "5000", "--message-bits", "6", "-k", "12", "-o", "f.posy")
        self.assertEqual(os.path.getsize(self.path("f.posy")), plan["file_bytes"])
        self.posy("pack", "f.posy", "-o", "packed.posy")
        self.assertAlmostEqual(os.path.getsize(self.path("packed.posy")), plan["message_bytes"], delta=40)
        self.posy("build", "keys.txt", "--counting", "-n", "5000", "-f", "0.01", "-o", "c.posy")
        plan = json.loads(self.posy("plan", "-n", "5000", "-f", "0.01", "--json"))["counting"][0]
        info = json.loads(self.posy("info", "--json", "c.posy"))
        self.assertEqual(os.path.getsize(self.path("c.posy")), plan["file_bytes"])
        self.assertAlmostEqual(info["counter_message_bytes"], plan["message_bytes"], delta=40)
        self.assertLess(info["message_bits"] / 8, info["counter_message_bytes"])

    def test_extremes(self):
        def finite(value):
            if isinstance(value, dict):
                return all(map(finite, value.values()))
            if isinstance(value, list):
                return all(map(finite, value))
            return value is not None and value == value and value not in (float("inf"), float("-inf"))
        for items in ["1", "2", "3", "64", "65", "2049", str(2**30)]:
            for rate in ["0.9", "0.01", "1e-9"]:
                plan = json.loads(self.posy("plan", "-n", items, "-f", rate, "--json"))
                self.assertTrue(finite(plan), (items, rate))
                self.assertEqual(plan["bits_per_item"], plan["bits"] / int(items))
                self.assertLessEqual(plan["false_positive_rate"], float(rate))

    def test_impossible_wishes_are_named(self):
        self.fails("plan", "-n", "1M", "-f", "0.001", "-b", "10", saying="a false-positive rate of 0.001 cannot be had: the best is")
        self.fails("plan", "-n", "1M", "-f", "0.001", "--max-memory", "1MB", saying="the largest allowed is 1000000")
        self.fails("plan", "-n", "1M", "-k", "9", "--max-hashes", "4", saying="contradict each other")
        self.fails("plan", "-n", "1M", "-f", "nan", saying="must lie between 0 and 1")
        self.fails("plan", "-n", "1M", "-f", "0", saying="must lie between 0 and 1")
        self.fails("plan", "-n", "1M", "-b", "nan", saying="must be a positive number")
        self.fails("plan", "-n", "1M", "-k", "0", saying="at least one hash")
        self.fails("plan", "-n", "1M", "-k", "40", saying="takes 1 to 16")
        self.fails("plan", "-n", "1e30", saying="is not an amount")
        self.fails("plan", saying="--items")

    def test_plot(self):
        self.posy("plan", "-n", "1M", "--plot", "curve.svg")
        with open(self.path("curve.svg")) as f:
            svg = f.read()
        self.assertIn("<svg", svg)
        self.assertIn("bits per item", svg)
        self.fails("plan", "-n", "1M", "--plot", "no/such/curve.svg", saying="no/such/curve.svg")


class BuildAndQuery(ToolTest):
    def test_files_pipes_and_numbers_of_threads_give_the_same_filter(self):
        self.write("a.txt", self.lines(0, 30000))
        self.write("b.txt", self.lines(30000, 50000).rstrip("\n"))
        self.posy("build", "a.txt", "b.txt", "-o", "files.posy")
        both = self.lines(0, 50000)
        self.posy("build", "-b", "10", "-o", "pipe.posy", stdin=both)  # with a rate alone it would grow
        self.posy("build", "-b", "10", "a.txt", "b.txt", "-o", "ten.posy")
        self.assertEqual(self.read("ten.posy"), self.read("pipe.posy"))
        self.posy("build", "--threads", "1", "a.txt", "b.txt", "-o", "one.posy")
        known = self.posy("build", "-n", "50000", "-", "-o", "-", stdin=both)
        self.assertEqual(self.read("files.posy"), self.read("one.posy"))
        self.assertEqual(self.read("files.posy"), known)
        self.assertEqual(self.posy("query", "files.posy", stdin=both), both.encode())
        self.posy("query", "-v", "-q", "files.posy", stdin=both, status=1)

    def test_measured_rates_are_the_planned_ones(self):
        """Each layout: 10^5 random lines all found; the rate on 10^6 others within 4 deviations of the plan."""
        rng = random.Random(5)
        members = "".join(f"{rng.getrandbits(64):x}\n" for _ in range(100_000))
        others = "".join(f"{rng.getrandbits(64):x}\n" for _ in range(1_000_000))
        self.write("members", members)
        for layout in ["spread", "sliced", "blocked"]:
            self.posy("build", "members", "--layout", layout, "-f", "0.01", "-o", "f.posy")
            self.assertEqual(self.posy("query", "f.posy", "members"), members.encode())
            info = json.loads(self.posy("info", "--json", "f.posy"))
            found = json.loads(self.posy("query", "--json", "f.posy", stdin=others))
            measured = found["may_be_present"] / 1e6
            # The plan is an expectation over filters, info speaks of this one; both within the sampling error
            # of 10^6 queries plus, for the plan, the spread between filters (below a tenth of it here).
            for field in ["false_positive_rate", "predicted_false_positive_rate", "planned_false_positive_rate"]:
                tolerance = 4 * math.sqrt(info[field] / 1e6) * 1.1
                self.assertAlmostEqual(measured, info[field], delta=tolerance, msg=f"{layout} {field}")

    def test_keys_from_fields_json_words_and_nul(self):
        self.write("cities.csv", 'Oslo,NO\n"Paris, Texas",US\n"the ""Big"" Apple",US\n')
        self.posy("build", "cities.csv", "--field", "1", "-f", "1e-9", "-o", "cities.posy")
        self.assertEqual(self.posy("query", "cities.posy", stdin='Paris, Texas\nthe "Big" Apple\nOslo,NO\n'),
                         b'Paris, Texas\nthe "Big" Apple\n')
        self.write("people.tsv", "1\tAda\tOslo\n2\tBob\tRome\n3\tCid\tOslo\n")
        self.assertEqual(self.posy("query", "cities.posy", "people.tsv", "--field", "3"), b"1\tAda\tOslo\n3\tCid\tOslo\n")
        self.assertEqual(self.posy("query", "cities.posy", "--field", "2", "--delimiter", ";", stdin="x;Oslo\n"), b"x;Oslo\n")
        self.write("events.json", '{"user": {"city": "Oslo", "id": 7}}\n{"user": {"city": "Rome"}}\n')
        self.assertEqual(self.posy("query", "cities.posy", "events.json", "--json-path", "user.city"),
                         b'{"user": {"city": "Oslo", "id": 7}}\n')
        self.posy("build", "events.json", "--json-path", "/user/id", "--skip-missing", "-f", "1e-9", "-o", "ids.posy")
        self.assertEqual(self.posy("query", "ids.posy", stdin="7\n8\n"), b"7\n")
        self.fails("build", "events.json", "--json-path", "user.id", "-o", "x.posy", saying="events.json: at byte 36: a record without a value at user.id")
        self.fails("build", "people.tsv", "--field", "9", "-o", "x.posy", saying="people.tsv: at byte 0: a record without field 9")
        self.posy("build", "--words", "-f", "1e-9", "-o", "words.posy", stdin="It's a 'quoted' Zürich, don't.\n")
        self.assertEqual(self.posy("query", "--words", "words.posy", stdin="It's Zürich don't quote quoted a"),
                         "It's\nZürich\ndon't\nquoted\na\n".encode())
        self.posy("build", "--null", "-f", "1e-9", "-o", "names.posy", stdin=b"a\nb\0c\0")
        self.assertEqual(self.posy("query", "--null", "names.posy", stdin=b"c\0a\nb\0a\0"), b"c\0a\nb\0")

    def test_integers(self):
        self.posy("build", "--integers", "--hash", "multiply-shift", "--seed", "5", "-f", "1e-9", "-o", "n.posy",
                  stdin="7\n-1\n18446744073709551614\n")
        self.assertEqual(self.posy("query", "--integers", "n.posy", stdin="07\n-1\n18446744073709551614\n8\n"),
                         b"07\n-1\n18446744073709551614\n")
        self.fails("query", "--integers", "n.posy", stdin="7\nseven\n", saying="standard input: at byte 2: a record without a 64-bit integer")

    def test_seeds_and_families(self):
        keys = self.lines(0, 100)
        for args in [["--hash", "siphash"], ["--hash", "siphash", "--seed", "0x000102030405060708090a0b0c0d0e0f"],
                     ["--hash", "md5"], ["--seed", "77"]]:
            self.posy("build", *args, "-o", "f.posy", stdin=keys)
            self.assertEqual(self.posy("query", "-c", "f.posy", stdin=keys), b"100\n")
        first = self.posy("build", "--hash", "siphash", "-o", "-", stdin=keys)
        self.assertNotEqual(first, self.posy("build", "--hash", "siphash", "-o", "-", stdin=keys))
        self.fails("build", "--seed", "x1", "-o", "f2.posy", stdin=keys, saying="--seed x1")
        self.fails("build", "--hash", "md5", "--seed", "3", "-o", "f2.posy", stdin=keys, saying="md5 takes no seed")

    def test_near(self):
        self.posy("build", "-f", "1e-8", "-o", "d.posy", stdin="letter\n")
        near = "letter\nlettr\nlettter\nlettfr\nletetr\nxletter\n"
        self.assertEqual(self.posy("query", "--near", "d.posy", stdin=near + "lette rs\nlet\n"), near.encode())
        self.posy("build", "-f", "0.01", "-o", "vague.posy", stdin=self.lines(0, 1000))
        self.posy("query", "--near", "-q", "vague.posy", stdin="key 1\n")
        self.assertIn("by chance", self.stderr)
        self.fails("query", "--near", "--integers", "d.posy", stdin="1\n", saying="does not go with --integers")

    def test_empty_input(self):
        self.posy("build", "-o", "empty.posy", stdin="")
        self.posy("query", "empty.posy", stdin="a\n\n", status=1)
        self.assertEqual(json.loads(self.posy("info", "--json", "empty.posy"))["items"], 0)
        self.write("nothing.txt", "")
        self.posy("build", "nothing.txt", "-o", "empty2.posy")

    def test_a_filter_from_a_pipe(self):
        f = self.posy("build", "-o", "-", stdin="a\nb\n")
        self.write("keys", "a\nzzz\n")
        self.assertEqual(self.posy("query", "-", "keys", stdin=f), b"a\n")
        self.fails("query", "-", stdin=f, saying="cannot both come from standard input")

    def test_sizes_beyond_32_bits(self):
        self.posy("build", "-n", "100", "--bits-per-item", "50000000", "-k", "3", "--layout", "spread", "-o", "big.posy", stdin=self.lines(0, 100))
        self.assertGreater(os.path.getsize(self.path("big.posy")), 600_000_000)
        self.assertEqual(self.posy("query", "-c", "big.posy", stdin=self.lines(0, 100)), b"100\n")
        self.posy("query", "big.posy", stdin=self.lines(200, 400), status=1)


class Change(ToolTest):
    def test_add_and_remove(self):
        self.posy("build", "--counting", "-n", "1000", "-f", "1e-6", "-o", "c.posy", stdin="a\nb\n")
        self.posy("add", "c.posy", stdin="c\n")
        self.posy("remove", "c.posy", stdin="a\n")
        self.assertEqual(self.posy("query", "c.posy", stdin="a\nb\nc\n"), b"b\nc\n")
        before = self.read("c.posy")
        self.posy("remove", "c.posy", "-o", "other.posy", stdin="never\n", status=1)
        self.assertIn("certainly not in the set", self.stderr)
        self.assertEqual(self.read("other.posy"), before)
        self.posy("build", "-n", "1000", "-o", "plain.posy", stdin="a\n")
        self.posy("add", "plain.posy", stdin="z\n")
        self.assertEqual(self.posy("query", "plain.posy", stdin="z\n"), b"z\n")
        self.fails("remove", "plain.posy", stdin="a\n", saying="only one built with --counting")

    def test_eight_bit_counters(self):
        self.posy("build", "--counting", "--counter-bits", "8", "-n", "10", "-o", "c.posy", stdin="a\n" * 100)
        self.assertEqual(json.loads(self.posy("info", "--json", "c.posy"))["saturated_counters"], 0)
        self.posy("build", "--counting", "-n", "10", "-o", "c.posy", stdin="a\n" * 100)
        self.assertGreater(json.loads(self.posy("info", "--json", "c.posy"))["saturated_counters"], 0)


class Planned(ToolTest):
    """A filter keeps what it was planned for, and says when it holds more."""

    def info(self, name):
        return json.loads(self.posy("info", "--json", name))

    def planned(self, name):
        info = self.info(name)
        return info["planned_items"], info["planned_false_positive_rate"]

    def test_the_plan_is_kept(self):
        plan = json.loads(self.posy("plan", "-n", "5000", "-f", "0.003", "--json"))
        promised = (5000, plan["false_positive_rate"])
        self.posy("build", "-n", "5000", "-f", "0.003", "-o", "f", stdin=self.lines(0, 1000))
        self.assertEqual(self.stderr, "")
        self.assertEqual(self.planned("f"), promised)
        info = self.info("f")
        self.assertEqual((info["items"], info["past_plan"]), (1000, False))
        predicted = json.loads(self.posy("plan", "-n", "1000", "-b", str(info["bits"] / 1000), "-k", str(info["hashes"]), "--json"))
        self.assertEqual(predicted["bits"], info["bits"])
        self.assertEqual(info["predicted_false_positive_rate"], predicted["false_positive_rate"])
        text = self.posy("info", "f").decode()
        self.assertRegex(text, r"(?m)^items planned +5,000\nitems inserted +1,000$")
        self.assertNotIn("as planned", text)
        for args in [[], ["--queryable", "small"], ["--queryable", "fast"], ["--queryable", "list"]]:
            self.posy("pack", "f", *args, "-o", "p")
            self.assertEqual(self.planned("p"), promised)
            self.posy("unpack", "p", "-o", "u")
            self.assertEqual(self.read("u"), self.read("f"))
        self.posy("build", "--counting", "-n", "5000", "-f", "0.003", "-o", "c", stdin=self.lines(0, 1000))
        self.assertEqual(self.planned("c"), promised)
        self.posy("add", "c", stdin=self.lines(1000, 1100))
        self.posy("remove", "c", stdin=self.lines(0, 100))
        self.assertEqual(self.planned("c"), promised)
        self.posy("delta", "f", "c", "-o", "d")
        self.posy("apply", "f", "d")
        self.assertEqual(self.planned("f"), promised)
        self.posy("union", "f", "c", "-o", "both")
        self.assertEqual(self.planned("both"), promised)

    def test_what_was_counted_is_what_was_planned(self):
        self.write("keys", self.lines(0, 3000))
        for args in [["keys"], ["keys", "-b", "12"], ["keys", "--counting"]]:
            self.posy("build", *args, "-o", "f")
            info = self.info("f")
            self.assertEqual((info["planned_items"], info["items"]), (3000, 3000), args)
            self.assertEqual(info["planned_false_positive_rate"], info["predicted_false_positive_rate"])
        self.posy("build", "-b", "12", "-o", "f", stdin=self.lines(0, 3000))
        self.assertEqual(self.planned("f")[0], 3000)
        self.posy("build", "-f", "0.02", "-o", "grown", stdin=self.lines(0, 3000))  # from a pipe, folded down
        self.assertEqual(self.planned("grown"), (3000, 0.02))
        self.posy("build", "--growing", "-f", "0.02", "-o", "growing", stdin=self.lines(0, 3000))
        self.assertEqual(self.info("growing")["promised_rate"], 0.02)
        self.assertIn("promised rate", self.posy("info", "growing").decode())

    def test_a_fold_promises_what_can_be_kept(self):
        self.posy("build", "-n", "1000", "-b", "102.4", "-k", "5", "-o", "wide", stdin=self.lines(0, 1000))
        self.posy("fold", "wide", "--by", "10", "-o", "folded")
        items, rate = self.planned("folded")
        self.assertEqual(items, 1000)
        self.assertGreater(rate, 100 * self.planned("wide")[1])
        self.assertEqual(rate, self.info("folded")["predicted_false_positive_rate"])

    def test_filling_past_the_plan_warns(self):
        def warned(more, holds, *args, **kwargs):
            self.posy(*args, **kwargs)
            self.assertRegex(self.stderr, rf"\Aposy: [^\n]*: it holds {holds} items, {more} more than the 1,000 it was planned for, "
                             rf"and its false-positive rate is [^\n]*--items {holds.replace(',', '')} or more\n\Z")
        def silent(*args, **kwargs):
            self.posy(*args, **kwargs)
            self.assertEqual(self.stderr, "")
        for kind in [[], ["--counting"]]:
            silent("build", *kind, "-n", "1000", "-o", "f", stdin=self.lines(0, 1000))
            self.assertFalse(self.info("f")["past_plan"])
            silent("add", "f", "-o", "again", stdin=self.lines(0, 1000) * 3)  # nothing new
            warned("1,000", "2,000", "build", *kind, "-n", "1000", "-o", "g", stdin=self.lines(0, 2000))
            self.assertTrue(self.info("g")["past_plan"])
            self.assertIn("items planned         1,000; exceeded by 1,000\n", self.posy("info", "g").decode())
            warned("200", "1,200", "add", "f", stdin=self.lines(1000, 1200))
        silent("build", "-n", "1000", "-o", "a", stdin=self.lines(0, 500))
        silent("build", "-n", "1000", "-o", "b", stdin=self.lines(500, 1000))
        silent("build", "-n", "1000", "-o", "c", stdin=self.lines(1000, 1500))
        silent("union", "a", "b", "-o", "ab")
        warned("500", "1,500", "union", "ab", "c", "-o", "abc")
        silent("delta", "ab", "abc", "-o", "d")
        warned("500", "1,500", "apply", "ab", "d")
        rate = float(self.stderr.split("rate is ")[1].split()[0])
        self.assertAlmostEqual(rate, self.info("ab")["false_positive_rate"], delta=1e-3 * rate)
        # Where nobody planned, nothing is exceeded.
        silent("pack", "--from-keys", "-o", "p", "--max-bytes", "1400", self.write("keys", self.lines(0, 500)))
        silent("add", "p", stdin=self.lines(500, 2000))
        self.assertEqual(self.planned("p"), (None, None))


class Combine(ToolTest):
    def build(self, name, start, stop, *args):
        self.posy("build", "-n", "2000", *args, "-o", name, stdin=self.lines(start, stop))

    def test_union_intersection_fold(self):
        self.build("a", 0, 1000)
        self.build("b", 500, 2000)
        self.build("all", 0, 2000)
        stream = self.read("a") + self.read("b")
        united = self.posy("union", "-", stdin=stream)
        self.assertEqual(self.posy("query", "-c", "-", self.write("keys", self.lines(0, 2000)), stdin=united), b"2000\n")
        self.assertEqual(united[64:-4], self.read("all")[64:-4])
        self.posy("intersect", "a", "b", "-o", "common")
        self.assertEqual(self.posy("query", "-v", "-c", "common", stdin=self.lines(500, 1000), status=1), b"0\n")
        self.assertIsNone(json.loads(self.posy("info", "--json", "common"))["items"])
        self.assertEqual(json.loads(self.posy("info", "--json", "a"))["intersection"], False)
        self.build("wide", 0, 1000, "--bits-per-item", "512")
        self.posy("fold", "wide", "--by", "10", "-o", "tenth")
        self.build("direct", 0, 1000, "--bits-per-item", "51.2", "-k", str(json.loads(self.posy("info", "--json", "wide"))["hashes"]))
        self.assertEqual(self.read("tenth"), self.read("direct"))
        self.fails("fold", "wide", "--by", "7", saying="the divisor must divide the size")
        self.fails("fold", "wide", "--by", "0", saying="not in range")

    def test_an_intersection_is_bounded_and_not_estimated(self):
        """5,000 common keys of 40,000; an estimate from the bits of the AND is wrong by construction, far above."""
        for name, start in [("a", 0), ("b", 15000)]:
            self.posy("build", "-n", "20000", "-o", name, stdin=self.lines(start, start + 20000))
        self.posy("intersect", "a", "b", "-o", "common")
        self.posy("pack", "common", "-o", "packed")
        self.posy("pack", "common", "--queryable", "small", "-o", "queryable")
        self.posy("build", "-n", "20000", "-o", "few", stdin=self.lines(0, 10))
        self.posy("union", "few", "common", "-o", "united")
        self.posy("delta", "a", "common", "-o", "delta")
        self.posy("apply", "a", "delta", "-o", "applied")
        for name in ["common", "packed", "queryable", "united", "applied"]:
            info = json.loads(self.posy("info", "--json", name))
            e = info["estimated_items"]
            self.assertEqual((info["intersection"], e["value"], e["low"]), (True, None, 0), name)
            self.assertGreater(e["high"], 5000)
            self.assertLess(e["high"], 20000)
            self.assertIsNone(info["predicted_false_positive_rate"])
            text = self.posy("info", name).decode()
            self.assertRegex(text, r"(?m)^different items +at most [0-9,]+ at 95 %; 'posy compare'")
            self.assertIn("for keys of none of the sets", text)
        c = json.loads(self.posy("compare", "--json", "--level", "0.9999", "a", "b"))["intersection"]
        self.assertLess(c["low"], 5000)
        self.assertGreater(c["high"], 5000)
        self.fails("compare", "a", "common", saying="compare the filters that it was made from")

    def test_counting_filters_take_part_by_their_projection(self):
        self.build("a", 0, 1000)
        self.build("c", 1000, 2000, "--counting")
        self.assertEqual(self.posy("query", "-c", "-", self.write("keys", self.lines(0, 2000)), stdin=self.posy("union", "c", "a")), b"2000\n")

    def test_different_geometries_do_not_combine(self):
        self.build("a", 0, 10)
        self.build("b", 0, 10, "--seed", "1")
        self.build("c", 0, 10, "-f", "0.1")
        self.fails("union", "a", "b", "-o", "x", saying="b: the filters differ in seed 0 and 1")
        self.fails("intersect", "a", "c", "-o", "x", saying="c: the filters differ in bits")
        self.fails("compare", "a", "c", saying="a and c: the filters differ in bits")

    def test_compare(self):
        self.build("a", 0, 2000)
        self.build("b", 1000, 3000)
        c = json.loads(self.posy("compare", "--json", "--level", "0.9999", "a", "b"))
        for what, truth in [("a", 2000), ("b", 2000), ("intersection", 1000), ("union", 3000), ("jaccard", 1 / 3)]:
            self.assertLessEqual(c[what]["low"], truth, what)
            self.assertGreaterEqual(c[what]["high"], truth, what)
        self.assertIn("Jaccard", self.posy("compare", "a", "b").decode())

    def test_compare_by_the_surveys_formulas(self):
        for name, first, last in [("a", 0, 2000), ("b", 1000, 3000)]:
            self.build(name, first, last, "--layout", "spread")
        c = json.loads(self.posy("compare", "--json", "--formulas", "a", "b"))
        by = c["formulas"]
        # The zeros of A, B and their AND say what those of A, B and their OR say.
        self.assertAlmostEqual(by["from_zeros"], c["intersection"]["value"], delta=1e-6 * 1000)
        self.assertTrue(by["sizes_known"])
        self.assertAlmostEqual(by["from_inner_product"], 1000, delta=60)
        self.assertGreater(by["inner_product"], 1000)
        self.assertIn("from the inner product", self.posy("compare", "--formulas", "a", "b").decode())
        self.assertNotIn("formulas", json.loads(self.posy("compare", "--json", "a", "b")))
        self.build("line", 0, 10, "--layout", "blocked")
        self.fails("compare", "line", "line", "--formulas", saying="--formulas are for layout spread; these filters are blocked")

    def test_a_full_array_has_a_lower_end_only(self):
        self.build("full", 0, 3000, "--bits-per-item", "0.2", "--hashes", "4", "--layout", "spread")
        self.assertRegex(self.posy("info", "full").decode(), r"different items +at least [\d,]+ at 95 %")
        e = json.loads(self.posy("info", "--json", "full"))["estimated_items"]
        self.assertIsNone(e["value"])
        self.assertIsNone(e["high"])
        self.assertTrue(400 < e["low"] <= 3000, e)


class BadInput(ToolTest):
    def setUp(self):
        super().setUp()
        self.posy("build", "-n", "1000", "-o", "good.posy", stdin=self.lines(0, 1000))
        self.good = self.read("good.posy")

    def test_damaged_files(self):
        rows = [
            (b"", "bad: it is empty"),
            (b"PO", "bad: at byte 2: the message is cut off in its header"),
            (b"\x7fELF and so on", "bad: at byte 0: not a Posy message"),
            (self.good[:-1], f"bad: at byte {len(self.good) - 1}: the message is cut off"),
            (self.good[:100], "bad: at byte 100: the message is cut off"),
            (self.good[:500] + bytes([self.good[500] ^ 4]) + self.good[501:], "the checksum is wrong"),
            (self.good + b"x", f"bad: at byte {len(self.good)}: not a Posy message"),
            (b"POSY\x02" + self.good[5:], "bad: at byte 4: message format version 2"),
            # a header that claims 2^60 bits
            (b"POSY\x01\x01\x00\x20\x01\x01\x07\x80\x80\x80\x80\x80\x80\x80\x80\x10" + bytes(20), "bad: at byte 11: 1152921504606846976 bits, above the limit"),
            # and one that claims 2^38 with nothing behind it
            (self.claim(38), "bad: at byte 64: the message is cut off"),
        ]
        for content, saying in rows:
            self.write("bad", content)
            for command in [["query", "bad", "good.posy"], ["info", "bad"], ["union", "bad", "-o", "x"], ["fold", "bad", "-o", "x"],
                            ["add", "bad", "good.posy"], ["compare", "good.posy", "bad"]]:
                self.fails(*command, saying=saying)

    def claim(self, log2_bits):
        def varint(n):
            out = b""
            while n >= 0x80:
                out += bytes([n & 0x7F | 0x80])
                n >>= 7
            return out + bytes([n])
        header = b"POSY\x01\x01\x00\x40\x01\x01\x07" + varint(1 << log2_bits) + b"\0\0\x02\0\0\0" + varint((1 << log2_bits) // 8)
        return header.ljust(64, b"\0")

    def test_a_claim_in_a_pipe_takes_no_memory(self):
        self.posy("info", "-", stdin=self.claim(36), status=2)  # 8 GiB claimed
        self.assertIn("the array takes 8589934592 bytes of memory, above the limit of 4294967296", self.stderr)
        # 2 GiB claimed, within the limit, and 64 bytes sent
        child = subprocess.Popen([POSY, "info", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.dir)
        child.stdin.write(self.claim(34))
        child.stdin.close()
        self.assertIn(b"standard input: at byte 64: the message is cut off", child.stderr.read())
        child.stderr.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 2)
        self.assertLess(usage.ru_maxrss, 500_000)  # KiB

    def test_missing_and_unreadable_files(self):
        self.fails("info", "none.posy", saying="none.posy: cannot open: No such file or directory")
        self.fails("query", "good.posy", "none.txt", saying="none.txt: cannot open")
        self.fails("build", "none.txt", "-o", "x", saying="none.txt: cannot open")
        self.fails("build", "-o", "no/such/dir/x", stdin="a\n", saying="no/such/dir/x: cannot create")
        os.mkdir(self.path("folder"))
        self.fails("info", "folder", saying="folder: cannot read: Is a directory")
        self.fails("build", "-o", "folder", stdin="a\n", saying="folder: ")

    def test_impossible_shapes(self):
        for args, saying in [
            (["-n", "0"], "items must be at least 1"),
            (["-n", "10", "-k", "0"], "at least one hash"),
            (["-n", "10", "-b", "0"], "positive number"),
            (["-n", "1T", "-b", "100"], "1 to 2^40"),
            (["-n", "10", "-f", "nan"], "between 0 and 1"),
        ]:
            self.fails("build", *args, "-o", "x", stdin="a\n", saying=saying)
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 100e9:
            self.fails("build", "-n", "100G", "-b", "8", "-o", "x", stdin="a\n", saying="no memory for an array of")

    def test_a_full_disk_and_a_closed_pipe(self):
        self.fails("build", "-n", "100000", "-o", "/dev/full", stdin="a\n", saying="/dev/full: cannot write: No space left on device")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([POSY, "query", "good.posy"], input=self.lines(0, 1000).encode(), stdout=full, stderr=subprocess.PIPE, cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"posy: standard output: cannot write: No space left on device\n")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([POSY, "query", "good.posy"], input=self.lines(0, 1000).encode(), stdout=write, stderr=subprocess.PIPE, cwd=self.dir)
        os.close(write)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, b"posy: standard output: cannot write: Broken pipe\n")
        # A file size limit stands for a disk that fills up half way: the old file survives.
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
            import signal
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.fails("build", "-n", "1M", "-o", "good.posy", stdin="a\n", preexec_fn=limited, saying="good.posy: cannot write: File too large")
        self.assertEqual(self.read("good.posy"), self.good)

    def test_commands_that_do_not_exist(self):
        self.fails("bild", saying="try 'posy --help'")
        self.fails("build", saying="--output is required")
        self.fails("info", saying="FILES is required")
        self.fails("completion", "tcsh", saying="try 'posy completion --help'")


class Inputs(ToolTest):
    """Where keys and filters come from, and where they go."""

    def test_standard_input_that_was_partly_read(self):
        self.write("keys", self.lines(0, 5000))
        with open(self.path("keys"), "rb") as f:
            f.seek(600)  # inside a line
            subprocess.run([POSY, "build", "-o", "f.posy"], stdin=f, check=True, cwd=self.dir)
        rest = self.lines(0, 5000)[600:]
        self.assertEqual(self.posy("query", "-c", "f.posy", stdin=rest), b"%d\n" % rest.count("\n"))
        self.posy("build", "-n", "10", "-o", "g.posy", stdin="a\n")
        self.write("later", b"leading bytes" + self.read("g.posy"))
        with open(self.path("later"), "rb") as f:
            f.seek(13)
            done = subprocess.run([POSY, "info", "-"], stdin=f, capture_output=True, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_named_pipe_and_a_file_of_no_size(self):
        os.mkfifo(self.path("pipe"))
        writer = subprocess.Popen(["bash", "-c", "seq 1 5000 > pipe"], cwd=self.dir)
        self.addCleanup(writer.kill)
        self.posy("build", "pipe", "-o", "f.posy")
        writer.wait()
        self.assertEqual(json.loads(self.posy("info", "--json", "f.posy"))["items"], 5000)
        self.posy("build", "/proc/cpuinfo", "-o", "cpu.posy")
        self.assertGreater(json.loads(self.posy("info", "--json", "cpu.posy"))["items"], 5)

    def test_one_input_cannot_be_two(self):
        self.posy("build", "--counting", "-n", "10", "-o", "f.posy", stdin="a\n")
        f = self.read("f.posy")
        for command in [["add", "-"], ["remove", "-"], ["query", "-"], ["compare", "-", "-"], ["delta", "-", "-"], ["apply", "-", "-"]]:
            self.fails(*command, stdin=f, saying="standard input")

    def test_a_link_stays_a_link(self):
        self.posy("build", "-n", "10", "-o", "real.posy", stdin="a\n")
        os.symlink("real.posy", self.path("link.posy"))
        self.posy("add", "link.posy", stdin="b\n")
        self.assertTrue(os.path.islink(self.path("link.posy")))
        self.assertEqual(self.posy("query", "real.posy", stdin="b\n"), b"b\n")
        self.fails("build", "-o", "", stdin="a\n", saying="without a name")

    def test_a_bad_output_is_found_before_the_work(self):
        self.fails("build", "-n", "1", "-o", "no/dir/f.posy", "missing.txt", saying="no/dir/f.posy: cannot create")

    def test_a_kill_leaves_nothing_behind(self):
        child = subprocess.Popen([POSY, "build", "-n", "10M", "-o", "f.posy"], stdin=subprocess.PIPE, cwd=self.dir)
        child.stdin.write(b"a\n" * 3_000_000)
        child.kill()
        child.wait()
        child.stdin.close()
        self.assertEqual(os.listdir(self.dir), [])

    def test_odd_options(self):
        self.write("t.tsv", 'a\t"q\n')
        self.posy("build", "t.tsv", "--field", "2", "-f", "1e-9", "-o", "f.posy")
        self.assertEqual(self.posy("query", "f.posy", stdin='"q\n'), b'"q\n')
        self.fails("build", "t.tsv", "--field", "1", "--delimiter", "::", "-o", "x", saying="one character")
        self.posy("build", "t.tsv", "--field", "1", "--delimiter", "\\t", "-o", "f.posy")
        self.fails("build", "t.tsv", "--field", "1", "--words", "-o", "x", saying="excludes")
        self.fails("build", "t.tsv", "--field", "0", "-o", "x", saying="not in range")
        self.fails("build", "t.tsv", "--threads", "100000", "-o", "x", saying="not in range")
        self.fails("build", "t.tsv", "--json-path", "/a~", "-o", "x", saying="--json-path /a~: write it as")
        self.fails("build", "-o", "x", "--json-path", "a", stdin='{"a":' + "[" * 300_000 + "]" * 300_000 + "}\n", saying="a record without a value at a")
        self.fails("compare", "f.posy", "f.posy", "--level", "nan", saying="--level must lie between 0 and 1")
        self.fails("plan", "-n", "0.3", saying="not a whole number")
        self.fails("plan", "-n", "10", "--message-bits", "1e-9", saying="would say yes to everything")
        self.fails("plan", "-n", "1M", "-f", "1e-4", "--minimize", "message", "-k", "1", saying="allow them with a largest memory")

    def test_plans_that_were_wrong_once(self):
        def plan(*args):
            return json.loads(self.posy("plan", "-n", "1M", *args, "--json"))
        self.assertLess(plan("--message-bits", "8", "-f", "0.03")["message_bits_per_item"], 7.3)
        self.assertLess(plan("-b", "10", "--minimize", "memory")["false_positive_rate"], 0.01)
        self.assertLess(plan("-b", "10", "--minimize", "message")["fill"], 0.5)

    def test_help_into_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            self.assertEqual(subprocess.run([POSY, "--help"], stdout=full, stderr=subprocess.DEVNULL).returncode, 2)

    def test_lightly_filled_blocked_filters_can_be_estimated(self):
        self.posy("build", "-n", "1M", "-f", "1e-4", "-o", "f.posy", stdin=self.lines(0, 1000))
        e = json.loads(self.posy("info", "--json", "f.posy"))["estimated_items"]
        self.assertAlmostEqual(e["value"], 1000, delta=20)
        self.assertLess(e["high"] - e["low"], 40)


class Travel(ToolTest):
    """pack, unpack, delta, apply."""

    def setUp(self):
        super().setUp()
        self.write("keys", self.lines(0, 10000))
        self.posy("build", "keys", "-b", "14", "-k", "2", "--layout", "spread", "-o", "f.posy")

    def test_pack_and_unpack(self):
        for args in [[], ["--fast"], ["--codec", "adaptive"], ["--codec", "bytes"], ["--codec", "gaps"], ["--queryable", "small"],
                     ["--queryable", "fast"], ["--queryable", "list"]]:
            self.posy("pack", "f.posy", *args, "-o", "p.posy")
            self.assertEqual(self.posy("query", "-c", "p.posy", "keys"), b"10000\n", args)
            self.posy("unpack", "p.posy", "-o", "u.posy")
            self.assertEqual(self.read("u.posy"), self.read("f.posy"), args)
            info = json.loads(self.posy("info", "--json", "p.posy"))
            self.assertEqual(info["bits_checksum"], json.loads(self.posy("info", "--json", "f.posy"))["bits_checksum"])
        self.posy("pack", "f.posy", "-o", "p.posy")
        self.assertLess(os.path.getsize(self.path("p.posy")), 10000)
        self.assertEqual(self.posy("pack", "-", stdin=self.read("f.posy")), self.read("p.posy"))
        self.fails("pack", "f.posy", "--max-bytes", "5000", "-o", "x", saying="more than allowed")
        self.fails("unpack", "p.posy", "--max-array", "1000", "-o", "x", saying="above the limit of 1000")

    def test_counting_filters_travel_too(self):
        self.posy("build", "keys", "--counting", "-o", "c.posy")
        self.posy("pack", "c.posy", "-o", "p.posy")
        self.assertLess(os.path.getsize(self.path("p.posy")), 0.5 * os.path.getsize(self.path("c.posy")))
        self.posy("unpack", "p.posy", "-o", "u.posy")
        self.assertEqual(self.read("u.posy"), self.read("c.posy"))

    def test_a_packet_keeps_its_budget(self):
        for budget in ["1400", "10000"]:
            self.posy("pack", "--from-keys", "keys", "--max-bytes", budget, "-o", "packet")
            self.assertLessEqual(os.path.getsize(self.path("packet")), int(budget))
            self.assertEqual(self.posy("query", "-c", "packet", "keys"), b"10000\n")
        self.assertLess(json.loads(self.posy("info", "--json", "packet"))["false_positive_rate"], 0.0185)
        self.fails("pack", "--from-keys", "keys", "--max-bytes", "40", "-o", "x", saying="no filter fits into 40 bytes")
        self.fails("pack", "--from-keys", "keys", "-o", "x", saying="--max-bytes")

    def test_delta_and_apply(self):
        shape = ["-n", "10000", "-b", "32", "-k", "2", "--layout", "spread"]
        self.posy("build", *shape, "-o", "old.posy", stdin=self.lines(0, 10000))
        self.posy("build", *shape, "-o", "new.posy", stdin=self.lines(500, 10500))
        self.posy("delta", "old.posy", "new.posy", "-o", "d.posy")
        self.assertLess(os.path.getsize(self.path("d.posy")), 2200)
        info = json.loads(self.posy("info", "--json", "d.posy"))
        self.assertEqual(info["kind"], "delta")
        self.assertIn("bits that change", self.posy("info", "d.posy").decode())
        self.posy("apply", "old.posy", "d.posy", "-o", "applied.posy")
        self.assertEqual(self.read("applied.posy"), self.read("new.posy"))
        self.posy("apply", "old.posy", "-", stdin=self.read("d.posy"))
        self.assertEqual(self.read("old.posy"), self.read("new.posy"))
        self.fails("apply", "old.posy", "d.posy", saying="made against other bits")
        self.fails("apply", "old.posy", "new.posy", saying="new.posy: this is a filter, not a delta")
        self.fails("query", "d.posy", "keys", saying="d.posy: a delta is not a filter")
        self.fails("delta", "old.posy", "f.posy", saying="the filters differ in bits")


class Documents(ToolTest):
    def test_help_has_examples(self):
        top = self.posy("--help").decode()
        for command in "plan build query add remove info union intersect compare fold pack unpack delta apply seal seen count reconcile tour".split():
            self.assertIn(f"\n  {command} ", top)
            page = self.posy(command, "--help").decode()
            self.assertIn("Examples:", page)
            self.assertIn(f"posy {command}", page)

    def test_the_manual_page_is_good_roff(self):
        page = self.posy("manual")
        shown = subprocess.run(["man", "-l", "--warnings", "-"], input=page, capture_output=True, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual((shown.returncode, shown.stderr), (0, b""))
        self.assertIn(b"--bits-per-item", shown.stdout)

    def test_bash_completion_works(self):
        script = self.posy("completion", "bash").decode()
        ask = script + '\nCOMP_WORDS=(posy bu); COMP_CWORD=1; _posy; echo "${COMPREPLY[*]}"; COMP_WORDS=(posy build --lay); COMP_CWORD=2; _posy; echo "${COMPREPLY[*]}"'
        self.assertEqual(subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout, "build\n--layout\n")
        for shell in ["zsh", "fish"]:
            self.assertIn("--layout" if shell == "zsh" else "-l layout", self.posy("completion", shell).decode())

    def test_the_tour(self):
        tour = self.posy("tour").decode()
        self.assertIn("$ posy compare monday.posy tuesday.posy", tour)
        self.assertIn("fliter\n    ltter", tour)

    def test_version(self):
        self.assertRegex(self.posy("--version").decode(), r"\Aposy \d+\.\d+\.\d+\n\Z")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
