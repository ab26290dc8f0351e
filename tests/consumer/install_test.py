"""Installs as README.md says and uses what is installed from another project, by find_package and by pkg-config."""
import json
import os
import re
import subprocess
import unittest

from ways import BUILD, SOURCE, Ways, blocks, files, main

OF_TOOL = {"bin/posy", "share/man/man1/posy.1", "share/bash-completion/completions/posy", "share/zsh/site-functions/_posy",
           "share/fish/vendor_completions.d/posy.fish"}


class Install(Ways):
    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(self.home, ".local")

    def test_readme_installs_what_a_project_needs(self):
        command, = blocks("Install", "sh", "README.md")
        self.assertEqual(command, blocks("From source", "sh")[0])
        self.run_in(SOURCE, command)
        self.assertLessEqual(OF_TOOL, files(self.prefix))
        self.assertIn("posy", self.run_in(self.home, ".local/bin/posy --version"))
        self.build_against_prefix()
        self.build_in_c_against_prefix()

    def test_what_was_installed_can_be_removed(self):
        install, remove = blocks("From source", "sh")
        self.run_in(SOURCE, install + remove)
        self.assertEqual(files(self.prefix), set())

    def test_components(self):
        install = blocks("From source", "sh")[0].rstrip()
        self.run_in(SOURCE, install + " --component tool")
        self.assertEqual(files(self.prefix), OF_TOOL)
        self.run_in(SOURCE, install + " --component library")
        self.assertLessEqual({"include/posy/bloom_filter.hpp", "include/posy.h"}, files(self.prefix))
        self.run_in(SOURCE, f"rm -r {self.prefix} && {install} --component c")
        self.assertEqual({re.sub(r"\d+\.\d+\.\d+$", "VERSION", file) for file in files(self.prefix)}, {"lib/libposy-c.so.0", "lib/libposy-c.so.VERSION"})

    @unittest.skipUnless(os.path.exists(os.path.join(BUILD, "build.ninja")), "built by another tool than Ninja")
    def test_run_builds_all_that_is_installed(self):
        """./run builds the target posy-manual only."""
        built = subprocess.run(["ninja", "-C", BUILD, "-t", "inputs", "posy-manual"], check=True, stdout=subprocess.PIPE, text=True)
        self.run_in(SOURCE, blocks("From source", "sh")[0])
        libraries = {os.path.basename(file) for file in files(self.prefix) if file.endswith((".a", ".so"))}
        self.assertLessEqual(libraries | {"posy"}, {os.path.basename(line) for line in built.stdout.split()})
        self.assertEqual(len(libraries), 3)

    def test_versions_agree(self):
        with open(os.path.join(SOURCE, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(posy VERSION (\S+)", file.read())[1]
        with open(os.path.join(SOURCE, "packaging", "vcpkg", "posy", "vcpkg.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["version"], version)
        self.assertIn(f"posy/{version}\n", *blocks("Conan", "ini"))
        minor = version.rpartition(".")[0]
        self.assertIn(f"find_package(posy {minor} ", *blocks("CMake: find_package", "cmake"))


main()
