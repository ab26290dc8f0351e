"""Where keys and filters come from and go to, and what bad input gets.

Usage: input_test.py POSY [unittest arguments]
"""
import json
import os
import resource
import signal
import subprocess

from harness import POSY, ToolTest, main


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
            if content.startswith(b"\x7f"):
                for command in [["query", "bad", "good.posy"], ["info", "bad"], ["union", "bad", "-o", "x"]]:
                    self.fails(*command, saying="; if it is a filter of another program, name its format with --format")
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
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))  # like grep
        # A file size limit stands for a disk that fills up half way: the old file survives.
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.fails("build", "-n", "1M", "-o", "good.posy", stdin="a\n", preexec_fn=limited, saying="good.posy: cannot write: File too large")
        self.assertEqual(self.read("good.posy"), self.good)


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
        self.fails("build", "t.tsv", "--field", "2", "-o", "f.posy", saying="at byte 2, line 1: a field begins with a quote and does not end")
        self.posy("build", "t.tsv", "--field", "2", "-f", "1e-9", "-o", "f.posy", "--delimiter", "\\t")
        self.assertEqual(self.posy("query", "f.posy", stdin='"q\n'), b'"q\n')
        self.fails("build", "t.tsv", "--field", "1", "--delimiter", "::", "-o", "x", saying="one character")
        self.posy("build", "t.tsv", "--field", "1", "--delimiter", "\\t", "-o", "f.posy")
        self.fails("build", "t.tsv", "--field", "1", "--words", "-o", "x", saying="excludes")
        self.fails("build", "t.tsv", "--field", "0", "--delimiter", "\\t", "-o", "x", saying="columns are counted from 1")
        self.write("t.tsv", "a\n")
        self.fails("build", "t.tsv", "--threads", "100000", "-o", "x", saying="not in range")
        self.fails("build", "t.tsv", "--json-path", "/a~", "-o", "x", saying="--json-path /a~: write it as")
        self.fails("build", "-o", "x", "--json-path", "a", stdin='{"a":' + "[" * 300_000 + "]" * 300_000 + "}\n", saying="a record without a value at a")
        self.fails("compare", "f.posy", "f.posy", "--level", "nan", saying="--level must lie between 0 and 1")
        self.fails("plan", "-n", "0.3", saying="not a whole number")
        self.fails("plan", "-n", "10", "--message-bits", "1e-9", saying="would say yes to everything")
        self.fails("plan", "-n", "1M", "-f", "1e-4", "--minimize", "message", "-k", "1", saying="allow them with a largest memory")


if __name__ == "__main__":
    main()
