"""Tests that start servers: for unittest, classes that end what they started; for proxies, functions that say what they used."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from daemons import Node, Proxy
from origins import Origin

POSY = os.path.abspath(sys.argv[1])


def posy(*args, status=0, **how):
    """Runs the tool: standard output, or standard error if it is to fail."""
    done = subprocess.run([POSY, *args], capture_output=True, timeout=60, **{"text": True, **how})
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done.stderr if status == 2 else done.stdout


class NodeTest(unittest.TestCase):
    """A test that starts nodes; they are gone after it."""

    def node(self, *options, **how):
        node = Node(POSY, *options, **how)
        self.addCleanup(self.end, node)
        return node

    def end(self, node):
        """A node that is still there, or was told to go: one that fell over on its own is a failure."""
        status = node.process.poll()
        node.kill()
        self.assertIn(status, (None, 0, -signal.SIGKILL), "".join(node.log[-40:]))

    def closing(self, server):
        self.addCleanup(server.close)
        return server


class ScratchTest(NodeTest):
    """With a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        """Replaced as a whole, as whoever publishes a file should."""
        with open(self.path(name + "~"), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        os.rename(self.path(name + "~"), self.path(name))
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def info(self, name, content=None):
        """What posy says of a message: a file of this folder, perhaps with a new content, or a URL."""
        if content is not None:
            self.write(name, content)
        return json.loads(posy("info", "--json", name if "://" in name else self.path(name)))


TESTS = []


def test(function):
    """A test of a proxy returns what it used, to be closed: an origin and a proxy, or nothing in their places."""
    TESTS.append(function)
    return function


def run():
    """All tests, or those that the command line names."""
    chosen = [name for name in sys.argv[2:] if not name.startswith("--")]
    for function in TESTS:
        if chosen and function.__name__ not in chosen:
            continue
        began = time.monotonic()
        for used in reversed(function() or ()):
            if used:
                used.close()
        print(f"{function.__name__}: {time.monotonic() - began:.1f} s", flush=True)


def status_of(fields):
    """Our member of Cache-Status: the last one."""
    return fields.get_all("Cache-Status")[-1].split(", ")[-1]


def origin_and_proxy(answers, *options):
    """An origin that answers from a table of paths, or by a function of the request, and a proxy before it."""
    def answer(request):
        found = answers(request) if callable(answers) else answers[request.path]
        return found(request) if callable(found) else found
    origin = Origin(answer)
    return origin, Proxy(POSY, *options)
