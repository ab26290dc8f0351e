"""Many writers of one file, and writers that are killed: what was acknowledged with status 0 is in the file.

Usage: writers_test.py POSY [unittest arguments]
"""
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from waiting import until  # noqa: E402

POSY = os.path.abspath(sys.argv[1])
PROCESSES = 16
EACH = 500

# Ends the process where a file that is complete gets the name of the one it replaces.
KILL_AT_RENAME = """
#include <signal.h>
#include <unistd.h>
int rename(const char* from, const char* to) { kill(getpid(), SIGKILL); return -1; }
"""


class WritersTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def start(self, *args, **kwargs):
        return subprocess.Popen([POSY, *args], cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **kwargs)

    def posy(self, *args, stdin="", status=0, **kwargs):
        process = self.start(*args, **kwargs)
        out, self.stderr = process.communicate(stdin, timeout=600)
        self.assertEqual(process.returncode, status, f"posy {' '.join(args)}: {self.stderr}")
        return out

    def keys(self, i):
        return "".join(f"writer {i} key {j}\n" for j in range(EACH))

    def all_keys(self):
        return "".join(self.keys(i) for i in range(PROCESSES))

    def at_once(self, *commands, reading=True):
        """Commands that start as close to each other as can be; each reads keys of its own. All must succeed."""
        processes = [self.start(*args) for args in commands]
        outs = []
        for i, process in enumerate(processes):  # they read no key before they have the file
            process.stdin.write(self.keys(i) if reading else "")
        for process in processes:
            process.stdin.close()
        for process in processes:
            outs.append(process.stdout.read())
            errors = process.stderr.read()
            self.assertEqual(process.wait(600), 0, errors)
            process.stdout.close()
            process.stderr.close()
        return outs

    def files(self):
        return sorted(os.listdir(self.dir))


class Parallel(WritersTest):
    def test_all_added_keys_are_kept(self):
        self.posy("build", "--items", "20k", "--fpr", "1e-6", "-o", "f.posy")
        self.at_once(*PROCESSES * [["add", "f.posy"]])
        self.assertEqual(self.posy("query", "f.posy", stdin=self.all_keys()), self.all_keys())
        self.assertEqual(self.files(), ["f.posy"])

    def test_by_a_link_as_well(self):
        self.posy("build", "--items", "20k", "--fpr", "1e-6", "-o", "f.posy")
        os.symlink("f.posy", os.path.join(self.dir, "link"))
        self.at_once(*[["add", name] for name in ["f.posy", "link", "./f.posy"] * 3])
        expected = "".join(self.keys(i) for i in range(9))
        self.assertEqual(self.posy("query", "f.posy", stdin=expected), expected)
        self.assertEqual(self.files(), ["f.posy", "link"])

    def test_all_removed_keys_are_gone(self):
        self.posy("build", "--items", "20k", "--fpr", "1e-6", "--counting", "-o", "f.posy", stdin=self.all_keys())
        self.at_once(*PROCESSES * [["remove", "f.posy"]])
        self.assertEqual(self.posy("query", "f.posy", stdin=self.all_keys(), status=1), "")

    def test_all_seen_keys_are_remembered(self):
        """Also when the state does not exist yet: one makes it, the others go on with it."""
        outs = self.at_once(*PROCESSES * [["seen", "--window", "1d", "--items", "20k", "--fpr", "1e-6", "--state", "s.posy"]])
        self.assertEqual(sorted("".join(outs)), sorted(self.all_keys()))
        self.assertEqual(self.posy("seen", "--state", "s.posy", stdin=self.all_keys(), status=1), "")
        self.assertEqual(self.files(), ["s.posy"])

    def test_unions_onto_one_file(self):
        self.posy("build", "--items", "20k", "--fpr", "1e-6", "-o", "all.posy")
        for i in range(8):
            self.posy("build", "--items", "20k", "--fpr", "1e-6", "-o", f"{i}.posy", stdin=self.keys(i))
        self.at_once(*[["union", "all.posy", f"{i}.posy", "-o", "all.posy"] for i in range(8)], reading=False)
        expected = "".join(self.keys(i) for i in range(8))
        self.assertEqual(self.posy("query", "all.posy", stdin=expected), expected)


class Waiting(WritersTest):
    def holder(self):
        """A posy that has the file and waits for its keys."""
        self.posy("build", "--items", "1000", "-o", "f.posy", stdin="a\n")
        process = self.start("add", "f.posy")
        until(lambda: self.holds(process), 30, "the lock held")
        return process

    def holds(self, process):
        try:
            with open(os.path.join(self.dir, "f.posy.posy-lock"), encoding="utf-8") as lock:
                return lock.read() == f"{process.pid}\n"
        except FileNotFoundError:
            return False

    def test_says_for_whom_it_waits(self):
        first = self.holder()
        second = self.start("add", "f.posy")
        self.assertEqual(second.stderr.readline(),
                         f"posy: f.posy: waiting for process {first.pid}, which is changing it\n")
        first.communicate("b\n", timeout=60)
        second.communicate("c\n", timeout=60)
        self.assertEqual((first.returncode, second.returncode), (0, 0))
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\nc\n"), "a\nb\nc\n")

    def test_gives_up_with_an_error(self):
        first = self.holder()
        for wait, saying in [("0", "; try again when it is done, or wait longer with --lock-wait SECONDS\n"),
                             ("0.2", "was not done within 0.2 s; try again later, or wait longer with --lock-wait SECONDS\n")]:
            self.posy("add", "--lock-wait", wait, "f.posy", stdin="c\n", status=2)
            self.assertRegex(self.stderr, rf"\Aposy: f.posy: process {first.pid} is changing it[^\n]*\n\Z")
            self.assertIn(saying, self.stderr)
        first.communicate("b\n", timeout=60)
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\nc\n"), "a\nb\n")

    def test_reading_needs_no_lock(self):
        first = self.holder()
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\n"), "a\n")
        first.communicate("", timeout=60)

    def test_a_killed_holder_blocks_nobody(self):
        first = self.holder()
        first.kill()
        first.communicate(timeout=60)
        self.posy("add", "--lock-wait", "0", "f.posy", stdin="c\n")
        self.assertEqual(self.files(), ["f.posy"])


class Ending(WritersTest):
    def test_seen_keeps_its_state_when_it_is_told_to_end(self):
        for how in [signal.SIGTERM, signal.SIGINT]:
            process = self.start("seen", "--window", "1d", "--state", f"{how}.posy")
            process.stdin.write("a\nb\nhalf a rec")
            process.stdin.flush()
            self.assertEqual([process.stdout.readline(), process.stdout.readline()], ["a\n", "b\n"])
            process.send_signal(how)
            process.wait(60)  # not for the end of its input
            out, errors = process.communicate()
            self.assertEqual((process.returncode, out, errors), (0, "", ""))
            self.assertEqual(self.posy("seen", "--state", f"{how}.posy", stdin="a\nb\nhalf a rec\n"), "half a rec\n")

    def test_the_second_signal_ends_it(self):
        """Nobody reads what it prints: it waits for that, and does not get to save."""
        with open(os.path.join(self.dir, "many"), "w", encoding="ascii") as many:
            many.writelines(f"{i}\n" for i in range(200_000))
        process = self.start("seen", "--window", "1d", "--state", "s.posy", "many")
        self.assertEqual(process.stdout.readline(), "0\n")
        process.send_signal(signal.SIGTERM)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.3)
        until(lambda: process.poll() is not None or process.send_signal(signal.SIGTERM), 60, "its end")
        self.assertEqual(process.returncode, -signal.SIGTERM)
        process.communicate()


class Leftovers(WritersTest):
    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            self.skipTest("needs a C compiler")
        self.library = os.path.join(tempfile.mkdtemp(), "kill.so")
        self.addCleanup(shutil.rmtree, os.path.dirname(self.library))
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", self.library], input=KILL_AT_RENAME.encode(),
                       check=True)

    def kill_at_rename(self, *args, stdin):
        self.posy(*args, stdin=stdin, status=-signal.SIGKILL,
                  env={**os.environ, "LD_PRELOAD": self.library, "ASAN_OPTIONS": "verify_asan_link_order=0"})

    def test_the_next_writer_removes_them(self):
        self.posy("build", "--items", "1000", "-o", "f.posy", stdin="a\n")
        for _ in range(3):
            self.kill_at_rename("add", "f.posy", stdin="b\n")
        self.assertEqual(self.files(), ["f.posy", "f.posy.posy-lock", "f.posy.posy-tmp"])
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\n"), "a\n")
        self.posy("add", "f.posy", stdin="c\n")
        self.assertEqual(self.files(), ["f.posy"])
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\nc\n"), "a\nc\n")

    def test_one_that_is_being_written_stays(self):
        self.posy("build", "--items", "1000", "-o", "f.posy", stdin="a\n")
        name = os.path.join(self.dir, "f.posy.posy-tmp")
        with open(name, "wb") as live:
            fcntl.flock(live, fcntl.LOCK_EX)
            self.posy("add", "f.posy", stdin="b\n")
            self.assertEqual(self.files(), ["f.posy", "f.posy.posy-tmp"])
        self.posy("add", "f.posy", stdin="c\n")
        self.assertEqual(self.files(), ["f.posy"])
        self.assertEqual(self.posy("query", "f.posy", stdin="a\nb\nc\n"), "a\nb\nc\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
