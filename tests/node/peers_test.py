"""Nodes that follow each other, and what they do with peers that fail, wait or lie.

Usage: peers_test.py POSY [unittest arguments]
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, ScratchTest  # noqa: E402
from origins import FakePeer, response  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

DELTA = {"A_IM": "posy-delta"}


class Peers(ScratchTest):
    def answers(self, node, kind, peer="p"):
        return node.metric(f'posy_peer_answers_total{{peer="{peer}",kind="{kind}"}}')

    def test_follow_each_other(self):
        b = self.node("--items", "2000", "--change", "0.01")
        b.add(f"key{i}" for i in range(1000))
        a = self.node("--peer", f"b={b.url}")
        until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 1000)
        for round_ in range(3):
            b.add(f"{round_} {i}" for i in range(40))
            until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 1000 + 40 * (round_ + 1), 5, "the news")
        self.assertEqual(self.answers(a, "whole", "b"), 1)
        self.assertGreaterEqual(self.answers(a, "delta", "b"), 3)
        self.assertEqual(self.answers(a, "dropped", "b"), 0)
        # Bytes: what b sent is what its summaries were.
        sent = b.metrics()
        self.assertGreater(sent['posy_summary_sent_bytes_total{kind="delta"}'], 0)
        self.assertGreater(sent['posy_summary_sent_bytes_total{kind="whole"}'], 0)
        self.assertGreater(a.metric('posy_summary_sent_bytes_total{kind="framing"}'), 50)  # one request

    def test_goes_away_and_comes_back(self):
        at = f"127.0.0.1:{free_port()}"
        b = self.node("--items", "1000", "--interval", "0.2", listen=at)
        b.add(["here"])
        a = self.node("--peer", f"b={b.url}")
        until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 1)
        b.kill()
        until(lambda: a.metric('posy_peer_up{peer="b"}') == 0, what="b found missing")
        # What it said last is still known, with its age.
        found = json.loads(a.get("/who?key=here").body)["peers"]
        self.assertEqual([(p["name"], p["up"]) for p in found], [("b", False)])
        until(lambda: self.answers(a, "failed", "b") >= 3, what="three attempts")
        again = self.node("--items", "1000", "--interval", "0.2", listen=at)
        again.add(["other"])
        until(lambda: a.metric('posy_peer_up{peer="b"}') == 1, 40, "b found again")
        until(lambda: [p["name"] for p in json.loads(a.get("/who?key=other").body)["peers"]] == ["b"])
        self.assertEqual(json.loads(a.get("/who?key=here").body)["peers"], [])

    def test_attempts_get_rarer(self):
        peer = FakePeer(lambda head: None)
        self.addCleanup(peer.close)
        node = self.node("--peer", f"p={peer.url}")
        until(lambda: len(peer.asked) >= 4, 30, "four attempts")
        times = [at for at, _ in peer.asked[:4]]
        gaps = [b - a for a, b in zip(times, times[1:])]
        # Half a second, one, two, each shortened by up to a half; a busy machine may add to them.
        for gap, least in zip(gaps, (0.25, 0.5, 1.0)):
            self.assertGreaterEqual(gap, least - 0.01, gaps)
        self.assertEqual(node.metric('posy_peer_up{peer="p"}'), 0)

    def test_one_that_does_not_hold_requests_is_not_hammered(self):
        b = self.node("--items", "100")
        whole = b.get("/summary")

        def answer(head):
            if any(h.lower().startswith("if-none-match") for h in head):
                return response(b"", "304 Not Modified", ETag=whole.headers["ETag"])
            return response(whole.body, ETag=whole.headers["ETag"])
        for what in (answer, lambda head: response(whole.body, ETag=whole.headers["ETag"])):
            peer = FakePeer(what)
            self.addCleanup(peer.close)
            self.node("--peer", f"p={peer.url}")
            until(lambda: len(peer.asked) >= 4)
            gaps = [b[0] - a[0] for a, b in zip(peer.asked[1:], peer.asked[2:])]
            self.assertGreater(min(gaps), 0.4, "a pause between the questions")

    def fed(self, first, then):
        """A node whose peer says something that makes sense, and after that always the other."""
        said = iter([response(first.body, ETag=first.headers["ETag"])])
        peer = FakePeer(lambda head: next(said, None) or then)
        self.addCleanup(peer.close)
        return self.node("--peer", f"p={peer.url}")

    def test_poison_is_counted_and_dropped(self):
        b = self.node("--items", "1000", "--change", "0.01")
        b.add(f"key{i}" for i in range(300))
        first = b.get("/summary")
        tag = first.headers["ETag"]
        b.add(f"more{i}" for i in range(50))
        second = b.get("/summary")
        delta = b.get("/summary", If_None_Match=tag, **DELTA).body
        other = self.node("--items", "1000", "--change", "0.01")
        other.add(f"other{i}" for i in range(300))
        other_tag = other.get("/summary").headers["ETag"]
        other.add(f"key{i}" for i in range(50))
        foreign = other.get("/summary", If_None_Match=other_tag, **DELTA).body
        bomb = b"POSY" + bytes([1, 1, 0, 64, 1, 1, 3]) + b"\x80\x80\x80\x80\x80\x20" + b"\0" * 100  # 2^40 bits
        flipped = bytearray(second.body)
        flipped[len(flipped) // 2] ^= 1
        poison = {
            "empty": b"", "truncated": second.body[:-5], "half": second.body[:len(second.body) // 2],
            "longer": second.body + b"x", "twice": second.body * 2, "a bit flipped": bytes(flipped),
            "wrong checksum": second.body[:-4] + b"\0\0\0\0", "text": b"<html>welcome</html>", "declares 2^40 bits": bomb,
            "delta from elsewhere": foreign, "delta of a delta": delta[:40] + delta,
        }
        for name, body in poison.items():
            with self.subTest(name):
                node = self.fed(first, response(body, "226 IM Used" if "delta" in name else "200 OK", ETag='"ff"'))
                until(lambda: self.answers(node, "dropped") >= 2, what="poison counted")
                self.assertEqual(self.answers(node, "whole"), 1)
                self.assertEqual(node.metric('posy_peer_summary_items{peer="p"}'), 300)
                self.assertEqual(len(json.loads(node.get("/who?key=key7").body)["peers"]), 1)
                node.kill()
        # And bytes that are not HTTP at all.
        for name, raw in {"noise": os.urandom(200), "no status": b"HTTP/1.1 banana\r\n\r\n", "too large": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nx",
                          "endless head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20000,
                          "500": response(b"", "500 Internal Server Error"),
                          "smuggled": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}.items():
            with self.subTest(name):
                node = self.fed(first, raw)
                until(lambda: self.answers(node, "failed") >= 2, what="failures counted")
                self.assertEqual(node.metric('posy_peer_summary_items{peer="p"}'), 300)
                node.kill()

    def test_a_delta_without_its_base(self):
        """Nothing was asked for and a delta came: the next question asks for the whole."""
        b = self.node("--items", "1000", "--change", "0.01")
        b.add(f"before{i}" for i in range(300))
        tag = b.get("/summary").headers["ETag"]
        b.add(f"key{i}" for i in range(50))
        delta, whole = b.get("/summary", If_None_Match=tag, **DELTA), b.get("/summary")
        said = []

        def answer(head):
            asks = [h for h in head if h.lower().startswith("if-none-match")]
            said.append(bool(asks))
            return response(delta.body, "226 IM Used", IM="posy-delta", ETag=delta.headers["ETag"]) if len(said) == 1 else \
                response(whole.body, ETag=whole.headers["ETag"])
        peer = FakePeer(answer)
        self.addCleanup(peer.close)
        node = self.node("--peer", f"p={peer.url}")
        until(lambda: node.metric('posy_peer_summary_items{peer="p"}') == 350)
        self.assertEqual(said[:2], [False, False])
        self.assertEqual((self.answers(node, "dropped"), self.answers(node, "whole")), (1, 1))

    def test_peers_of_a_file(self):
        b, c = self.node("--items", "100", "--interval", "0.2"), self.node("--items", "100", "--interval", "0.2")
        b.add(["b"]), c.add(["c"])
        file = self.write("peers.json", json.dumps({"peers": [f"b={b.url}"]}))
        a = self.node("--peers", file, "--peer", f"fixed={c.url}")
        names = lambda: {m[1] for n in a.metrics() if (m := re.match(r'posy_peer_up\{peer="(.*)"', n))}
        known = lambda: {m[1] for n in a.metrics() if (m := re.match(r'posy_peer_summary_items\{peer="(.*)"', n))}
        self.assertEqual(names(), {"b", "fixed"})
        until(lambda: known() == {"b", "fixed"})

        def reload(text):
            self.write("peers.json", text)
            a.process.send_signal(signal.SIGHUP)
        reload(json.dumps({"peers": [f"c={c.url}", f"c={b.url}"]}))  # of two of one name, the first
        until(lambda: names() == {"c", "fixed"})
        until(lambda: known() == {"c", "fixed"}, what="b forgotten")
        until(lambda: [p["name"] for p in json.loads(a.get("/who?key=c").body)["peers"]] == ["c", "fixed"])
        self.assertEqual(json.loads(a.get("/who?key=b").body)["peers"], [])
        for bad in ("{", "[]", '{"peers": [7]}', '{"peers": ["ftp://x"]}', '{"peers": "b"}'):
            before = len(a.log)
            reload(bad)
            until(lambda: len(a.log) > before)
            self.assertIn("all settings stay as they were", a.log[-1])
        self.assertEqual(names(), {"c", "fixed"})
        done = subprocess.run([POSY, "node", "--listen", "127.0.0.1:0", "--peers", file], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("peers.json", done.stderr)

    def test_hints_for_those_that_poll(self):
        file = self.write("peers.json", '{"peers": []}')
        b = self.node("--name", "b & co", "--items", "100", "--change", "0.01", "--hint", "--peers", file)
        a = self.node("--peer", f"b & co={b.url}", "--poll", "3600")
        self.write("peers.json", json.dumps({"peers": [f"a={a.url}"]}))
        b.process.send_signal(signal.SIGHUP)
        until(lambda: b.metric('posy_peer_up{peer="a"}') == 1)
        until(lambda: a.metric('posy_peer_up{peer="b & co"}') == 1)
        b.ask("PUT", "/keys/news")
        until(lambda: a.metric('posy_peer_summary_items{peer="b & co"}') == 1, 10, "the news, an hour early")
        self.assertGreater(b.metric('posy_summary_sent_bytes_total{kind="hint"}'), 0)

    def test_stops_at_once_with_requests_held_open(self):
        b = self.node("--items", "100")
        a = self.node("--peer", f"b={b.url}")
        until(lambda: b.metric("posy_connections") >= 2, what="a's request, held open")
        start = time.monotonic()
        self.assertEqual(b.kill(signal.SIGTERM), 0)
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(a.kill(signal.SIGINT), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
