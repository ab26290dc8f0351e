"""posy reconcile from outside: two files, a command at the other end, named pipes, and peers that go wrong.

Usage: reconcile_test.py POSY [unittest arguments]
"""
import json
import os
import signal
import subprocess

from harness import POSY, ToolTest, main

TIMEOUT = 120
SECRET = "0x0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def lines(*ranges):
    return [f"key {i}" for start, stop in ranges for i in range(start, stop)]


class Reconcile(ToolTest):
    def write(self, name, keys, end="\n"):
        return super().write(name, "".join(key + end for key in keys))

    def posy(self, *args, **kwargs):
        return super().posy("reconcile", *args, **kwargs).decode()

    def fails(self, *args, saying, **kwargs):
        """Exit status 2, nothing on standard output, and a line on standard error that says so."""
        self.assertEqual(self.posy(*args, status=2, **kwargs), "")
        self.assertRegex(self.stderr, r"\A(posy: [^\n]*\n)+\Z")
        self.assertIn(saying, self.stderr)

    def remote(self, name, *args):
        return ["--", POSY, "reconcile", "--remote", name, *args]

    def start(self, *args, **kwargs):
        process = subprocess.Popen([POSY, "reconcile", *args], cwd=self.dir, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def two(self):
        """Two files, and the lines that tell them apart."""
        self.write("a.txt", lines((0, 3000)))
        self.write("b.txt", lines((40, 3025)))
        return "".join(f"< {key}\n" for key in sorted(lines((0, 40)))) + \
               "".join(f"> {key}\n" for key in sorted(lines((3000, 3025))))


class TwoFiles(Reconcile):
    def test_prints_what_diff_prints(self):
        difference = self.two()
        self.assertEqual(self.posy("a.txt", "b.txt"), difference)
        self.assertEqual(self.stderr, "")
        self.assertEqual(self.posy("--digest-bits", "128", "--hash", "siphash", "a.txt", "b.txt"), difference)
        self.assertEqual(self.posy("-", "b.txt", stdin="\n".join(lines((0, 3000)))), difference)

    def test_one_side_only(self):
        self.two()
        self.assertEqual(self.posy("a.txt", "b.txt", "--missing-here").splitlines(), sorted(lines((3000, 3025))))
        self.assertEqual(self.posy("a.txt", "b.txt", "--missing-there").splitlines(), sorted(lines((0, 40))))
        self.assertEqual(len(self.posy("a.txt", "b.txt", "--missing-there", "--missing-here").splitlines()), 65)

    def test_empty_equal_and_repeated(self):
        self.write("none", [])
        self.write("one", ["x"])
        self.write("ones", ["x"] * 50)
        self.assertEqual(self.posy("none", "none", status=1), "")
        self.assertEqual(self.posy("one", "one", status=1), "")
        self.assertEqual(self.posy("one", "ones", status=1), "")
        self.assertEqual(self.posy("none", "one"), "> x\n")
        self.assertEqual(self.posy("one", "none"), "< x\n")
        for method in ["filter", "tree"]:
            self.assertEqual(self.posy("--method", method, "none", "one"), "> x\n")
            self.assertEqual(self.posy("--method", method, "one", "ones", status=1), "")

    def test_keys_are_taken_as_elsewhere(self):
        self.write("a.csv", ["1,Oslo", "2,Rome", "3,Oslo"])
        self.write("b.csv", ["9,Rome", "8,Bern"])
        self.assertEqual(self.posy("--field", "2", "a.csv", "b.csv"), "< Oslo\n> Bern\n")
        self.write("a.nul", ["a\nb", "c"], end="\0")
        self.write("b.nul", ["c"], end="\0")
        self.assertEqual(self.posy("--null", "a.nul", "b.nul"), "< a\nb\0")
        self.write("a.num", ["7", "08"])
        self.write("b.num", ["07", "9"])
        self.assertEqual(self.posy("--integers", "a.num", "b.num"), "< 08\n> 9\n")

    def test_costs_follow_the_difference(self):
        self.write("a.txt", lines((0, 100_000)))
        self.write("b.txt", lines((500, 100_500)))
        found = json.loads(self.posy("--json", "--seed", "1", "a.txt", "b.txt"))
        self.assertEqual(found["only_here"], sorted(lines((0, 500))))
        self.assertEqual(found["only_there"], sorted(lines((100_000, 100_500))))
        self.assertEqual((found["items_here"], found["items_there"]), (100_000, 100_000))
        self.assertEqual(found["expected_share_here"], 1)
        # 1,000 differences: 1.47 symbols of 13 bytes each on average, above 1.8 once in thousands of sets.
        spent = found["finding"]["bytes_sent"] + found["finding"]["bytes_received"]
        self.assertLess(spent, 1.8 * 1000 * 13)
        self.assertLessEqual(found["finding"]["round_trips"], 5)
        self.assertGreater(found["symbols"], 1250)
        self.posy("-v", "--seed", "1", "a.txt", "b.txt")
        self.assertIn(f"{found['finding']['bytes_received']:,} received", self.stderr)

    def test_approximate_methods_say_what_they_expect(self):
        self.write("a.txt", lines((0, 30_000)))
        self.write("b.txt", lines((1500, 31_500)))
        for method, share in [("filter", 0.9918), ("tree", 0.978)]:
            found = json.loads(self.posy("--json", "--seed", "1", "--method", method, "a.txt", "b.txt"))
            self.assertLessEqual(set(found["only_here"]), set(lines((0, 1500))))
            self.assertLessEqual(set(found["only_there"]), set(lines((30_000, 31_500))))
            for side in ["here", "there"]:
                self.assertAlmostEqual(found["expected_share_" + side], share, places=3)
                # A binomial of 1,500 has a deviation of 0.0038 at most here; a tree's share varies twice as much.
                self.assertAlmostEqual(len(found["only_" + side]) / 1500, share, delta=0.04)
            self.posy("--method", method, "a.txt", "b.txt")
            self.assertRegex(self.stderr, r"\Aposy: .* only here and .* only there; expected to be 9")


class WithACommand(Reconcile):
    def test_prints_the_same_as_for_two_files(self):
        difference = self.two()
        by_filter = ["--seed", "2", "--bits-per-item", "40", "--method"]  # 40 bits and this seed find all
        for args in [[], [*by_filter, "tree"], [*by_filter, "filter"]]:
            self.assertEqual(self.posy(*args, "a.txt", *self.remote("b.txt")), difference)
        wide = ["--digest-bits", "128"]
        same = ["--seed", "77", *wide, "--hash", "siphash"]
        self.assertEqual(self.posy(*same, "a.txt", *self.remote("b.txt", *same)), difference)
        # The side that answers hashes as it is asked to, unless it was told otherwise.
        self.assertEqual(self.posy(*same, "a.txt", *self.remote("b.txt", *wide)), difference)
        self.assertEqual(self.posy("--hash", "md5", "a.txt", *self.remote("b.txt")), difference)
        self.assertEqual(self.posy("--hash", "siphash", "a.txt", *self.remote("b.txt", "--hash", "siphash")), difference)

    def test_keys_from_a_pipe(self):
        self.two()
        difference = self.posy("-", *self.remote("b.txt"), stdin="\n".join(lines((0, 3000))))
        self.assertEqual(len(difference.splitlines()), 65)

    def test_large_differences_do_not_get_stuck(self):
        self.write("a.txt", lines((0, 60_000)))
        self.write("b.txt", lines((30_000, 90_000)))
        self.assertEqual(len(self.posy("a.txt", *self.remote("b.txt")).splitlines()), 60_000)

    def test_other_hashes_and_widths_are_named(self):
        self.two()
        self.fails("a.txt", *self.remote("b.txt", "--seed", "5"), saying="give both the same hash and seed")
        self.fails("a.txt", *self.remote("b.txt", "--hash", "md5"), saying="give both the same hash and seed")
        self.fails("a.txt", "--seed", "5", "--hash", "siphash", *self.remote("b.txt", "--hash", "xxh3"),
                   saying="siphash, this side with xxh3;")
        self.fails("a.txt", *self.remote("b.txt", "--digest-bits", "128"), saying="give both the same width")
        self.fails("--method", "tree", "a.txt", *self.remote("b.txt", "--digest-bits", "128"), saying="same width")

    def test_keys_taken_in_another_way_are_noticed(self):
        self.write("a.num", [str(i) for i in range(200)])
        self.write("b.num", [str(i) for i in range(200)])
        self.fails("--integers", "a.num", *self.remote("b.num"), saying="does the peer take its keys in another way")

    def test_peers_that_are_none(self):
        self.two()
        self.fails("a.txt", "--", "no-such-command-anywhere", saying="no-such-command-anywhere: cannot run")
        self.fails("a.txt", "--", "true", saying="the peer ended the conversation too early")
        self.fails("a.txt", "--", "false", saying="the command 'false' ended with status 1")
        self.fails("a.txt", "--", "cat", saying="'sketch' where 'symbols' was due")
        self.fails("a.txt", "--", "echo", "Welcome to this machine!", saying="the peer: at byte 0: not a Posy message")
        self.fails("a.txt", "--", "sh", "-c", "printf POS", saying="cut off")
        subprocess.run([POSY, "build", "a.txt", "-o", "f.posy"], cwd=self.dir, check=True)
        self.fails("a.txt", "--", "cat", "f.posy", saying="is there a 'posy reconcile' at the other end?")
        self.fails("a.txt", "--", "yes", saying="the peer: at byte 0: not a Posy message")
        self.fails("a.txt", *self.remote("none.txt"), saying="ended with status 2")

    def test_a_killed_peer(self):
        self.two()
        self.fails("a.txt", "--", "sh", "-c", "kill -9 $$", saying="was ended by a signal: Killed")
        # In the middle of a message.
        self.fails("a.txt", "--", "sh", "-c", "head -c 40; kill -9 $$",
                   saying="at byte 40: the message is cut off; get it again; the command 'sh' was ended by a signal: Killed")
        # A peer that stops and is killed while we wait for it.
        os.mkfifo(self.path("pid"))
        process = self.start("a.txt", "--", "sh", "-c", "echo $$ > pid; exec sleep 600")
        with open(self.path("pid"), encoding="utf-8") as f:
            os.kill(int(f.read()), signal.SIGKILL)
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertIn(b"the peer ended the conversation too early; the command 'sh' was ended by a signal: Killed", err)


class NamedPipes(Reconcile):
    def setUp(self):
        super().setUp()
        for name in ["to-a", "to-b"]:
            os.mkfifo(os.path.join(self.dir, name))

    def test_both_sides_print_what_they_know(self):
        difference = self.two()
        mirrored = "".join(sorted(line.replace("<", "x").replace(">", "<").replace("x", ">") + "\n"
                                  for line in difference.splitlines()))
        for first_remote in [True, False]:
            a = ["a.txt", "--in", "to-a", "--out", "to-b"]
            b = ["b.txt", "--in", "to-b", "--out", "to-a", "--remote"]
            one, two = (b, a) if first_remote else (a, b)
            process = self.start(*one)
            second = self.posy(*two)
            first, err = process.communicate(timeout=TIMEOUT)
            self.assertEqual(process.returncode, 0, err)
            from_a, from_b = (second, first.decode()) if first_remote else (first.decode(), second)
            self.assertEqual(from_a, difference)
            self.assertEqual(from_b, mirrored)

    def test_two_that_ask(self):
        self.two()
        process = self.start("a.txt", "--in", "to-a", "--out", "to-b")
        self.fails("b.txt", "--in", "to-b", "--out", "to-a", saying="'sketch' where 'symbols' was due")
        process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 2)

    def test_a_peer_that_goes(self):
        self.two()
        process = self.start("a.txt", "--in", "to-a", "--out", "to-b")
        with open(os.path.join(self.dir, "to-b"), "rb") as from_a, open(os.path.join(self.dir, "to-a"), "wb") as to_a:
            self.assertEqual(len(from_a.read(4)), 4)
            to_a.write(b"POSY\x01")
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out), (2, b""))
        self.assertIn(b"cut off", err)


class BadCommandLines(Reconcile):
    def test_bad_command_lines(self):
        self.two()
        usage = "reconcile takes two files"
        self.fails(saying=usage)
        self.fails("a.txt", saying=usage)
        self.fails("a.txt", "b.txt", "a.txt", saying=usage)
        self.fails("a.txt", "b.txt", "--", "cat", saying=usage)
        self.fails("a.txt", "b.txt", "--remote", saying=usage)
        self.fails("a.txt", "--remote", "--", "cat", saying=usage)
        self.fails("a.txt", "--", saying="no command after --")
        self.fails("a.txt", "--in", "x", saying="--in and --out must be given together")
        self.fails("a.txt", "--in", "no-such", "--out", "no-such", saying="no-such: cannot open")
        self.fails("-", "-", saying="cannot come from standard input")
        self.fails("-", "--remote", saying="name a file of keys")
        self.fails("a.txt", "none.txt", saying="none.txt: cannot open")
        self.fails("a.txt", "b.txt", "--method", "guess", saying="--method")
        self.fails("a.txt", "b.txt", "--digest-bits", "32", saying="--digest-bits")
        self.fails("a.txt", "b.txt", "--method", "filter", "--bits-per-item", "0", saying="bits per item")
        self.fails("a.txt", "b.txt", "--method", "tree", "--bits-per-item", "nan", saying="bits per item")
        self.fails("a.txt", "b.txt", "--limit", "100", saying="above the limit")
        for ways in (["b.txt"], self.remote("b.txt"), ["--max-array", "1GiB", *self.remote("b.txt")]):
            self.fails("--limit", "10", "a.txt", *ways, saying="above the limit of 10; raise it if you trust the sender (--limit)")
            self.assertNotIn("b.txt:", self.stderr)
        # The peer's own limit is not one of ours.
        self.fails("a.txt", *self.remote("b.txt", "--limit", "10"), saying="raise it if you trust the sender (--limit)\n")
        self.fails("a.txt", "b.txt", "--hash", "md5", "--seed", "5", saying="reconcile: md5 takes no seed\n")


class Secret(Reconcile):
    def test_a_peer_is_not_told_the_seed(self):
        self.two()
        self.write("secret", [SECRET])
        low, high = int(SECRET, 16) % 2**64, int(SECRET, 16) >> 64
        # Whatever is asked, the other end says in its own bytes only that it has another seed.
        for ask in (["--seed", "5"], [], ["--hash", "xxh3"], ["--method", "filter"]):
            with self.subTest(ask):
                tee = ["--", "sh", "-c", f"{POSY} reconcile --remote b.txt --hash siphash --seed-file secret | tee said"]
                self.fails("a.txt", *ask, *tee, saying="give both the same hash and seed")
                with open(os.path.join(self.dir, "said"), "rb") as file:
                    said = file.read()
                self.assertIn(b"POSY", said)
                for text in (said, self.stderr.encode()):
                    for form in (SECRET[2:].lstrip("0"), str(low), str(high), f"{low:x}", f"{high:x}"):
                        self.assertNotIn(form.encode(), text)
                for number in (low, high):
                    self.assertNotIn(number.to_bytes(8, "little"), said)
                    varint = b"".join(bytes([number >> 7 * i & 127 | 128]) for i in range(9))
                    self.assertNotIn(varint[:8], said)
        self.posy("a.txt", "--seed-file", "secret", *self.remote("b.txt", "--seed-file", "secret"))


if __name__ == "__main__":
    main()
