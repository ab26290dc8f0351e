"""Training by map-reduce: posy build as mapper and posy union as reducer, under the conventions of Hadoop streaming.

Each task is a process of its own, which gets its split on standard input; lines of key, tab and value go through a sort to the
reducer; a task that fails is started again, and what it had printed is dropped, unless it was only believed to have failed.

Usage: streaming_test.py POSY [unittest arguments]
"""
import base64
import random
import signal
import subprocess

from harness import POSY, ToolTest, main

TRAIN = ("build", "--items", "10k", "--fpr", "0.001", "--streaming", "-o", "-")


class Streaming(ToolTest):
    def setUp(self):
        super().setUp()
        self.keys = [f"key {i}" for i in range(10000)]
        self.splits = ["".join(key + "\n" for key in self.keys[i::5]) for i in range(5)]
        self.write("all", "".join(self.splits))
        self.posy("build", *TRAIN[1:5], "all", "-o", "one")

    def map(self, command, split):
        """What a mapper prints for its split, and its status."""
        done = subprocess.run([POSY, *command], input=split.encode(), capture_output=True, cwd=self.dir, timeout=600)
        return done.returncode, done.stdout

    @staticmethod
    def shuffle(outputs):
        """All lines, sorted by their keys; the order of values is anything."""
        lines = [line for output in outputs for line in output.splitlines(keepends=True)]
        random.Random(1).shuffle(lines)
        return b"".join(sorted(lines, key=lambda line: line.split(b"\t")[0]))

    def bits(self, name):
        """The bits, as a message of them alone: without the checksum of the header, which is of the number of items, too."""
        return self.read(name)[64:-4]

    def items(self, name):
        return [line for line in self.posy("info", name).decode().splitlines() if line.startswith("items  ")]

    def killed_mapper(self):
        """A mapper that is killed before its input has ended: it has printed nothing."""
        task = subprocess.Popen([POSY, *TRAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.dir)
        task.stdin.write(self.splits[2].encode()[:5000])
        task.stdin.flush()
        task.send_signal(signal.SIGKILL)
        printed, _ = task.communicate(timeout=60)
        self.assertEqual((task.returncode, printed), (-signal.SIGKILL, b""))

    def test_the_bits_are_those_of_one_build(self):
        outputs = []
        for i, split in enumerate(self.splits):
            if i == 2:
                self.killed_mapper()
            status, printed = self.map(TRAIN, split)
            self.assertEqual(status, 0)
            self.assertRegex(printed, rb"\Afilter\t[A-Za-z0-9+/]+=*\n\Z")
            outputs.append(printed)
        outputs.append(self.map(TRAIN, self.splits[3])[1])  # a task that ran twice, as slow ones do
        self.posy("union", "--streaming", "-", "-o", "trained", stdin=self.shuffle(outputs))
        self.assertEqual(self.bits("trained"), self.bits("one"))
        self.assertEqual(self.items("trained"), self.items("one"))

    def test_a_combiner_and_several_reducers(self):
        outputs = [self.map(TRAIN, split)[1] for split in self.splits]
        combined = [self.posy("union", "--streaming", "-", stdin=self.shuffle(part)) for part in (outputs[:2], outputs[2:])]
        for name, part in zip(("part-00000", "part-00001"), combined):
            self.assertRegex(part, rb"\Afilter\t[A-Za-z0-9+/]+=*\n\Z")
            self.write(name, part)
        self.posy("union", "--streaming", "part-00000", "part-00001", "part-00000", "-o", "trained")
        self.assertEqual(self.bits("trained"), self.bits("one"))
        self.assertEqual(self.items("trained"), self.items("one"))

    def test_the_filter_is_a_side_file_of_the_next_job(self):
        outputs = [self.map(TRAIN, split)[1] for split in self.splits]
        self.posy("union", "--streaming", "-", "-o", "trained", stdin=self.shuffle(outputs))
        table = [f"key {i}\trow {i}" for i in range(0, 200000, 10)]  # 1,000 of 20,000 rows have a partner
        passed = []
        for i in range(4):
            split = "".join(row + "\n" for row in table[i::4])
            status, printed = self.map(("query", "trained", "--field", "1"), split)
            self.assertEqual(status, 0)
            passed += printed.decode().splitlines()
        joined = [row for row in passed if int(row.split("\t")[0][4:]) < 10000]
        self.assertEqual(len(joined), 1000)
        self.assertLess(len(passed), 1000 + 60)  # 19 false positives expected; 60 are 9 deviations more
        # Nothing that passes is status 1, which a framework would take for a failure.
        status, printed = self.map(("query", "trained"), "nobody at all\n")
        self.assertEqual((status, printed), (1, b""))

    def test_lines_that_are_not_are_refused(self):
        line = self.map(TRAIN, self.splits[0])[1]
        message = base64.b64decode(line[7:])

        def refused(text, saying):
            self.fails("union", "--streaming", "-", "-o", "x", saying=saying, stdin=text)

        refused(b"", "there are no lines to unite")
        refused(line[7:], "standard input: line 1: it does not begin with 'filter' and a tab")
        refused(line + line[:-3] + b"\n", "standard input: line 2: what follows the tab is not base64")
        refused(line[:-6] + b"!" + line[-5:], "line 1: what follows the tab is not base64")
        refused(b"filter\t" + base64.b64encode(message[:-3]) + b"\n", "line 1: ")
        refused(b"filter\t" + base64.b64encode(message[:70] + b"\xff\x00\xff" + message[73:]) + b"\n", "line 1: ")
        refused(b"filter\t" + base64.b64encode(message + b"x") + b"\n", "there are bytes after the message")
        refused(b"filter\t\n", "line 1: ")
        other = self.map(("build", "--items", "20k", "--streaming", "-o", "-"), self.splits[0])[1]
        refused(line + other, "standard input: line 2: the filters differ in")
        refused(line + other, "all mappers need the same --items, --fpr and --seed")
        refused(b"fil", "line 1: it does not begin with 'filter' and a tab")
        self.fails("build", "--items", "10", "--streaming", "-o", "x", saying="--streaming writes to standard output", stdin="a\n")

    def test_a_line_is_no_longer_than_the_limits_allow(self):
        line = self.map(TRAIN, self.splits[0])[1]
        self.posy("union", "--streaming", "-", "--max-array", "1MiB", "-o", "x", stdin=line)
        self.fails("union", "--streaming", "-", "--max-array", "1MiB", "-o", "x", stdin=line + b"filter\t" + b"A" * 4_000_000,
                   saying="standard input: line 2: it is longer than ")
        # What does not begin as it should is refused before it is read: this one never ends.
        with open("/dev/zero", "rb") as endless:
            done = subprocess.run([POSY, "union", "--streaming", "-"], stdin=endless, capture_output=True, timeout=60)
        self.assertIn(b"line 1: it does not begin with 'filter' and a tab", done.stderr)


if __name__ == "__main__":
    main()
