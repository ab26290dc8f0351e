"""Hostile answers to a node or a proxy, one kind at a time: their length and time, their generations, their summaries, their names.

Usage: peer_answers_test.py POSY [unittest arguments]
"""
import functools
import json
import os
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest, posy  # noqa: E402
from daemons import resident  # noqa: E402
from origins import FakePeer, drip, response  # noqa: E402
from peers_kinds import MIB, Streams, interim, large, summary  # noqa: E402
from peers_messages import ADAPTIVE, GAPS, message, tag, varint  # noqa: E402
from waiting import until  # noqa: E402

tool = functools.partial(posy, text=False)


class Answers(NodeTest):
    """What is read of an answer has an end: in bytes, in time, in interim answers."""

    def hints(self, serve):
        """A node that sends hints to a peer whose summary is fine."""
        whole = message(1024, b"\0" * 128, 5)

        def answer(client):
            head = peer.asked[-1][1]
            if head[0].startswith("POST"):
                serve(client)
            client.sendall(response(b"", "304 Not Modified") if any(h.startswith("If-None") for h in head) else summary(whole, 5))
        peer = self.closing(Streams(answer))
        node = self.node("--hint", "--items", "100", "--change", "0.01", "--peer", f"p={peer.url}", "--poll", "0.5")
        until(lambda: node.metric('posy_peer_up{peer="p"}') == 1)
        return node, peer

    def endless(self, status, ended):
        """An answer that goes on until the other side has had enough."""
        def serve(client):
            client.sendall(f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            try:
                while True:
                    client.sendall(b"100000\r\n" + b"x" * MIB + b"\r\n")
            finally:
                ended.set()
        return serve

    def test_endless_answer_to_a_hint(self):
        ended = threading.Event()
        node, _ = self.hints(self.endless("200 OK", ended))
        before = resident(node.process)
        node.ask("PUT", "/keys/1")
        until(ended.is_set, 60, "the end of an endless answer")
        self.assertLess(resident(node.process) - before, 60 * MIB)

    def test_a_slow_peer_gets_one_hint_at_a_time(self):
        over = threading.Event()
        self.addCleanup(over.set)
        node, peer = self.hints(lambda client: over.wait())
        for i in range(50):
            node.ask("PUT", f"/keys/{i}")
        hints = lambda: [at for at, h in peer.asked if h[0].startswith("POST")]
        until(lambda: len(hints()) >= 2, 60, "the next hint")
        # It comes when the first has failed, after five seconds, and stands for all the others.
        self.assertGreater(hints()[1] - hints()[0], 4)
        self.assertEqual(len(hints()), 2)

    def test_endless_answer_to_a_question(self):
        ended = threading.Event()
        peer = self.closing(Streams(self.endless("404 Not Found", ended)))
        origin = self.closing(FakePeer(lambda head: response(b"from the origin")))
        proxy = self.node("--sharing", "ask", "--peer", f"p={peer.url}", "--allow-destination", "loopback", command="proxy")
        before = resident(proxy.process)
        self.assertEqual(proxy.ask("GET", origin.url + "/x").body, b"from the origin")
        until(ended.is_set, 60, "the end of an endless answer")
        self.assertLess(resident(proxy.process) - before, 60 * MIB)

    def test_dripping_answer_to_a_question(self):
        def serve(client):
            client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 60000\r\n\r\n")
            drip(client, b"x", 0.3)
        peer = self.closing(Streams(serve))
        origin = self.closing(FakePeer(lambda head: response(b"from the origin")))
        proxy = self.node("--sharing", "ask", "--peer", f"p={peer.url}", "--allow-destination", "loopback", command="proxy")
        start = time.monotonic()
        self.assertEqual(proxy.ask("GET", origin.url + "/x").body, b"from the origin")
        self.assertLess(time.monotonic() - start, 15)  # 2 seconds, and a busy machine

    def test_a_whole_that_drips_and_interim_answers(self):
        whole = message(1024, b"\xff" * 128, 5)

        def serve(client):
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            drip(client, b"P", 0.2)
        start = time.monotonic()
        said = tool("query", "--timeout", "1", "--max-time", "2", self.closing(Streams(serve)).url + "/f", input=b"x\n", status=2)
        self.assertIn(b"not all of the answer came within 2 seconds; --max-time waits longer", said)
        self.assertLess(time.monotonic() - start, 15)
        early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        server = self.closing(FakePeer(lambda head: early + response(whole)))
        self.assertEqual(tool("query", server.url + "/f", input=b"x\n"), b"x\n")
        endless = self.closing(interim())
        self.assertIn(b"interim answers without end", tool("query", endless.url + "/f", input=b"x\n", status=2))
        switching = self.closing(FakePeer(lambda head: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"))
        self.assertIn(b"another protocol", tool("query", switching.url + "/f", input=b"x\n", status=2))


class Generations(NodeTest):
    def test_the_same_whole_again_is_not_decoded(self):
        """Its payload cannot be decoded the second time, and that does not show."""
        good, other = message(1 << 20, b"\0" * (1 << 17), 5), message(1 << 20, b"\xff" * 16, 5, ADAPTIVE)
        said = iter([summary(good, 5)])
        peer = self.closing(FakePeer(lambda head: next(said, None) or summary(other, 5)))
        node = self.node("--peer", f"p={peer.url}")
        until(lambda: (node.metric('posy_peer_answers_total{peer="p",kind="unchanged"}') or 0) >= 2)
        self.assertEqual(node.metric('posy_peer_answers_total{peer="p",kind="dropped"}'), 0)
        self.assertEqual(node.metric('posy_peer_answers_total{peer="p",kind="whole"}'), 1)

    def test_a_node_that_was_set_up_anew_with_the_same_number(self):
        """The tag of a generation has the checksum of its bits: the number alone does not make it known."""
        nothing, all_ = b"\0" * 128, b"\x55" * 128
        said = []

        def answer(head):
            asks = [h.split(": ")[1].strip() for h in head if h.startswith("If-None-Match")]
            said.extend(asks)
            payload = all_ if len(said) >= 2 else nothing
            if asks and asks[0] == tag(7, payload):
                return response(b"", "304 Not Modified", ETag=tag(7, payload))
            return summary(message(1024, payload, 7), 7, tagged=tag(7, payload))
        node = self.node("--peer", f"p={self.closing(FakePeer(answer)).url}")
        until(lambda: (node.metric('posy_peer_summary_false_positive_rate{peer="p"}') or 0) == 0.5, what="the other set")
        self.assertEqual(said[0], tag(7, nothing))
        until(lambda: tag(7, all_) in said)

    def test_a_node_tells_its_own_from_anothers(self):
        node = self.node("--items", "1000", "--change", "0.01")
        node.add(map(str, range(500)))
        first = node.get("/summary").headers["ETag"]
        node.add(f"more{i}" for i in range(20))
        whole = node.get("/summary")
        self.assertRegex(whole.headers["ETag"], r'\A"[0-9a-f]+-[0-9a-f]{8}"\Z')
        generation, _, mark = whole.headers["ETag"].strip('"').partition("-")
        foreign = f"{int(mark, 16) ^ 1:08x}"
        for held, status in ((f'"{generation}-{mark}"', 304), (f'"{generation}"', 304), (f'"{generation}-{foreign}"', 200),
                             (f'"{generation}-"', 200), (f'"{generation}-{mark}0"', 200), (f'"-{mark}"', 200), (first, 226),
                             (first[:-2] + ("0" if first[-2] != "0" else "1") + '"', 200)):
            self.assertEqual(node.get("/summary", If_None_Match=held, A_IM="posy-delta").status, status, held)

    def test_hints_do_not_hurry_an_expensive_peer(self):
        peer = self.closing(large())
        node = self.node("--peer", f"p={peer.url}", "--peer", "nobody=http://127.0.0.1:1")
        until(lambda: len(peer.asked) > 1)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            node.ask("POST", "/hint?from=p")
        held_back = node.metric('posy_peer_held_back_seconds_total{peer="p"}')
        self.assertLess(len(peer.asked), 60)
        self.assertGreater(held_back, 0)


class Rested(NodeTest):
    def sibling(self, payload, hashes=1):
        """A proxy that has nothing, whatever its summary says."""
        whole = message(8 * len(payload), payload, 5, hashes=hashes)
        wanted = []

        def answer(head):
            if "/summary" not in head[0]:
                wanted.append(head[0])
                return response(b"no", "504 Gateway Timeout", Cache_Status="x; detail=filter")
            held = any(h.startswith("If-None-Match") for h in head)
            return response(b"", "304 Not Modified") if held else summary(whole, 5)
        peer = self.closing(FakePeer(answer))
        return peer, wanted

    def proxy_beside(self, peer):
        proxy = self.node("--peer", f"liar={peer.url}", "--poll", "1", "--allow-destination", "loopback", command="proxy")
        until(lambda: proxy.metric('posy_peer_summary_bytes{peer="liar"}'))
        until(lambda: proxy.metric('posy_peer_up{peer="liar"}') == 1)
        return proxy

    def test_all_ones_are_never_asked(self):
        peer, wanted = self.sibling(b"\xff" * 1024)
        proxy = self.proxy_beside(peer)
        origin = self.closing(FakePeer(lambda head: response(b"from the origin")))
        for i in range(20):
            self.assertEqual(proxy.ask("GET", f"{origin.url}/{i}").body, b"from the origin")
        self.assertEqual(wanted, [])
        self.assertEqual(proxy.metric('posy_peer_resting{peer="liar"}'), 1)
        self.assertEqual(json.loads(proxy.get("/who?key=x").body), {"key": "x", "local": False, "peers": [], "resting": ["liar"]})

    def test_false_hits_beyond_what_the_summary_explains(self):
        """A filter that has the very URLs that will be asked for, sparse as an honest one, and none of them is there."""
        origin = self.closing(FakePeer(lambda head: response(b"from the origin")))
        urls = [f"{origin.url}/{i}" for i in range(120)]
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = os.path.join(folder, "f.posy")
            tool("build", "--items", "10000", "-o", path, input="".join(u + "\n" for u in urls).encode())
            with open(path, "rb") as f:
                whole = f.read()
        wanted = []

        def answer(head):
            if "/summary" not in head[0]:
                wanted.append(head[0])
                return response(b"no", "504 Gateway Timeout", Cache_Status="x; detail=filter")
            return summary(whole, 0)
        proxy = self.proxy_beside(self.closing(FakePeer(answer)))
        for url in urls:
            self.assertEqual(proxy.ask("GET", url).body, b"from the origin")
        # The bound of ten to the minus twelve is some twenty different keys.
        self.assertGreaterEqual(len(wanted), 15)
        self.assertLess(len(wanted), 40)
        figures = proxy.metrics()
        self.assertEqual(figures['posy_peer_resting{peer="liar"}'], 1)
        self.assertEqual(figures['posy_peer_rests_total{peer="liar"}'], 1)
        self.assertEqual(figures['posy_peer_false_hits_total{peer="liar"}'], len(wanted))
        self.assertEqual(json.loads(proxy.get(f"/who?key={urls[0]}").body)["resting"], ["liar"])

    def test_an_absurd_summary_is_forgiven_with_the_next(self):
        noticed = threading.Event()
        peer = self.closing(FakePeer(lambda head: summary(message(1024, b"\x55" * 128, 6), 6) if noticed.is_set() else
                                     summary(message(1024, b"\xff" * 128, 5), 5)))
        node = self.node("--peer", f"p={peer.url}", "--poll", "0.5")
        until(lambda: node.metric('posy_peer_resting{peer="p"}') == 1)
        noticed.set()
        until(lambda: node.metric('posy_peer_resting{peer="p"}') == 0)
        self.assertEqual(json.loads(node.get("/who?key=x").body)["resting"], [])


class Honest(NodeTest):
    def test_a_large_node_that_is_nearly_empty(self):
        """Its memory is in the budget, so its summary need not be long to be believed."""
        bits = 1 << 30
        whole = message(bits, varint(0), 5, GAPS)
        peer = self.closing(FakePeer(lambda head: summary(whole, 5)))
        node = self.node("--peer", f"p={peer.url}", "--poll", "1")
        until(lambda: node.metric('posy_peer_summary_bytes{peer="p"}') == bits // 8)


class Names(NodeTest):
    def test_a_name_that_is_not_utf8_is_refused(self):
        for peer in (b"\xff=http://127.0.0.1:1", b"http://a\xc3(:80", b"a\nb=http://127.0.0.1:1", b"\xed\xa0\x80=http://127.0.0.1:1",
                     b"\xc0\xaf=http://127.0.0.1:1", b"\xf5\x80\x80\x80=http://127.0.0.1:1", b"\xe4\xb8=http://127.0.0.1:1"):
            said = tool("node", "--listen", "127.0.0.1:0", "--peer", peer, status=2)
            self.assertIn(b"UTF-8 text without control characters", said)
            said.decode()
        self.assertIn(b"--name", tool("node", "--listen", "127.0.0.1:0", "--name", b"\xff", status=2))
        self.assertIn(b"is not a peer; write NAME=", tool("node", "--listen", "127.0.0.1:0", "--peer", "ftp://x", status=2))

    def test_other_names_are_shown_as_they_are(self):
        name = "pé€𝄞 \"quoted\" \\"
        node = self.node("--peer", f"{name}=http://127.0.0.1:1", "--name", f"{name}2")
        until(lambda: json.loads(node.get("/history").body)["series"], what="a sample")
        series = json.loads(node.get("/history").body)["series"]
        self.assertTrue(any("pé€𝄞" in figure for figure in series))
        self.assertIn("pé€𝄞", node.get("/metrics").body.decode())

    def test_the_memory_of_peers_has_a_least(self):
        self.assertIn(b"at least 1MiB", tool("node", "--listen", "127.0.0.1:0", "--peer-memory", "1000", status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
