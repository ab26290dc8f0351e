"""One long answer that carries all news: what a node streams, and what it does with a peer's stream that breaks or lies.

Usage: stream_test.py POSY [unittest arguments]
"""
import json
import os
import socket
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import ScratchTest  # noqa: E402
from origins import FakePeer, response  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

STREAM = "A-IM: posy-delta, posy-stream\r\nPrefer: wait={wait}\r\n"
HEAD = b"HTTP/1.1 226 IM Used\r\nIM: posy-stream\r\nETag: %s\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces)


def generation(message):
    """Of a filter or delta, by docs/format.md: the sixth number after the eleven bytes that begin it."""
    at = 11
    for _ in range(6):
        value, shift = 0, 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                break
    return value


class Reader:
    """A client that asked for a stream: its head, and its chunks as they come."""

    def __init__(self, port, tag=None, wait=60, version="1.1", method="GET", wrap=lambda s: s, buffer=None):
        plain = socket.socket()
        if buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        plain.settimeout(20)
        plain.connect(("127.0.0.1", port))
        self.socket = wrap(plain)
        held = f"If-None-Match: {tag}\r\n" if tag else ""
        self.socket.sendall(f"{method} /summary HTTP/{version}\r\nHost: 127.0.0.1:{port}\r\n{held}{STREAM.format(wait=wait)}\r\n".encode())
        self.file = self.socket.makefile("rb")
        self.status = self.file.readline().split()[1]
        self.fields = dict(line.decode().strip().split(": ", 1) for line in iter(self.file.readline, b"\r\n"))

    def chunk(self):
        size = int(self.file.readline(), 16)
        piece = self.file.read(size)
        assert self.file.read(2) == b"\r\n"
        return piece

    def close(self):
        self.file.close()
        self.socket.close()


class Streams(ScratchTest):
    def reader(self, node, *args, **how):
        reader = Reader(node.port, *args, **how)
        self.addCleanup(reader.close)
        return reader

    def answers(self, node, kind):
        return node.metric(f'posy_peer_answers_total{{peer="p",kind="{kind}"}}')

    def test_news_after_news_in_one_answer(self):
        node = self.node("--items", "1000", "--change", "0.01", "--interval", "3600")
        node.add(f"key{i}" for i in range(500))
        reader = self.reader(node)
        self.assertEqual((reader.status, reader.fields["IM"], reader.fields["Transfer-Encoding"]), (b"226", "posy-stream", "chunked"))
        held = reader.chunk()
        whole = self.info("first", held)
        self.assertEqual((whole["kind"], whole["items"]), ("filter", 500))
        until(lambda: node.metric('posy_summary_sent_bytes_total{kind="whole"}') == len(held))  # counted when it is sent
        before = node.metrics()
        sizes = []
        for round_ in range(3):
            node.add(f"{round_} {i}" for i in range(10))
            sizes.append(len(piece := reader.chunk()))
            delta = self.info("next", piece)
            self.assertEqual((delta["kind"], delta["base_generation"]), ("delta", generation(held)))
            held = piece
        # Every byte is counted: messages as what they are, chunks as framing.
        def sent():
            return {kind: node.metrics()[name] - before[name] for kind in ("delta", "framing") for name in [f'posy_summary_sent_bytes_total{{kind="{kind}"}}']}
        until(lambda: sent()["delta"] >= sum(sizes))
        self.assertEqual(sent(), {"delta": sum(sizes), "framing": sum(len(b"%x" % size) + 4 for size in sizes)})

    def test_one_that_holds_the_newest_hears_signs_of_life_and_then_news(self):
        node = self.node("--items", "1000", "--change", "0.01", "--interval", "3600")
        node.add(f"key{i}" for i in range(500))
        tag = node.get("/summary").headers["ETag"]
        reader = self.reader(node, tag, wait=1)
        self.assertEqual(reader.fields["ETag"], tag)
        self.assertEqual([reader.chunk(), reader.chunk()], [b"\n", b"\n"])
        node.add(f"more{i}" for i in range(10))  # one generation: with the tenth, 1 % of the planned items has changed
        while (piece := reader.chunk()) == b"\n":
            pass
        self.assertEqual(self.info("d", piece)["kind"], "delta")
        # A node that stops ends the answer as it should.
        node.process.terminate()
        while (piece := reader.chunk()) == b"\n":
            pass
        self.assertEqual(piece, b"")

    def test_who_cannot_read_a_stream_gets_a_plain_answer(self):
        node = self.node("--items", "1000")
        for how in ({"version": "1.0"}, {"method": "HEAD"}, {"wait": 0}):
            with self.subTest(how):
                reader = self.reader(node, **how)
                self.assertEqual((reader.status, reader.fields.get("IM")), (b"200", None))
        tag = node.get("/summary").headers["ETag"]
        self.assertEqual(node.get("/summary", If_None_Match=tag, A_IM="posy-stream").status, 304)

    def test_a_slow_reader_gets_what_it_missed_at_once(self):
        node = self.node("--items", "200000", "--change", "0.001", "--interval", "3600", "--fpr", "0.001")
        slow, quick = self.reader(node, buffer=4096), self.reader(node)
        for reader in (slow, quick):
            self.assertEqual(self.info("whole", reader.chunk())["kind"], "filter")
        generations = 0
        for round_ in range(40):  # 200 new keys make a generation of some 350 bytes; what nobody reads fills the buffers
            node.add(f"{round_} {i}" for i in range(20000))
            generations = node.metric("posy_set_generation")
            while generation(quick.chunk()) < generations:
                pass
        taken, last = 0, 0
        while last < generations:
            last, taken = generation(slow.chunk()), taken + 1
        self.assertLess(taken, 40 * 100)
        self.assertEqual(last, generations)

    def test_over_tls(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path("key"), "-out",
                        self.path("pem"), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True)
        tls = ("--tls-cert", self.path("pem"), "--tls-key", self.path("key"))
        node = self.node("--listen-tls", "127.0.0.1:0", *tls, "--items", "1000", "--change", "0.01", listen=None)
        context = ssl.create_default_context(cafile=self.path("pem"))
        reader = self.reader(node, wrap=lambda s: context.wrap_socket(s, server_hostname="localhost"), wait=1)
        self.assertEqual(self.info("whole", reader.chunk())["kind"], "filter")
        self.assertEqual(reader.chunk(), b"\n")
        follower = self.node("--peer", f"p=https://localhost:{node.port}", "--tls-ca", self.path("pem"), "--wait", "1")
        until(lambda: self.answers(follower, "unchanged") >= 2, what="signs of life over TLS")
        self.assertEqual((self.answers(follower, "whole"), self.answers(follower, "failed")), (1, 0))

    def generations(self, count=3):
        """A whole summary and the deltas after it, as (tag, bytes)."""
        node = self.node("--items", "1000", "--change", "0.01", "--interval", "3600")
        node.add(f"key{i}" for i in range(300))
        found = [node.get("/summary")]
        for step in range(count):
            node.add(f"{step} {i}" for i in range(20))
            found.append(node.get("/summary", If_None_Match=found[-1].headers["ETag"], A_IM="posy-delta"))
            self.assertEqual(found[-1].status, 226)
        return [(a.headers["ETag"], a.body) for a in found], node.get("/summary").body

    def fed(self, *answers):
        """A node whose peer gives these answers in turn, each a list of pieces after the head of a stream; the last one again and again."""
        asked = []

        def answer(head):
            fields = {line.split(":")[0].lower(): line.split(":", 1)[1].strip() for line in head[1:]}
            asked.append(fields.get("if-none-match"))
            return answers[min(len(asked), len(answers)) - 1]
        peer = self.closing(FakePeer(answer))
        return self.node("--peer", f"p={peer.url}", "--wait", "2"), asked

    def items(self, node):
        return node.metric('posy_peer_summary_items{peer="p"}')

    def test_messages_in_pieces_of_any_size(self):
        (first, *deltas), _ = self.generations()
        body = b"\n" + first[1] + b"".join(b"\n\n" + d for _, d in deltas)
        for size in (1, 7, 100, len(body)):
            with self.subTest(size):
                pieces = [body[i:i + size] for i in range(0, len(body), size)]
                node, asked = self.fed(HEAD % first[0].encode() + chunk(*pieces))
                until(lambda: self.items(node) == 360)
                self.assertEqual((self.answers(node, "whole"), self.answers(node, "delta"), self.answers(node, "dropped")), (1, 3, 0))
                self.assertEqual(node.metric('posy_peer_up{peer="p"}'), 1)
                node.kill()

    def test_after_a_break_the_next_question_names_what_is_held(self):
        (first, second, third, fourth), _ = self.generations()
        head = HEAD % first[0].encode()
        broken = {
            "cut off inside a message": chunk(first[1], second[1], third[1][:20]) + b"",
            "ended inside a message": chunk(first[1], second[1], third[1][:20]) + b"0\r\n\r\n",
            "a lost delta": chunk(first[1], second[1], fourth[1]),
            "a damaged delta": chunk(first[1], second[1], third[1][:-1] + b"?"),
            "no message": chunk(first[1], second[1], b"<html>"),
            "a message of 2^40 bytes": chunk(first[1], second[1], b"POSY" + bytes([1, 5, 0, 24, 0, 1, 0]) + bytes(6) + b"\x80\x80\x80\x80\x80\x20" + bytes(60)),
        }
        for name, pieces in broken.items():
            with self.subTest(name):
                node, asked = self.fed(head + pieces, HEAD % fourth[0].encode() + chunk(third[1], fourth[1]))
                until(lambda: self.items(node) == 360, what="all of the news")
                self.assertEqual(asked[:2], [None, second[0]])
                node.kill()

    def test_a_delta_of_another_publisher_changes_nothing(self):
        (first, *_), whole = self.generations()
        other, _ = self.generations(1)
        node, asked = self.fed(HEAD % first[0].encode() + chunk(first[1], other[1][1]), HEAD % first[0].encode() + chunk(whole))
        until(lambda: self.items(node) == 360)
        self.assertGreaterEqual(self.answers(node, "dropped"), 1)

    def test_a_peer_that_starts_again_is_followed_again(self):
        at = f"127.0.0.1:{free_port()}"
        node = self.node("--items", "1000", "--interval", "0.2", listen=at)
        node.add(["one"])
        follower = self.node("--peer", f"p={node.url}")
        until(lambda: self.items(follower) == 1)
        node.kill()
        until(lambda: follower.metric('posy_peer_up{peer="p"}') == 0, what="its loss noticed at once, not after --wait")
        again = self.node("--items", "1000", "--interval", "0.2", listen=at)
        again.add(["two", "three"])
        until(lambda: self.items(follower) == 2, 40)
        self.assertEqual([p["name"] for p in json.loads(follower.get("/who?key=two").body)["peers"]], ["p"])

    def test_one_that_knows_no_streams_is_polled(self):
        (first, *_), _ = self.generations(1)
        asked = []

        def answer(head):
            asked.append([line for line in head if line.lower().startswith(("a-im", "prefer"))])
            return response(first[1], ETag=first[0]) if len(asked) == 1 else response(b"", "304 Not Modified", ETag=first[0])
        peer = self.closing(FakePeer(answer))
        node = self.node("--peer", f"p={peer.url}", "--wait", "2")
        until(lambda: self.answers(node, "unchanged") >= 2)
        self.assertIn("posy-delta, posy-stream", asked[0][0])
        self.assertEqual((self.answers(node, "whole"), self.answers(node, "failed")), (1, 0))

    def test_signs_of_life_without_end_cost_little(self):
        (first, *_), _ = self.generations(1)
        node, _ = self.fed(HEAD % first[0].encode() + chunk(first[1], b"\n" * 60000, b"\n" * 60000) + b"0\r\n\r\n")
        until(lambda: self.answers(node, "unchanged") >= 2)
        self.assertLess(self.answers(node, "unchanged"), 100)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
