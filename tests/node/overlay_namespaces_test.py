"""Nodes of an overlay in three network namespaces: a ── b ── c, where b forwards, and the link to c is cut and mended.

Usage: overlay_namespaces_test.py POSY [unittest arguments]; skipped where namespaces may not be made.
"""
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, NodeTest  # noqa: E402
from daemons import Daemon  # noqa: E402
from waiting import until  # noqa: E402

PATIENT = 90
ASK = """
import sys, urllib.error, urllib.request
request = urllib.request.Request(sys.argv[2], method=sys.argv[1])
try:
    sys.stdout.write(urllib.request.urlopen(request, timeout=20).read().decode())
except urllib.error.HTTPError as e:
    sys.stdout.write(e.read().decode())
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Place(Daemon):
    """A node inside a namespace."""

    def __init__(self, space, address, *options):
        self.space, self.address = space, f"http://{address}:3130"
        super().__init__(["ip", "netns", "exec", space, POSY, "node", "--listen", f"{address}:3130", "--threads", "1", "--allow-admin", "10.77.0.0/16",
                          "--beat", "1", "--items", "1000", "--interval", "0.1", "--lookup-time", "3", *options])

    def ask(self, method, path):
        return run("ip", "netns", "exec", self.space, sys.executable, "-c", ASK, method, self.address + path)

    def holders(self, key):
        return [p["url"] for p in json.loads(self.ask("GET", "/who?key=" + key))["peers"]]

    def neighbours(self):
        return sorted(n["address"] for n in json.loads(self.ask("GET", "/overlay"))["neighbours"] if n["state"] == "up")


class Namespaces(NodeTest):
    def setUp(self):
        self.a, self.b, self.c = (f"posy{os.getpid()}{letter}" for letter in "abc")
        try:
            for space in (self.a, self.b, self.c):
                run("ip", "netns", "add", space)
                self.addCleanup(subprocess.run, ["ip", "netns", "del", space], capture_output=True)
                run("ip", "-n", space, "link", "set", "lo", "up")
            self.wire(self.a, "10.77.1.1", self.b, "10.77.1.2")
            self.wire(self.c, "10.77.2.1", self.b, "10.77.2.2")
            run("ip", "netns", "exec", self.b, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        except (OSError, subprocess.SubprocessError) as e:
            self.skipTest(f"network namespaces cannot be made here: {e}")

    def wire(self, leaf, leaf_address, hub, hub_address):
        there = "to" + leaf[-1]
        run("ip", "link", "add", "up0", "netns", leaf, "type", "veth", "peer", "name", there, "netns", hub)
        for space, name, address in ((leaf, "up0", leaf_address), (hub, there, hub_address)):
            run("ip", "-n", space, "address", "add", address + "/24", "dev", name)
            run("ip", "-n", space, "link", "set", name, "up")
        run("ip", "-n", leaf, "route", "add", "default", "via", hub_address)

    def place(self, space, address, *options):
        node = Place(space, address, *options)
        self.addCleanup(self.end, node)
        return node

    def places(self, kind, contact):
        """b has two addresses and is known by one of them."""
        b = self.place(self.b, "10.77.1.2", "--overlay", kind)
        a = self.place(self.a, "10.77.1.1", "--overlay", kind, contact, b.address)
        c = self.place(self.c, "10.77.2.1", "--overlay", kind, contact, b.address)
        until(lambda: {a.address, c.address} <= set(b.neighbours()), PATIENT, "a and c at b")
        return a, b, c

    def found(self, asked, key, *at):
        until(lambda: asked.holders(key) == [n.address for n in at], PATIENT, f"{key} at {[n.address for n in at]}")

    def cut_and_mended(self, kind, contact):
        a, b, c = self.places(kind, contact)
        c.ask("PUT", "/keys/far")
        self.found(a, "far", c)
        c.ask("DELETE", "/keys/far")
        self.found(a, "far")
        run("ip", "-n", self.b, "link", "set", "toc", "down")
        until(lambda: c.address not in b.neighbours(), PATIENT, "the loss noticed")
        c.ask("PUT", "/keys/meanwhile")
        self.assertEqual(a.holders("meanwhile"), [])
        run("ip", "-n", self.b, "link", "set", "toc", "up")
        self.found(a, "meanwhile", c)

    def test_mesh(self):
        self.cut_and_mended("mesh", "--join")

    def test_groups(self):
        self.cut_and_mended("groups", "--leader")

    def test_tree(self):
        self.cut_and_mended("tree", "--parent")

    def test_attenuated(self):
        self.cut_and_mended("attenuated", "--peer")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
