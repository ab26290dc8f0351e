"""The HTTP edge: requests that are not HTTP, that smuggle, that never end, and that are too many.

Usage: edge_test.py POSY [unittest arguments]
"""
import os
import re
import resource
import select
import socket
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest  # noqa: E402
from daemons import exchange  # noqa: E402
from waiting import until  # noqa: E402

OK = b"GET /healthz HTTP/1.1\r\nHost: n\r\n\r\n"
# What an attacker hopes is taken for a request of its own: it would be answered 204 or leave a key.
PREY = b"PUT /keys/prey HTTP/1.1\r\nHost: n\r\n\r\n"


def head(*lines, method=b"POST /keys", version=b"HTTP/1.1"):
    return b"\r\n".join([method + b" " + version, *lines]) + b"\r\n\r\n"


def get(*lines, target=b"/healthz", version=b"HTTP/1.1"):
    return head(*lines, method=b"GET " + target, version=version)


H = b"Host: n"
# Whatever stands where HTTP/1.1 should, and is not it, is another version to Beast: 505.
# name: (bytes, status of the only answer; 0: none, the connection just ends)
MALFORMED = {
    # Two opinions on where the body ends.
    "length and chunked": (head(H, b"Content-Length: 4", b"Transfer-Encoding: chunked") + b"0\r\n\r\n" + PREY, 400),
    "chunked and length": (head(H, b"Transfer-Encoding: chunked", b"Content-Length: 4") + b"0\r\n\r\n" + PREY, 400),
    "two lengths": (head(H, b"Content-Length: 0", b"Content-Length: 39") + PREY, 400),
    "a list of lengths": (head(H, b"Content-Length: 0, 39") + PREY, 400),
    "a negative length": (head(H, b"Content-Length: -1") + PREY, 400),
    "a signed length": (head(H, b"Content-Length: +0") + PREY, 400),
    "a hexadecimal length": (head(H, b"Content-Length: 0x0") + PREY, 400),
    "an empty length": (head(H, b"Content-Length: ") + PREY, 400),
    "a length beyond 64 bits": (head(H, b"Content-Length: 18446744073709551616") + PREY, 400),
    "a length of digits and space": (head(H, b"Content-Length: 3 9") + PREY, 400),
    "a length that is too large": (head(H, b"Content-Length: 9999999999999999") + PREY, 413),
    "xchunked": (head(H, b"Transfer-Encoding: xchunked") + b"0\r\n\r\n" + PREY, 501),
    "identity": (head(H, b"Transfer-Encoding: identity") + PREY, 501),
    "gzip, chunked": (head(H, b"Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n" + PREY, 501),
    "chunked, gzip": (head(H, b"Transfer-Encoding: chunked, gzip") + b"0\r\n\r\n" + PREY, 501),
    "chunked twice": (head(H, b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked") + b"0\r\n\r\n" + PREY, 400),
    "chunked, chunked": (head(H, b"Transfer-Encoding: chunked, chunked") + b"0\r\n\r\n" + PREY, 501),
    "identity, then chunked": (head(H, b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked") + b"0\r\n\r\n" + PREY, 501),
    "chunked with a parameter": (head(H, b"Transfer-Encoding: chunked;q=1") + b"0\r\n\r\n" + PREY, 501),
    "chunked with a parameter and spaces": (head(H, b"Transfer-Encoding: chunked ; q=1") + b"0\r\n\r\n" + PREY, 501),
    "chunked in quotes": (head(H, b'Transfer-Encoding: "chunked"') + b"0\r\n\r\n" + PREY, 501),
    "a tab before chunked": (head(H, b"Transfer-Encoding:\tchunked", b"Content-Length: 5") + b"0\r\n\r\n" + PREY, 400),
    "a vertical tab before chunked": (head(H, b"Transfer-Encoding: \x0bchunked") + b"0\r\n\r\n" + PREY, 400),
    "chunked in HTTP/1.0": (head(b"Transfer-Encoding: chunked", version=b"HTTP/1.0") + b"0\r\n\r\n" + PREY, 400),
    # Chunks that are none.
    "a chunk of more than 64 bits": (head(H, b"Transfer-Encoding: chunked") + b"10000000000000000\r\n", 400),
    "a negative chunk": (head(H, b"Transfer-Encoding: chunked") + b"-1\r\n" + PREY, 400),
    "a chunk with 0x": (head(H, b"Transfer-Encoding: chunked") + b"0x0\r\n\r\n" + PREY, 400),
    "a chunk without a size": (head(H, b"Transfer-Encoding: chunked") + b"\r\n\r\n" + PREY, 400),
    "a chunk with a space before": (head(H, b"Transfer-Encoding: chunked") + b" 0\r\n\r\n" + PREY, 400),
    "a chunk that ends too late": (head(H, b"Transfer-Encoding: chunked") + b"2\r\n+abc\r\n0\r\n\r\n" + PREY, 400),
    "a chunk ended by a bare LF": (head(H, b"Transfer-Encoding: chunked") + b"2\n+a\r\n0\r\n\r\n" + PREY, 400),
    "LF in a quoted chunk extension": (head(H, b"Transfer-Encoding: chunked") + b'2;a="\n"\r\n+a\r\n0\r\n\r\n' + PREY, 400),
    "LF in the last chunk's extension": (head(H, b"Transfer-Encoding: chunked") + b'0;a="\n"\r\n\r\n' + PREY, 400),
    "an endless chunk extension": (head(H, b"Transfer-Encoding: chunked") + b"1;" + b"x" * 600_000, 431),
    "a chunk extension of 40,000 bytes": (head(H, b"Transfer-Encoding: chunked") + b"3;" + b"x" * 40_000 + b"\r\n+a\n\r\n0\r\n\r\n", 431),
    "an endless trailer": (head(H, b"Transfer-Encoding: chunked") + b"0\r\n" + b"X: y\r\n" * 100_000, 431),
    "a chunk that is too large": (head(H, b"Transfer-Encoding: chunked") + b"fffffffffffffff\r\n", 413),
    # Lines that end, or do not, or start otherwise.
    "bare LF": (b"GET /healthz HTTP/1.1\nHost: n\n\n", 505),
    "bare LF in a field": (get(H, b"A: b\nTransfer-Encoding: chunked"), 400),
    "bare CR in a field": (get(H, b"A: b\rTransfer-Encoding: chunked"), 400),
    "bare CR in the request line": (b"GET /healthz\rX HTTP/1.1\r\nHost: n\r\n\r\n", 400),
    "a space before the colon": (get(H, b"Content-Length : 39"), 400),
    "a field without a name": (get(H, b": x"), 400),
    "a field without a colon": (get(H, b"Chunked"), 400),
    "a fold before the first field": (get(b" Host: n"), 400),
    "a name that is no token": (get(H, b"A(b): c"), 400),
    "NUL in a value": (get(H, b"A: b\0c"), 400),
    "NUL in a name": (get(H, b"A\0: b"), 400),
    "NUL in the target": (get(H, target=b"/\0"), 400),
    "DEL in a value": (get(H, b"A: \x7f"), 400),
    "a space in the target": (get(H, target=b"/a b"), 505),
    "an empty target": (b"GET  HTTP/1.1\r\nHost: n\r\n\r\n", 400),
    "no version": (b"GET /healthz\r\n\r\n", 400),
    "another version": (get(H, version=b"HTTP/1.2"), 505),
    "version 2.0": (get(H, version=b"HTTP/2.0"), 505),
    "version 0.9": (get(H, version=b"HTTP/0.9"), 505),
    "another protocol": (get(H, version=b"ICY/1.1"), 505),
    "two digits of version": (get(H, version=b"HTTP/1.10"), 505),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    "a hello of TLS": (bytes.fromhex("16030100c4010000c00303") + bytes(190), 400),
    "noise": (bytes(range(128, 256)) * 4 + b"\r\n\r\n", 400),
    # Hosts.
    "no Host": (get(), 400),
    "two Hosts": (get(H, H), 400),
    "two different Hosts": (get(H, b"host: m"), 400),
    "another server": (get(H, target=b"http://n:1/healthz"), 400),
    "an authority with a user": (get(H, target=b"http://n@m/healthz"), 400),
    "an authority with a backslash": (get(H, target=b"http://n\\@m/healthz"), 400),
    "an authority of a tunnel": (head(H, method=b"CONNECT n:443"), 400),
    "an asterisk": (head(H, method=b"OPTIONS *"), 400),
    "a scheme that is none": (get(H, target=b"gopher://n/healthz"), 400),
    # Too much.
    "a head that is too long": (get(H, b"A: " + b"x" * 40_000), 431),
    "a target that is too long": (get(H, target=b"/" + b"x" * 40_000), 431),
    "too many fields": (get(H, *(b"A%d: b" % i for i in range(120))), 431),
    "a head without end": (b"GET /healthz HTTP/1.1\r\n" + b"A: b\r\n" * 20_000, 431),
    "an end inside the head": (b"GET /healthz HTTP/1.1\r\nHo", 400),
    "an end inside the body": (head(H, b"Content-Length: 10") + b"+a\n", 400),
    "an end inside a chunk": (head(H, b"Transfer-Encoding: chunked") + b"5\r\n+a\n", 400),
}


def statuses(got):
    """The status of every response in the bytes; the bodies are short text and hold no status line."""
    return [int(s) for s in re.findall(rb"^HTTP/1\.1 (\d{3}) ", got, re.M)]


class Edge(NodeTest):
    def node(self, *options, **how):
        return super().node("--host-name", "n", *options, **how)

    def test_malformed_requests_get_one_answer(self):
        node = self.node()
        for name, (request, status) in MALFORMED.items():
            with self.subTest(name):
                before = node.metric('posy_refused_total{why="malformed"}')
                got, ended = exchange(node.port, request, half_close=name.startswith("an end"))
                self.assertTrue(ended, "the connection stays open")
                self.assertEqual(statuses(got), [status] if status else [])
                self.assertIn(b"Connection: close\r\n", got)
                self.assertEqual(node.metric('posy_refused_total{why="malformed"}'), before + 1)
        self.assertEqual(node.get("/keys/prey").status, 404, "nothing was smuggled in")
        self.assertEqual(node.get("/healthz").body, b"ok\n")

    def test_what_is_unusual_and_allowed(self):
        node = self.node()
        for name, request, expected in (
                ("HTTP/1.0 without Host", get(version=b"HTTP/1.0"), [200]),
                ("lines before the first", b"\r\n\r\n" + get(H, b"Connection: close"), [200]),
                ("lengths that agree", head(H, b"Content-Length: 3", b"Content-Length: 3", b"Connection: close") + b"+a\n", [200]),
                ("any case", head(b"hOST: n", b"tRANSFER-eNCODING: Chunked", b"CONNECTION: CLOSE") + b"3\r\n+b\n\r\n0\r\n\r\n", [200]),
                ("extensions and trailers", head(H, b"Transfer-Encoding: chunked", b"Connection: close") +
                 b'3;a=b;c="d"\r\n+c\n\r\n0\r\nX: y\r\n\r\n', [200]),
                ("a folded value", get(H, b"A: b\r\n c", b"Connection: close"), [200]),
                ("100-continue", head(H, b"Expect: 100-continue", b"Content-Length: 3", b"Connection: close") + b"+d\n", [100, 200]),
                ("a body that nobody wanted", head(H, b"Content-Length: 5", method=b"PUT /keys/e") + b"bytes" + get(H, b"Connection: close"),
                 [201, 200])):
            with self.subTest(name):
                got, ended = exchange(node.port, request)
                self.assertTrue(ended)
                self.assertEqual(statuses(got), expected)
        self.assertEqual([node.get("/keys/" + k).status for k in "abcde"], 5 * [204])
        self.assertEqual(node.metric('posy_refused_total{why="malformed"}'), 0)

    def test_a_bad_body_behind_an_answer_ends_the_connection(self):
        """The request is answered before its body is looked at; the answer is the only one."""
        node = self.node()
        for body in (b"zz\r\n", b"2\r\n+abc\r\n", b"1;" + b"x" * 600_000):
            got, ended = exchange(node.port, head(H, b"Transfer-Encoding: chunked", method=b"PUT /keys/k") + body + PREY)
            self.assertTrue(ended)
            self.assertEqual(len(statuses(got)), 1, got)
            self.assertIn(statuses(got)[0], (201, 204))
        self.assertEqual(node.get("/keys/prey").status, 404)
        self.assertEqual(node.metric('posy_refused_total{why="malformed"}'), 3)

    def test_pipelined_requests_are_answered_in_order(self):
        node = self.node()
        requests = b"".join(head(H, method=b"PUT /keys/p%d" % i) + get(H, target=b"/have?key=p%d" % i) for i in range(200))
        got, ended = exchange(node.port, requests + get(H, b"Connection: close"))
        self.assertTrue(ended)
        self.assertEqual(statuses(got), 200 * [201, 204] + [200])
        # One that is malformed is answered, and what is behind it is not looked at.
        got, ended = exchange(node.port, OK + OK + get() + PREY)
        self.assertTrue(ended)
        self.assertEqual(statuses(got), [200, 200, 400])
        self.assertEqual(node.get("/keys/prey").status, 404)
        # A byte at a time is as good as all at once.
        with socket.create_connection(("127.0.0.1", node.port), timeout=10) as s:
            for i in range(len(OK)):
                s.sendall(OK[i:i + 1])
            self.assertEqual(statuses(s.recv(1000)), [200])

    def test_slow_clients_are_dropped(self):
        node = self.node("--head-time", "1", "--idle-time", "1.5")
        slow = lambda count: until(lambda: node.metric('posy_refused_total{why="too_slow"}') == count)

        def ends(first, drip, within):
            """Sends something, then a drip every 0.2 s, until the other side has had enough."""
            start = time.monotonic()
            with socket.create_connection(("127.0.0.1", node.port), timeout=10) as s:
                s.sendall(first)
                while time.monotonic() - start < 30:
                    try:
                        if select.select([s], [], [], 0.2)[0] and not s.recv(65536):
                            break
                        s.sendall(drip)
                    except OSError:
                        break
            took = time.monotonic() - start
            self.assertLess(took, within)
            return took
        # The watch looks twice a second; the rest is for a busy machine.
        self.assertGreater(ends(b"", b"", 6), 0.9)  # says nothing
        slow(0)
        ends(b"GET /healthz HTTP/1.1\r\n", b"", 6)
        ends(b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n", 6)
        slow(2)
        self.assertGreater(ends(OK, b"", 8), 1.4)  # idle after a request
        slow(2)
        ends(OK + b"GET /he", b"a", 6)  # in the second
        slow(3)
        self.assertEqual(node.get("/healthz").status, 200)

    def test_two_thousand_connections(self):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most[1] < 5000:
            self.skipTest("not enough descriptors here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
        node = self.node("--max-per-address", "4000", "--head-time", "60")
        clients = []
        try:
            for _ in range(2000):
                clients.append(socket.create_connection(("127.0.0.1", node.port), timeout=30))
            for _ in range(2):
                for each in clients:
                    each.sendall(OK)
                for each in clients:
                    self.assertEqual(statuses(each.recv(1000)), [200])
            self.assertGreaterEqual(node.metric("posy_connections"), 2000)
            self.assertGreaterEqual(node.metric("posy_requests_total"), 4000)
        finally:
            for each in clients:
                each.close()
        until(lambda: node.metric("posy_connections") == 1, what="all of them gone")

    def test_too_many_connections_are_told(self):
        node = self.node("--max-connections", "20")
        tag = node.get("/summary").headers["ETag"].encode()
        busy = get(H, b"If-None-Match: " + tag, b"Prefer: wait=300", target=b"/summary")
        held = []

        def one_more_is_told():  # until then it stays, and busy: an idle one would make room
            held.append(socket.create_connection(("127.0.0.1", node.port), timeout=10))
            held[-1].sendall(busy)
            return bool(select.select(held[-1:], [], [], 0.2)[0])

        until(one_more_is_told, what="all of them held")
        self.assertGreater(len(held), 20)
        got, ended = exchange(node.port, b"")
        self.assertTrue(ended)
        self.assertEqual(statuses(got), [503])
        self.assertIn(b"Retry-After: ", got)
        for each in held:
            each.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
