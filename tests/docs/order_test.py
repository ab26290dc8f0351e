"""The rooms of the house have an order, and includes point only backwards along it.

The order is the table of docs/design.md: a row per room, the first first, with the public headers that belong to it.
Usage: order_test.py SOURCE
"""
import fnmatch
import os
import re
import sys
import unittest

SOURCE = os.path.abspath(sys.argv[1])
PUBLIC = ("include/posy/", "http_cache/include/posy/")


class House:
    """What the table says, and what the files do."""

    def __init__(self, source):
        self.source = source
        with open(os.path.join(source, "docs/design.md"), encoding="utf-8") as design:
            rows = re.findall(r"^\| `([\w/]+)/` \|([^|]*)\|", design.read(), re.M)
        self.rooms = [folder for folder, _ in rows]
        self.contract = [(pattern, i) for i, (_, cell) in enumerate(rows) for pattern in re.findall(r"`([^`]+)`", cell)]
        self.files = [
            os.path.relpath(os.path.join(folder, name), source)
            for top in ("include", "src", "http_cache", "apps", "bindings")
            for folder, _, names in os.walk(os.path.join(source, top))
            for name in names
            if name.endswith((".hpp", ".cpp"))
        ]
        self.known = set(self.files)

    def room(self, file):
        """The number of a file's room, or None."""
        for top in PUBLIC:
            if file.startswith(top):
                name = file[len(top) :].removesuffix(".hpp")
                return next((i for pattern, i in self.contract if fnmatch.fnmatchcase(name, pattern)), None)
        return next((i for i, folder in enumerate(self.rooms) if file.startswith(folder + "/")), None)

    def includes(self, file):
        with open(os.path.join(self.source, file), encoding="utf-8") as text:
            names = re.findall(r'^#include "([^"]+)"', text.read(), re.M)
        for name in names:
            tops = (os.path.dirname(file), "include", "http_cache/include", "src", "http_cache/src", "apps", "apps/posy")
            places = [os.path.join(top, name) for top in tops]
            yield next((p for p in places if p in self.known), name)

    def fault(self, file, included):
        """What is wrong with one file including another; None if nothing is."""
        mine, theirs = self.room(file), self.room(included)
        if mine is None or theirs is None:
            return f"{file if mine is None else included}: in no row of the table in docs/design.md"
        if theirs > mine:
            return f"{file} includes {included}: {self.rooms[theirs]} comes after {self.rooms[mine]}"
        private = included.startswith(("src/", "http_cache/src/"))
        if private and file.startswith(("apps/", "bindings/")):
            return f"{file} includes {included}: applications and bindings include public headers only"
        if private and file.startswith(PUBLIC):
            return f"{file} includes {included}: a public header includes public headers only"
        return None

    def faults(self):
        found = (self.fault(f, i) for f in self.files for i in [f, *self.includes(f)] if i in self.known)
        return sorted(set(fault for fault in found if fault))


class Order(unittest.TestCase):
    maxDiff = None
    house = House(SOURCE)

    def test_includes_point_backwards(self):
        self.assertGreater(len(self.house.rooms), 15)
        self.assertGreater(len(self.house.files), 300)
        self.assertEqual(self.house.faults(), [])

    def test_every_room_and_every_pattern_is_there(self):
        used = {self.house.room(file) for file in self.house.files}
        self.assertEqual(used, set(range(len(self.house.rooms))))
        for pattern, i in self.house.contract:
            tops = [top for top in PUBLIC if any(fnmatch.fnmatchcase(f, top + pattern + ".hpp") for f in self.house.files)]
            self.assertTrue(tops, f"{pattern}, of {self.house.rooms[i]}: no such header")

    def test_a_forward_include_is_found(self):
        for file, included, what in (
            ("src/filter/algebra.cpp", "include/posy/plan.hpp", "comes after"),
            ("include/posy/geometry.hpp", "include/posy/bloom_filter.hpp", "comes after"),
            ("src/message/delta.cpp", "http_cache/include/posy/http_cache/url.hpp", "comes after"),
            ("apps/node/node.cpp", "src/message/frame.hpp", "public headers only"),
            ("include/posy/plan.hpp", "src/plan/search.hpp", "public headers only"),
            ("src/nowhere/new.cpp", "include/posy/result.hpp", "in no row"),
        ):
            self.assertIn(what, self.house.fault(file, included) or "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
