"""A node that has much to do answers others meanwhile: its disk hangs, or a pass over all its keys takes long.

Usage: busy_node_test.py POSY [unittest arguments]
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, ScratchTest  # noqa: E402
from daemons import samples  # noqa: E402
from waiting import until  # noqa: E402

# A disk that writes nothing through while a file HOLD is there, and notes every flush in a file FLUSHES.
SLOW_DISK = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
static int flush(void) {
    const char* log = getenv("FLUSHES");
    int file = open(log, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (write(file, ".", 1) != 1) abort();
    close(file);
    while (access(getenv("HOLD"), F_OK) == 0) usleep(1000);
    return 0;
}
int fdatasync(int file) { (void)file; return flush(); }
int fsync(int file) { (void)file; return flush(); }
"""


class Busy(ScratchTest):
    def later(self, node, *request):
        """The status of the answer to a request that is under way, in a list that is empty until then; None if none came."""
        def ask():
            try:
                got.append(node.ask(*request, timeout=300).status)
            except (OSError, http.client.HTTPException):  # it ended before that was done
                got.append(None)
        got = []
        threading.Thread(target=ask, daemon=True).start()
        return got


class SlowDisk(Busy):
    def setUp(self):
        super().setUp()
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            self.skipTest("needs a C compiler")
        library = self.path("disk.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=SLOW_DISK.encode(), check=True)
        environment = {"LD_PRELOAD": library, "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0",
                       "HOLD": self.path("hold"), "FLUSHES": self.path("flushes")}
        for name, value in environment.items():
            before = os.environ.get(name)
            os.environ[name] = value
            self.addCleanup(os.environ.__setitem__ if before else os.environ.pop, name, *([before] if before else []))
        self.addCleanup(self.release)

    def hold(self):
        with open(self.path("hold"), "wb"):
            pass

    def release(self):
        if os.path.exists(self.path("hold")):
            os.remove(self.path("hold"))

    def flushes(self):
        return os.path.getsize(self.path("flushes"))

    def keep(self, *options):
        return self.node("--data", self.path("keys"), "--sync", *options, threads=1)

    def test_lines_are_flushed_together(self):
        node = self.keep()
        before = self.flushes()
        self.assertEqual(json.loads(node.add(range(10_000)).body), {"added": 10_000, "removed": 0, "unchanged": 0})
        self.assertLess(self.flushes() - before, 2000)  # one by one: 30,000
        node.kill()
        node.start()
        self.assertEqual(json.loads(node.add(range(10_000)).body), {"added": 0, "removed": 0, "unchanged": 10_000})

    def test_nobody_else_waits_for_the_disk(self):
        node = self.keep()
        node.add(["before"])
        for request in (("POST", "/keys", b"+a\n+b\n"), ("PUT", "/keys/c"), ("DELETE", "/keys/c")):
            before = self.flushes()
            self.hold()
            got = self.later(node, *request)
            until(lambda: self.flushes() > before, what="a change at the disk")
            for path, status in (("/healthz", 200), ("/keys/before", 204), ("/who?key=before", 200), ("/metrics", 200),
                                 ("/summary", 200)):
                self.assertEqual(node.get(path).status, status, path)
            self.assertEqual(got, [])
            self.release()
            until(lambda: got, what="its answer")
            self.assertIn(got[0], (200, 201, 204))

    def test_what_was_not_flushed_is_not_acknowledged(self):
        node = self.keep()
        node.add(["before"])
        before = self.flushes()
        self.hold()
        got = self.later(node, "POST", "/keys", b"+a\n-before\n+a\n-a\n+a\n")
        until(lambda: self.flushes() > before, what="a change at the disk")
        node.kill()
        until(lambda: got, what="the end of the request")
        self.assertEqual(got, [None])
        self.release()
        node.start()  # does not complain: all of it, or nothing
        there = [node.get("/keys/" + key).status for key in ("before", "a")]
        self.assertIn(there, ([204, 404], [404, 204]))

    def test_a_signal_is_acted_on(self):
        node = self.keep()
        before = self.flushes()
        self.hold()
        self.later(node, "POST", "/keys", b"".join(b"+%d\n" % i for i in range(5000)))
        until(lambda: self.flushes() > before, what="a change at the disk")
        node.process.send_signal(signal.SIGTERM)

        def closed():
            try:
                socket.create_connection(("127.0.0.1", node.port), timeout=5).close()
            except ConnectionRefusedError:
                return True
            return False
        until(closed, what="a node that listens no more")
        self.release()
        self.assertEqual(node.process.wait(60), 0)


class AllKeys(Busy):
    def test_others_are_answered_while_a_digest_for_squid_is_made(self):
        node = self.node("--data", self.path("keys"), threads=1)
        for part in range(4):
            node.add(f"http://example.org/a/path/that/is/not/short/{part}/{i}" for i in range(50_000))
        with socket.create_connection(("127.0.0.1", node.port), timeout=60) as other, \
                socket.create_connection(("127.0.0.1", node.port), timeout=60) as squid:
            def alive():
                other.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertTrue(other.recv(1000).startswith(b"HTTP/1.1 200"))
            alive()
            squid.sendall(b"GET /squid-internal-periodic/store_digest HTTP/1.1\r\nHost: localhost\r\n\r\n")
            squid.setblocking(False)
            answered = 0
            while True:
                try:
                    head = squid.recv(1 << 16)
                    break
                except BlockingIOError:
                    alive()
                    answered += 1
            self.assertTrue(head.startswith(b"HTTP/1.1 200"))
            self.assertGreater(answered, 10)  # on the same thread it would be one or two

    def test_a_set_that_outgrows_its_filter_stays_right(self):
        node = self.node("--data", self.path("keys"), "--items", "1k", "--interval", "1", threads=1)
        keys = [f"key {i}" for i in range(30_000)]
        for i in range(0, len(keys), 3000):
            node.add(keys[i:i + 3000])
            node.ask("POST", "/keys", "".join(f"-{key}\n" for key in keys[i:i + 1000]).encode())
        until(lambda: node.metric("posy_set_rebuilt_total") > 0, what="a larger filter")
        kept = [key for i in range(0, len(keys), 3000) for key in keys[i + 1000:i + 3000]]
        until(lambda: samples(node.get("/metrics").body.decode())["posy_set_items"] == len(kept), what="all keys")

        def published():
            with open(self.path("s.posy"), "wb") as file:
                file.write(node.get("/summary").body)
            asked = subprocess.run([POSY, "query", "-c", self.path("s.posy")], input="\n".join(kept).encode(),
                                   capture_output=True, check=False)
            return asked.stdout == b"%d\n" % len(kept)
        until(published, what="a summary with every key")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
