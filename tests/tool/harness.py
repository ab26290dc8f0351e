"""What the tests of the tool share: posy run in a scratch folder, and what it must say when it fails."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from waiting import until  # noqa: E402, F401

POSY = os.path.abspath(sys.argv[1])


def main():
    unittest.main(module="__main__", argv=sys.argv[:1] + sys.argv[2:])


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
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
