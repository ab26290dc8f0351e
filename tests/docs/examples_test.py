"""The programs of docs/cpp.md and docs/gates.md are those of examples/, compile without a warning, and print what the document says.

Usage: examples_test.py SOURCE LIBRARY COMPILER…
The first compiler builds and runs them as C++20; all compile them as C++20 and C++23.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, LIBRARY, *COMPILERS = sys.argv[1:]
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", os.path.join(SOURCE, "include")]
FOLDER = os.path.join(SOURCE, "examples")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def shown():
    """Name, program and output of each example in the documents."""
    pattern = r"`examples/(\w+)\.cpp`:\n\n```cpp\n(.*?)```\n\nIt prints:\n\n```text\n(.*?)```\n"
    return [each for name in ("cpp.md", "gates.md") for each in re.findall(pattern, read("docs", name), re.S)]


class Examples(unittest.TestCase):
    def test_the_document_shows_every_example(self):
        self.assertEqual(sorted(name + ".cpp" for name, _, _ in shown()), sorted(os.listdir(FOLDER)))
        for name, program, _ in shown():
            self.assertEqual(program, read("examples", name + ".cpp"), name)

    def test_they_print_what_the_document_says(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            for name, _, output in shown():
                built = os.path.join(scratch, name)
                subprocess.run([COMPILERS[0], "-std=c++20", "-O1", *STRICT, os.path.join(FOLDER, name + ".cpp"), LIBRARY,
                                "-lxxhash", "-lcrypto", "-pthread", "-o", built], check=True)
                done = subprocess.run([built], cwd=scratch, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (0, output), name)

    def test_every_compiler_takes_them(self):
        for compiler in COMPILERS:
            for standard in ("-std=c++20", "-std=c++2b"):
                if (compiler, standard) == (COMPILERS[0], "-std=c++20"):
                    continue  # built above
                for name, _, _ in shown():
                    command = [compiler, standard, "-fsyntax-only", *STRICT, os.path.join(FOLDER, name + ".cpp")]
                    done = subprocess.run(command, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stderr[:2000]}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
