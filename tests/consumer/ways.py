"""docs/install.md, for the tests of this folder: its commands are run and its projects built as they stand there.

Each test is called with SOURCE BUILD, Posy's sources and a build of them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
EXAMPLE = os.path.join(SOURCE, "examples", "ten_lines.cpp")
IN_C = os.path.join(SOURCE, "bindings", "c", "examples", "seen.c")
CACHED = os.path.join(SOURCE, "tests", "consumer", "cached.cpp")
SKIPPED = 77  # for ctest


def blocks(heading, language, document="docs/install.md"):
    """The code blocks of a section."""
    with open(os.path.join(SOURCE, document), encoding="utf-8") as file:
        section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S)[1]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)


def files(folder):
    return {os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names}


class Ways(unittest.TestCase):
    """A test in a scratch folder: a home without anything, and a project of two programs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.home = os.path.join(scratch.name, "home")
        self.project = os.path.join(scratch.name, "project")
        os.mkdir(self.home)
        os.mkdir(self.project)
        shutil.copy(EXAMPLE, os.path.join(self.project, "app.cpp"))
        shutil.copy(CACHED, self.project)
        self.environment = {**os.environ, "HOME": self.home}

    def run_in(self, folder, commands):
        """Runs commands of the document in a folder, and fails with what they print if one of them fails."""
        if folder == SOURCE:
            commands = commands.replace("build/release", BUILD).replace("./" + BUILD, BUILD)
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}")
        return done.stdout

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w", encoding="utf-8") as file:
            file.write(text)

    def expect(self, folder, programs=("app", "cached")):
        """Runs the programs that were built in a folder of the project."""
        for program in programs:
            printed = self.run_in(self.project, os.path.join(".", folder, program))
            self.assertRegex(printed, {"app": r"^10044 of ten million absent keys", "cached": r"^fresh for 120 seconds"}[program])

    def build_by_find_package(self, commands):
        self.write("CMakeLists.txt", *blocks("CMake: find_package", "cmake"))
        self.run_in(self.project, commands)
        self.expect("build")

    def build_against_prefix(self):
        """Builds the project against ~/.local, by find_package and by pkg-config."""
        self.build_by_find_package(*blocks("CMake: find_package", "sh"))
        self.run_in(self.project, *blocks("pkg-config", "sh"))
        self.expect(".")

    def build_in_c_against_prefix(self):
        """The same with a project in C, whose commands are in docs/c.md."""
        with_cmake, with_pkg_config = blocks("In a project", "sh", "docs/c.md")
        folder = os.path.join(self.project, "c")
        os.mkdir(folder)
        shutil.copy(IN_C, folder)
        self.write(os.path.join("c", "CMakeLists.txt"), *blocks("In a project", "cmake", "docs/c.md"))
        for commands, program in ((with_cmake, "build/seen"), (with_pkg_config, "./seen")):
            self.run_in(folder, commands)
            self.assertRegex(self.run_in(folder, program), r"^alice: 1, bob: 0\n1028 of a million absent keys")


def need(program):
    if not shutil.which(program):
        print(f"skipped: {program} is not installed")
        sys.exit(SKIPPED)


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[3:]])
