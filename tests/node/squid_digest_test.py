"""Squid's digest: ours byte by byte, and a recorded one of Squid's.

Usage: squid_digest_test.py POSY [unittest arguments]
"""
import hashlib
import json
import os
import socket
import struct
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import ScratchTest  # noqa: E402
from origins import FakePeer, response  # noqa: E402
from waiting import until  # noqa: E402


class Squid(ScratchTest):
    PATH = "/squid-internal-periodic/store_digest"

    def check(self, body, urls, capacity):
        """The bytes against the format, worked out here once more."""
        current, required, stated, count, deleted, size, per_entry, hashes = struct.unpack(">HHIIIIBB", body[:22])
        self.assertEqual((current, required, deleted, hashes), (5, 3, 0, 4))
        self.assertEqual((stated, count), (capacity, len(urls)))
        self.assertEqual(body[22:128], bytes(106))
        mask = body[128:]
        self.assertEqual((size, len(mask)), (len(mask), (capacity * per_entry + 7) // 8))
        expected = bytearray(size)
        for url in urls:
            for word in struct.unpack(">4I", hashlib.md5(b"\1" + url.encode()).digest()):
                bit = word % (8 * size)
                expected[bit // 8] |= 1 << bit % 8
        self.assertEqual(mask, bytes(expected))

    def test_digest_in_three_parts(self):
        node = self.node()
        urls = [f"http://example.org/{i}" for i in range(200)]
        node.add(urls)
        answer = node.get(self.PATH)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "application/cache-digest")
        self.check(answer.body, urls, 200)
        # As Squid asks, with an absolute URL; the head, the header and the mask come one by one.
        for _ in range(10):  # a reader that is late finds several at once
            parts = self.parts(node, len(answer.body))
            if len(parts) == 3:
                break
        self.assertEqual([len(p) for p in parts[1:]], [128, 200])
        self.assertTrue(parts[0].endswith(b"\r\n\r\n"))
        self.assertEqual(parts[1] + parts[2], answer.body)
        self.assertEqual(node.ask("GET", f"http://127.0.0.1:1{self.PATH}").status, 400)

    def parts(self, node, size):
        """What comes at a time, up to a body of this size."""
        parts, whole = [], b""
        with socket.create_connection(("127.0.0.1", node.port), timeout=10) as s:
            s.sendall(f"GET http://127.0.0.1:{node.port}{self.PATH} HTTP/1.1\r\nHost: 127.0.0.1:{node.port}\r\n\r\n".encode())
            while len(whole.partition(b"\r\n\r\n")[2]) < size:
                parts.append(s.recv(1 << 20))
                whole += parts[-1]
        return parts

    def test_squid_as_a_peer(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/squid/digest.bin"), "rb") as f:
            digest = f.read()
        peer = FakePeer(lambda head: response(digest) if self.PATH in head[0] else response(b"", "404 Not Found"))
        self.addCleanup(peer.close)
        node = self.node("--peer", f"squid:s={peer.url}")
        until(lambda: node.metric('posy_peer_up{peer="s"}') == 1)
        holders = lambda key: json.loads(node.ask("GET", "/who?key=" + key).body)["peers"]
        for i in range(1, 31):
            self.assertEqual([p["name"] for p in holders(f"http://127.0.0.1:33180/o{i}.txt")], ["s"])
        false = sum(bool(holders(f"http://127.0.0.1:33180/no{i}.txt")) for i in range(200))
        self.assertLess(false, 100)  # Squid's own digest: 30 of 66 slots' bits, about a quarter of all say yes


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
