"""The programs of docs/gates.md that need databases are those of bindings/gates/examples, and print what the document says.

Usage: gates_test.py SOURCE PROGRAM…
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, *PROGRAMS = sys.argv[1:]


class Gates(unittest.TestCase):
    def test_the_document_shows_what_they_print(self):
        with open(os.path.join(SOURCE, "docs/gates.md"), encoding="utf-8") as file:
            text = file.read()
        shown = re.findall(r"`(bindings/gates/examples/\w+\.cpp)`:\n\n```cpp\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```\n", text, re.S)
        self.assertEqual([os.path.basename(name)[:-4] for name, _, _ in shown], [os.path.basename(p)[len("posy-example-"):] for p in PROGRAMS])
        for (name, program, output), built in zip(shown, PROGRAMS):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
                self.assertEqual(program, file.read(), name)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                done = subprocess.run([os.path.abspath(built)], cwd=scratch, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (0, output), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
