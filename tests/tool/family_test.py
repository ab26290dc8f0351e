"""The members of the family as users type them: sealed sets and maps, growing and window filters, and their plans.

Usage: family_test.py POSY [unittest arguments]
"""
import json
import os
import re
import subprocess

from harness import POSY, ToolTest, main, until


class FamilyTest(ToolTest):
    def posy(self, *args, **kwargs):
        self.out = super().posy(*args, **kwargs).decode()
        return self.out

    def test_members_are_found_and_few_absent_keys(self):
        keys = "".join(f"key{i}\n" for i in range(20000))
        self.posy("seal", "-", "--fpr", "0.01", "-o", "s.posy", stdin=keys)
        self.assertEqual(self.posy("query", "s.posy", stdin=keys), keys)
        absent = "".join(f"other{i}\n" for i in range(100000))
        found = int(self.posy("query", "-c", "s.posy", stdin=absent))
        # Binomial around 1000 with a deviation of 31.5: six of them, a false alarm in 10^9.
        self.assertLess(abs(found - 1000), 190)
        # log2(1/0.01) is 6.64 bits a key.
        self.assertLess(os.path.getsize(os.path.join(self.dir, "s.posy")) * 8 / 20000, 1.05 * 6.644)
        info = json.loads(self.posy("info", "--json", "s.posy"))
        self.assertEqual((info["kind"], info["items"]), ("sealed", 20000))

    def test_a_map_tells_values(self):
        rows = "".join(f"item{i},{i * i % 251}\n" for i in range(5000))
        with open(os.path.join(self.dir, "m.csv"), "w") as f:
            f.write(rows)
        self.posy("seal", "m.csv", "--values", "--fpr", "0.001", "-o", "m.posy")
        asked = "".join(f"item{i}\n" for i in range(5000))
        told = "".join(f"item{i}\t{i * i % 251}\n" for i in range(5000))
        self.assertEqual(self.posy("query", "m.posy", stdin=asked), told)
        self.assertEqual(self.posy("query", "-v", "m.posy", stdin=asked, status=1), "")

    def test_what_cannot_be(self):
        self.posy("seal", "-", "--fpr", "2", "-o", "s.posy", stdin="a\n", status=2)
        self.assertIn("rate", self.stderr)
        self.posy("seal", "-", "--values", "-o", "s.posy", stdin="a\tb\n", status=2)
        self.assertIn("unsigned integer", self.stderr)
        self.posy("seal", "-", "--values", "-o", "s.posy", stdin="a\t1\na\t2\n", status=2)
        self.posy("seal", "-", "-o", "s.posy", stdin="a\nb\na\n")
        self.posy("union", "s.posy", "s.posy", "-o", "u.posy", status=2)
        self.assertIn("sealed", self.stderr)
        self.posy("seal", "-", "-o", "none.posy")
        self.posy("query", "none.posy", stdin="a\n", status=1)

    def test_a_pipe_grows_and_folds(self):
        keys = "".join(f"key{i}\n" for i in range(300000))
        self.posy("build", "--fpr", "0.01", "-o", "p.posy", stdin=keys)
        self.assertEqual(int(self.posy("query", "-c", "p.posy", stdin=keys)), 300000)
        with open(os.path.join(self.dir, "keys"), "w") as f:
            f.write(keys)
        self.posy("build", "keys", "--fpr", "0.01", "-o", "known.posy")
        size = lambda name: os.path.getsize(os.path.join(self.dir, name))
        self.assertLess(size("p.posy"), 1.25 * size("known.posy"))
        self.assertLessEqual(json.loads(self.posy("info", "--json", "p.posy"))["false_positive_rate"], 0.01)

    def plan(self, *args):
        return json.loads(self.posy("plan", *args, "--json"))

    def test_plans_of_the_family_are_what_is_built(self):
        """Nothing here is statistical but the size of a growing filter, which follows an estimate to 1 in 1,000."""
        keys = "".join(f"key{i}\n" for i in range(200000))
        plan = self.plan("-n", "200k", "--fpr", "0.01", "--value-bits", "8", "--window", "4", "--difference", "100")
        self.posy("build", "--fpr", str(plan["false_positive_rate"]), "-o", "g.posy", stdin=keys)
        info = json.loads(self.posy("info", "--json", "g.posy"))
        self.assertAlmostEqual(info["bits"] / 200000, plan["growing"]["bits_per_item"], delta=0.01)
        self.assertEqual((plan["growing"]["arrays"], plan["growing"]["hashes"]), (1, info["hashes"]))
        rows = "".join(f"key{i}\t{i % 256}\n" for i in range(200000))
        self.posy("seal", "-", "--values", "--fpr", "0.01", "-o", "m.posy", stdin=rows)
        size = 8 * os.path.getsize(os.path.join(self.dir, "m.posy")) / 200000
        self.assertAlmostEqual(size, plan["map"]["message_bits_per_item"], delta=0.05)
        window = plan["window"]
        self.posy("seen", "--window", "400", "--generations", "4", "-n", "200k", "--fpr", "0.01",
                  "--state", "w.posy", stdin="a\n")
        made = json.loads(self.posy("info", "--json", "w.posy"))
        self.assertEqual((made["bits_per_array"], made["hashes"], made["generations"]),
                         (window["bits_per_array"], window["hashes"], 4))
        self.assertLess(window["false_positive_rate_low"], window["false_positive_rate"])
        self.assertLessEqual(window["false_positive_rate"], 0.01)
        self.assertEqual(window["memory_bytes_at_worst"], 2 * window["memory_bytes"])
        self.assertEqual((made["planned_items"], made["planned_false_positive_rate"], made["items"], made["arrays"]),
                         (200000, 0.01, 1, 1))
        self.assertEqual((made["remembered_at_least_seconds"], made["forgotten_after_seconds"]), (400, 500))
        ways = plan["reconciliation"]
        self.assertEqual(ways["exact"]["found"], 1)
        self.assertLess(ways["exact"]["bytes"], 3000)
        self.assertAlmostEqual(ways["filter"]["found"], 0.9918, places=3)

    def test_plans_of_reconciliation_are_what_it_takes(self):
        """One conversation each: 1 % or five of the deviations that the plan gives, a false alarm in 10^5."""
        def write(name, keys):
            with open(os.path.join(self.dir, name), "w") as f:
                f.writelines(f"{key}\n" for key in keys)
        # In the middle of this range a session used to send symbols first and then the whole set after all.
        for here, there, difference in [(1, 1, 0), (1, 1, 2), (60, 60, 2), (5000, 5000, 2500), (5000, 5000, 3000), (5000, 5000, 4000),
                                        (5000, 5000, 10000), (20000, 20000, 40), (100, 8000, 7900), (8000, 100, 7900)]:
            plans = self.plan("-n", str(here), "--items-there", str(there), "--difference", str(difference))["reconciliation"]
            only_here = (difference + here - there) // 2
            write("here", range(here))
            write("there", range(only_here, only_here + there))
            for method, plan in plans.items():
                took = json.loads(self.posy("reconcile", "--seed", str(2**34), "--method", method, "--json", "here", "there",
                                            status=0 if difference else 1))  # of the length of those that are drawn
                used = took["finding"]["bytes_sent"] + took["finding"]["bytes_received"]
                what = f"{method} {here} {there} {difference}"
                self.assertAlmostEqual(used, plan["bytes"], delta=max(0.01 * plan["bytes"], 5 * plan["deviation"] + 8), msg=what)
                self.assertLessEqual(used, plan["most_bytes"], msg=what)
                found = len(took["only_here"]) + len(took["only_there"])
                self.assertAlmostEqual(found, plan["found"] * difference, msg=what,
                                       delta=max(0.01 * difference, 5 * plan["found_deviation"] * difference + 1))
        self.assertEqual(self.plan("-n", "1000", "--difference", "2000")["reconciliation"]["exact"]["whole_set"], 1)
        self.assertEqual(self.plan("-n", "1000", "--difference", "20")["reconciliation"]["exact"]["whole_set"], 0)
        self.posy("plan", "-n", "10", "--items-there", "20", "--difference", "9", status=2)
        self.assertIn("fewer items", self.stderr)

    def test_plans_of_sketches(self):
        text = "".join(f"{i % 100}\n" for i in range(1000))
        for wish, options in [("0.001,0.05", ["--epsilon", "0.001", "--delta", "0.05"]), ("100kB", ["--memory", "100kB"])]:
            sketch = self.plan("--sketch", wish)["sketch"]
            made = json.loads(self.posy("count", *options, "--json", stdin=text))
            for field in ["epsilon", "delta", "memory_bytes"]:
                self.assertEqual(sketch[field], made[field], f"{wish} {field}")
        for wish in ["0", "-1", "0.1,0", "0.1,x", "1e-12", "3", "much"]:
            self.posy("plan", "--sketch", wish, status=2)
            self.assertRegex(self.stderr, r"\Aposy: [^\n]*\n\Z")
        self.posy("plan", "--window", "4", status=2)
        self.assertIn("--items", self.stderr)
        self.posy("plan", "-n", "10", "--value-bits", "65", status=2)
        self.posy("plan", "-n", "10", "--difference", "21", status=2)

    def test_growing_filters_take_keys_later_and_unite(self):
        keys = lambda first, last: "".join(f"key{i}\n" for i in range(first, last))
        for name, first, last in [("a", 0, 1000), ("b", 500, 2000)]:
            self.posy("build", "--growing", "-o", name, stdin=keys(first, last))
        self.posy("add", "a", stdin=keys(2000, 3000))
        self.posy("union", "a", "b", "-o", "u")
        self.assertEqual(self.posy("query", "u", stdin=keys(0, 3000)), keys(0, 3000))
        info = json.loads(self.posy("info", "--json", "u"))
        self.assertEqual((info["kind"], info["items"]), ("growing", 3500))
        self.assertAlmostEqual(info["estimated_items"]["value"], 3000, delta=30)
        # 2,000 and 1,500 items with 500 in common, in arrays so sparse that an item in a thousand collides.
        both = json.loads(self.posy("compare", "--json", "a", "b"))
        self.assertAlmostEqual(both["intersection"]["value"], 500, delta=30)
        self.posy("build", "--growing", "--fpr", "0.02", "-o", "c", stdin=keys(0, 10))
        for args, why in [(["union", "a", "c"], "only filters of one geometry"), (["build", "--growing", "-n", "10"], "--growing can only be combined with")]:
            self.posy(*args, "-o", "x", status=2)
            self.assertIn(why, self.stderr)
        self.posy("build", "-n", "10", "-o", "plain", stdin=keys(0, 10))
        self.posy("union", "a", "plain", "-o", "x", status=2)
        self.assertIn("plain: a filter cannot be united with a growing filter", self.stderr)

    def test_sketches_and_windows_unite(self):
        for name, text in [("a", "x\nx\ny\n"), ("b", "x\nz\n")]:
            self.posy("count", "--plain", "-o", name, stdin=text)
            self.posy("seen", "--window", "1h", "--state", name + ".window", stdin=text)
        self.posy("union", "a", "b", "-o", "u")
        self.assertEqual(self.posy("count", "--ask", "u", stdin="x\ny\nz\n"), "3\tx\n1\ty\n1\tz\n")
        self.posy("union", "a.window", "b.window", "-o", "u.window")
        self.assertEqual(self.posy("seen", "--state", "u.window", stdin="y\nz\nw\n"), "w\n")

    def seen_rate(self, times, absent):
        """The share of absent keys that are taken for seen behind keys of these times, in windows of 600 s planned for 10,000;
        in five runs. Absent keys are keys, too, once they have been asked: all in all they must be within the plan."""
        taken = 0
        for run in range(5):
            log = "".join(f"{time},{run} key {i}\n" for i, time in enumerate(times))
            log += "".join(f"{times[-1]},{run} other {i}\n" for i in range(absent))
            out = self.posy("seen", "--window", "600", "-n", "10k", "--fpr", "0.01", "--time-field", "1", "--field", "2",
                            "--delimiter", ",", stdin=log)
            self.assertEqual(self.stderr, "")
            taken += absent - out.count("other")
        return taken / (5 * absent)

    def test_seen_keeps_its_rate_however_keys_come(self):
        """At most 1.2 %: of 20,000 absent keys at most 1 % are expected, with a deviation of 0.07 %. Keys are fixed."""
        self.assertLessEqual(self.seen_rate([5000] * 6000, 4000), 0.012)
        # A day's work in a third of the day.
        day = [5000 + i / 30 for i in range(6000)] + [5200 + i / 10 for i in range(2000)]
        self.assertLessEqual(self.seen_rate(day, 2000), 0.013)

    def test_seen_reads_the_clock_as_keys_come(self):
        """A key that comes back after its window is new, in a pipe that stays open; and is printed when it comes."""
        seen = subprocess.Popen([POSY, "seen", "--window", "0.2s", "--generations", "1"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, bufsize=0)
        # Each comes back once: a key that does is remembered anew.
        keys = [b"%d\n" % i for i in range(1000)]
        seen.stdin.write(b"".join(keys))
        self.assertEqual([seen.stdout.readline() for _ in keys], keys)

        def comes_back_as_new():
            key = keys.pop()
            seen.stdin.write(key + b"after " + key)
            printed = seen.stdout.readline()
            return printed == key and seen.stdout.readline() == b"after " + key
        until(comes_back_as_new, what="a key whose window is over")
        seen.stdin.close()
        self.assertEqual(seen.stdout.read(), b"")
        seen.stdout.close()
        self.assertEqual(seen.wait(), 0)

    def test_seen_goes_on_as_the_state_was_made(self):
        self.posy("seen", "--window", "1h", "--state", "s", stdin="a\n")
        self.posy("seen", "--state", "s", "--hash", "siphash", "--seed", "1", stdin="a\n", status=2)
        self.posy("seen", "--state", "s", "--seed", "1", stdin="a\n", status=2)
        self.assertIn("was made with another seed; leave --seed out", self.stderr)
        self.posy("seen", "--window", "1h", "--state", "nowhere/s", stdin="a\n", status=2)
        self.assertEqual(self.out, "")

    def test_seen_warns_beyond_its_plan(self):
        keys = lambda n: "".join(f"5,key{i}\n" for i in range(n))
        plan = ["seen", "--window", "600", "-n", "1000", "--fpr", "0.01", "--time-field", "1", "--field", "2", "--delimiter", ","]
        self.posy(*plan, stdin=keys(1000))
        self.assertEqual(self.stderr, "")
        self.posy(*plan, stdin=3 * keys(160))  # repetitions within a generation cost nothing
        self.assertEqual(self.stderr, "")
        self.posy(*plan, "--state", "s", stdin=keys(4000))
        found = re.findall(r"posy: ([\d,]+) keys were remembered at once, .* 1,000 .*: up to ([\d.]+) % of new keys .* not 1 %\n", self.stderr)
        self.assertGreater(len(found), 0, self.stderr)
        # 4,000 keys less those that seemed to be there, in 24 arrays of at most a seventh of 1 %; what was said last is
        # within 1 %.
        info = json.loads(self.posy("info", "--json", "s"))
        self.assertEqual((info["planned_items"], info["planned_false_positive_rate"]), (1000, 0.01))
        self.assertAlmostEqual(info["items"], 3990, delta=10)
        self.assertAlmostEqual(int(found[-1][0].replace(",", "")), info["items"], delta=40)
        self.assertAlmostEqual(float(found[-1][1]), 100 * info["false_positive_rate"], delta=0.1)
        self.assertGreater(info["false_positive_rate"], 0.015)
        self.assertLess(info["false_positive_rate"], 1 - 0.99 ** (24 / 7))
        self.assertIn("items planned", self.posy("info", "s"))
        # The state keeps its promise, and whoever asks for another one is told.
        self.posy("seen", "--state", "s", "-n", "1000", "--window", "10m", stdin="a\n")
        for option in [["-n", "2000"], ["--fpr", "0.02"], ["--window", "601"], ["--generations", "5"]]:
            self.posy("seen", "--state", "s", *option, stdin="a\n", status=2)
            self.assertIn("was made with --", self.stderr)

    def test_seen_short_windows_and_fractions(self):
        """Half a second in ten generations: 5 s to 5.5 s, to the microsecond."""
        seen = ["seen", "--generations", "10", "--time-field", "1", "--field", "2", "--delimiter", ","]
        log = "0.4,a\n5.4,a\n10.400001,a\n10.9,b\n15.95,b\n"
        self.assertEqual(self.posy(*seen, "--window", "5s", stdin=log), "0.4,a\n10.400001,a\n10.9,b\n15.95,b\n")
        self.assertEqual(self.posy(*seen, "--window", "0.5s", stdin="1.0,a\n1.5,a\n2.06,a\n"), "1.0,a\n2.06,a\n")
        for wish, seconds in [("0.5s", 0.5), ("1.5h", 5400), ("0.25d", 21600), ("90", 90), ("0.1m", 6)]:
            self.posy("seen", "--window", wish, "--state", wish, stdin="a\n")
            info = json.loads(self.posy("info", "--json", wish))
            # Six generations: up to five microseconds more.
            self.assertAlmostEqual(info["remembered_at_least_seconds"], seconds, delta=6e-6)
            self.assertAlmostEqual(info["forgotten_after_seconds"], seconds * 7 / 6, delta=7e-6)
        self.assertIn("remembered at least   0.500004s\n", self.posy("info", "0.5s"))
        self.assertIn("remembered at least   1h30m (5400 seconds)\n", self.posy("info", "1.5h"))
        for wish in ["1.s", ".5s", "1.5.5s", "1e3", "-1", "s"]:
            self.posy("seen", f"--window={wish}", stdin="a\n", status=2)
            self.assertIn("such as 90s, 0.5s", self.stderr)
        self.posy(*seen, "--window", "5s", stdin="1.x,a\n", status=2)
        self.assertIn("a record without a time in field 1", self.stderr)

    def test_seen_forgets_after_the_window(self):
        log = "100,a\n150,a\n160,b\n249,b\n275,a\n420,b\n500,c\n130,d\n"
        # Slots of 25 seconds: a key is new again after 100 to 125 seconds without a sight.
        seen = ["seen", "--window", "100", "--generations", "4", "--time-field", "1", "--field", "2", "--delimiter", ","]
        self.assertEqual(self.posy(*seen, stdin=log), "100,a\n160,b\n275,a\n420,b\n500,c\n130,d\n")
        self.assertIn("1 keys were more than a window older", self.stderr)
        self.assertEqual(self.posy(*seen, "-v", stdin=log), "150,a\n249,b\n")
        self.assertEqual(self.posy(*seen, "--state", "s", stdin="100,a\n"), "100,a\n")
        self.assertEqual(self.posy(*seen[:1], *seen[5:], "--state", "s", stdin="190,a\n", status=1), "")
        self.assertEqual(self.posy(*seen, "--state", "s", stdin="400,a\n"), "400,a\n")
        for args, why in [([], "--window"), (["--window", "x"], "such as 90s"), (["--window", "0"], "window"),
                          (["--window", "1h", "--fpr", "2"], "rate"), (["--window", "1h", "--time-field", "2"], "field")]:
            self.posy("seen", *args, stdin="a\n", status=2)
            self.assertIn(why, self.stderr)
        self.posy("build", "-n", "10", "-o", "plain", stdin="a\n")
        self.posy("seen", "--state", "plain", stdin="a\n", status=2)
        self.assertIn("this is a filter", self.stderr)


if __name__ == "__main__":
    main()
