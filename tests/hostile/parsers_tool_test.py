"""What a stranger's bytes cost the tool. Usage: parsers_tool_test.py PATH-OF-POSY

Work is measured in processor time of the tool, so that a busy machine does not matter, and the bounds are many times
what it takes."""

import array
import contextlib
import fcntl
import functools
import http.server
import os
import resource
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

POSY = os.path.abspath(sys.argv.pop(1))


def children_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        os.chdir(self.folder.name)

    def posy(self, *args, status=0, input=b""):
        before = children_seconds()
        done = subprocess.run([POSY, *args], input=input, capture_output=True, timeout=300)
        self.seconds = children_seconds() - before
        self.assertEqual(done.returncode, status, done.stderr.decode())
        self.stderr = done.stderr.decode()
        return done.stdout

    def empty_filter(self, bits, name):
        """An array in which nothing is set, in a few bytes."""
        self.posy("build", "-n", "1", "-b", str(bits), "-k", "1", "--layout", "spread", "-o", name, "/dev/null")

    @contextlib.contextmanager
    def server(self):
        """The URL of the folder, on a plain web server."""
        handler = functools.partial(Quiet, directory=os.getcwd())
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()

    def test_a_column_of_quoted_values_is_read_in_one_pass(self):
        with open("rows.csv", "wb") as file:
            file.write(b"".join(b'"%d"\n' % i for i in range(1_000_000)))
        self.posy("build", "rows.csv", "--field", "1", "-n", "1M", "-o", "f")
        self.assertLess(self.seconds, 4)  # with a search for the next comma in each row, 10

    def test_an_array_in_few_bytes_needs_to_be_allowed(self):
        self.empty_filter(1 << 29, "large.posy")
        self.posy("pack", "large.posy", "-o", "packed.posy")
        self.assertLess(os.path.getsize("packed.posy"), 100)
        for command in (["info", "packed.posy"], ["query", "packed.posy"], ["unpack", "packed.posy", "-o", "x"],
                        ["union", "packed.posy", "-o", "x"], ["fold", "packed.posy", "-o", "x"], ["add", "packed.posy"],
                        ["compare", "packed.posy", "large.posy"], ["delta", "packed.posy", "large.posy", "-o", "x"],
                        ["apply", "packed.posy", "large.posy"], ["pack", "packed.posy", "-o", "x"]):
            self.posy(*command, status=2)
            self.assertIn("67108864 bytes of memory, above the limit", self.stderr, command)
            self.assertIn("--max-array", self.stderr)
            self.assertLess(self.seconds, 2, command)
        self.posy("unpack", "--max-array", "64MiB", "packed.posy", "-o", "again.posy")
        self.assertEqual(os.path.getsize("again.posy"), os.path.getsize("large.posy"))
        self.posy("info", "--max-array", "1GiB", "packed.posy")

    def test_a_bomb_of_31_bytes_is_an_error_at_once(self):
        # 2^33 bits coded bit by bit, with the right checksum.
        with open("bomb", "wb") as file:
            file.write(bytes.fromhex("504f53590101021701010180808080200000020000000401000001de96771f"))
        for options in ([], ["--max-array", "4GiB"]):
            self.posy("info", *options, "bomb", status=2)
            self.assertLess(self.seconds, 2)
        self.assertIn("range coding of 8589934592 bits in 4 bytes", self.stderr)

    def test_a_codec_that_no_reader_takes_is_not_written(self):
        self.empty_filter(1 << 26, "f.posy")
        self.posy("add", "f.posy", input=b"a\nb\n")
        self.posy("pack", "--codec", "range", "f.posy", "-o", "p.posy")
        self.assertIn("readers reject range for an array of this size, because it takes too long; coded as gaps instead", self.stderr)
        self.posy("info", "p.posy")

    def test_a_delta_is_as_large_as_what_it_changes(self):
        self.empty_filter(1 << 29, "old.posy")
        self.posy("add", "old.posy", "-o", "new.posy", input=b"a\nb\n")
        self.posy("delta", "old.posy", "new.posy", "-o", "change.posy")
        self.assertLess(os.path.getsize("change.posy"), 100)
        self.posy("apply", "old.posy", "change.posy", "-o", "got.posy")
        self.assertEqual(self.posy("query", "got.posy", input=b"a\nb\nc\n"), b"a\nb\n")

    def test_a_filter_of_any_size_is_followed_by_what_it_takes(self):
        # Not a multiple of the pages that arrays are made of, from a file that is mapped and takes none of them.
        self.empty_filter(8 * 70_000_000, "old.posy")
        self.posy("add", "old.posy", "-o", "new.posy", input=b"a\nb\n")
        self.posy("delta", "old.posy", "new.posy", "-o", "change.posy")
        self.posy("apply", "--max-array", "1MiB", "old.posy", "change.posy", "-o", "got.posy")
        self.posy("apply", "old.posy", "change.posy", "-o", "got.posy")
        self.assertEqual(self.posy("query", "got.posy", input=b"a\nb\nc\n"), b"a\nb\n")
        if b"follow" not in self.posy("--help"):
            self.skipTest("built without HTTP")
        self.posy("pack", "new.posy", "-o", "whole.posy")
        with self.server() as url:
            self.posy("follow", "-q", "--once", url + "whole.posy", "-o", "held.posy", status=2)
            self.assertIn("; raise it if you trust the sender (--max-array)\n", self.stderr)
            os.link("old.posy", "held.posy")
            self.posy("follow", "-q", "--once", url + "whole.posy", "-o", "held.posy")
        self.assertEqual(self.posy("query", "held.posy", input=b"a\nb\nc\n"), b"a\nb\n")

    def test_many_messages_cost_no_more_than_one(self):
        self.empty_filter(1 << 28, "large.posy")
        self.posy("pack", "large.posy", "-o", "packed.posy")
        with open("packed.posy", "rb") as file:
            packed = file.read()
        with open("two.posy", "wb") as file:
            file.write(packed * 2)
        with open("many.posy", "wb") as file:
            file.write(packed * 2000)
        self.posy("info", "packed.posy", "packed.posy", "packed.posy")  # as many as are named
        for command in (["info", "two.posy"], ["info", "many.posy"], ["union", "many.posy", "-o", "x"]):
            self.posy(*command, status=2)
            self.assertIn("its first 2 messages take ", self.stderr)
            self.assertIn("; raise it if you trust the sender (--max-array)\n", self.stderr)
            self.assertLess(self.seconds, 5, command)
        self.posy("info", "-", status=2, input=packed * 2000)
        self.posy("info", "--max-array", "64MiB", "two.posy")
        # What a message has in it is no matter.
        with open("large.posy", "rb") as file:
            large = file.read()
        with open("raw.posy", "wb") as file:
            file.write(large * 4)
        for options in ([], ["--max-array", "40MB"]):
            self.posy("info", *options, "raw.posy")
            self.posy("info", *options, "-", input=large * 4)

    def test_a_limit_names_its_option(self):
        self.posy("count", "--memory", "80MiB", "--top", "0", "-o", "sketch.posy", input=b"a\n")
        self.posy("count", "--ask", "sketch.posy", status=2, input=b"a\n")
        self.assertIn("; raise it if you trust the sender (--max-array)\n", self.stderr)
        self.assertNotIn("damaged", self.stderr)
        self.assertEqual(self.posy("count", "--ask", "sketch.posy", "--max-array", "90MiB", input=b"a\n"), b"1\ta\n")
        if b"follow" not in self.posy("--help"):
            self.skipTest("built without HTTP")
        self.empty_filter(1 << 30, "large.posy")
        self.posy("pack", "large.posy", "-o", "packed.posy")
        with self.server() as url:
            for options, named in (([], "--max-array"), (["--max-size", "10"], "--max-size"),
                                   (["--max-size", "100MiB", "--max-array", "300MiB"], "--max-size"),
                                   (["--max-size", "300MiB", "--max-array", "100MiB"], "--max-array")):
                for command in (["query"], ["follow", "--once", "-o", "copy.posy"]):
                    self.posy(*command, *options, url + "packed.posy", status=2)
                    self.assertIn(f"; raise it if you trust the sender ({named})\n", self.stderr, (command, options))
                    self.assertNotIn("not a message", self.stderr)
            self.posy("query", "--max-size", "300MiB", "--max-array", "300MiB", url + "packed.posy", status=1)

    def test_the_state_of_seen_is_its_own(self):
        options = ["seen", "--window", "1h", "--items", "100M", "--state", "s.posy"]
        self.assertEqual(self.posy(*options, input=b"a\n"), b"a\n")
        self.assertEqual(self.posy(*options, input=b"a\nb\n"), b"b\n")  # what is new
        self.assertLess(os.path.getsize("s.posy"), 1000)

    def test_a_byte_at_a_time_costs_a_byte(self):
        self.empty_filter(1 << 16, "f.posy")
        before = children_seconds()
        with subprocess.Popen([POSY, "query", "-c", "f.posy"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as tool:
            waiting = array.array("i", [0])
            for _ in range(100_000):
                os.write(tool.stdin.fileno(), b"x")
                fcntl.ioctl(tool.stdin.fileno(), termios.FIONREAD, waiting)
                while waiting[0] != 0:
                    os.sched_yield()
                    fcntl.ioctl(tool.stdin.fileno(), termios.FIONREAD, waiting)
            tool.stdin.close()
            self.assertEqual(tool.stdout.read(), b"0\n")
        self.assertLess(children_seconds() - before, 1.5)

    def test_a_line_without_an_end_is_searched_once(self):
        if b"follow" not in self.posy("--help"):
            self.skipTest("built without HTTP")
        self.empty_filter(1 << 16, "f.posy")
        with self.server() as url:
            before = children_seconds()
            with subprocess.Popen([POSY, "follow", "-q", "--query", url + "f.posy"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as tool:
                for _ in range(200):
                    tool.stdin.write(b"x" * 1_000_000)
                tool.stdin.close()
                self.assertEqual(tool.stdout.read(4), b"no\tx")
                tool.stdout.read()
            self.assertLess(children_seconds() - before, 5)

    def test_near_says_how_long_a_key_it_takes(self):
        self.empty_filter(1 << 20, "f.posy")
        self.posy("query", "--near", "f.posy", input=b"x" * 1024 + b"\n", status=1)
        self.posy("query", "--near", "f.posy", input=b"abc\n" + b"x" * 1025 + b"\n", status=2)
        self.assertIn("standard input: at byte 4, line 2: a key of 1025 bytes; --near takes keys of at most 1024", self.stderr)


if __name__ == "__main__":
    unittest.main()
