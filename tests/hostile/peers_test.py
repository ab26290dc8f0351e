"""Hostile peers beside an honest one: one of every kind follows a node's questions with the worst that it can think of.

Usage: peers_test.py POSY [unittest arguments]

The node answers /healthz and /who all the while, the honest peer's summary stays fresh, and memory stays within --peer-memory. The
short form takes half a minute and allows for a busy machine. With POSY_LONG_TESTS=1 it takes ten minutes (POSY_HOSTILE_SECONDS), and
the times are exact: 100 ms for /healthz, 10 ms for /who, beyond what an idle node on the same machine takes at the same time.
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "node"))
from mesh import FakePeer, NodeTest, response, until  # noqa: E402
from peers_kinds import KINDS, MIB, Streams, interim, large, summary  # noqa: E402
from peers_messages import ADAPTIVE, GAPS, message, tag, varint  # noqa: E402

POSY = os.path.abspath(sys.argv[1])
LONG = bool(os.environ.get("POSY_LONG_TESTS"))
SECONDS = float(os.environ.get("POSY_HOSTILE_SECONDS", 600 if LONG else 20))
MEMORY_MIB = 256
OTHERWISE_MIB = 64  # a node without peers, sanitizers not counted


def posy(*args, status=0, **how):
    done = subprocess.run([POSY, *args], capture_output=True, timeout=60, **how)
    assert done.returncode == status, (args, done.returncode, done.stdout, done.stderr)
    return done.stderr if status == 2 else done.stdout


class Probe(threading.Thread):
    """Asks one path over one connection, again and again, and writes down how long it took."""

    def __init__(self, port, path, pause=0.02):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.path, self.pause, self.took, self.going, self.failed = path, pause, [], True, None
        self.start()

    def run(self):
        try:
            while self.going:
                start = time.perf_counter()
                self.connection.request("GET", self.path)
                answer = self.connection.getresponse()
                answer.read()
                self.took.append(time.perf_counter() - start)
                assert answer.status == 200, answer.status
                time.sleep(self.pause)
        except Exception as e:  # shown by the test
            self.failed = e

    def end(self):
        self.going = False
        self.join(150)
        self.connection.close()
        assert self.failed is None, self.failed
        self.took.sort()
        return self

    def at(self, share):
        return 1000 * self.took[min(len(self.took) - 1, int(share * len(self.took)))]


def resident_mib(process):
    with open(f"/proc/{process.pid}/status") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["VmRSS"].split()[0]) / 1024, int(status["VmHWM"].split()[0]) / 1024


class Hostile(NodeTest):
    posy = POSY

    def server(self, peer):
        self.addCleanup(peer.close)
        return peer


class Mesh(Hostile):
    def holds(self, node, key):
        return [p["name"] for p in json.loads(node.get(f"/who?key={key}").body)["peers"]]

    def test_one_of_every_kind(self):
        honest = self.node("--items", "1000", "--change", "0.0001", "--name", "honest")
        hostile = {kind.__name__: self.server(kind()) for kind in KINDS}
        peers = [f"{name}={peer.url}" for name, peer in hostile.items()] + [f"honest={honest.url}"]
        node = self.node(*(o for p in peers for o in ("--peer", p)), "--peer-memory", f"{MEMORY_MIB}MiB")
        idle = self.node()
        probes = {(name, path): Probe(where.port, path) for name, where in (("node", node), ("idle", idle))
                  for path in ("/healthz", "/who?key=x")}
        fresh, most, end, round_ = [], 0, time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            round_ += 1
            honest.ask("PUT", f"/keys/news{round_}")
            start = time.monotonic()
            until(lambda: "honest" in self.holds(node, f"news{round_}"), 60, "the honest peer's news")
            fresh.append(time.monotonic() - start)
            most = max(most, resident_mib(node.process)[0])
            time.sleep(0.2)
        for probe in probes.values():
            probe.end()
        figures = node.metrics()
        self.report(node, hostile, probes, fresh, figures)
        self.assert_served(probes)
        # Long polls are slow to notice on a busy machine; a peer that has to wait for the others' decoding is slower.
        self.assertLess(max(fresh), 5 if LONG else 20, "the honest peer's summary is stale")
        self.assertLess(figures['posy_peer_summary_age_seconds{peer="honest"}'], 70)
        self.assert_memory(node, figures)
        self.assert_counted(figures)

    def report(self, node, hostile, probes, fresh, figures):
        print(f"\n{len(hostile)} hostile peers, {SECONDS:g} s", file=sys.stderr)
        print(f"{'':28}{'questions':>10}{'median ms':>11}{'99.9 % ms':>11}{'worst ms':>10}", file=sys.stderr)
        for (name, path), p in probes.items():
            print(f"{name + ' ' + path:28}{len(p.took):10}{p.at(0.5):11.2f}{p.at(0.999):11.2f}{p.at(1):10.2f}", file=sys.stderr)
        print(f"honest peer's news known after {1000 * sorted(fresh)[len(fresh) // 2]:.0f} ms (median), {1000 * max(fresh):.0f} ms (worst "
              f"of {len(fresh)})", file=sys.stderr)
        print(f"resident {resident_mib(node.process)[1]:.0f} MiB at most; summaries "
              f"{figures['posy_peers_summary_bytes'] / MIB:.0f} MiB; --peer-memory {MEMORY_MIB} MiB", file=sys.stderr)
        print(f"{'peer':20}{'answers':>8}{'whole':>8}{'dropped':>9}{'failed':>8}{'decoding s':>12}{'held back s':>13}", file=sys.stderr)
        for name in (*hostile, "honest"):
            kind = lambda k: figures[f'posy_peer_answers_total{{peer="{name}",kind="{k}"}}']
            answered = sum(kind(k) for k in ("whole", "delta", "unchanged", "failed"))
            print(f"{name:20}{answered:8g}{kind('whole'):8g}{kind('dropped'):9g}{kind('failed'):8g}"
                  f"{figures[f'posy_peer_decoding_seconds_total{{peer=%s}}' % json.dumps(name)]:12.2f}"
                  f"{figures[f'posy_peer_held_back_seconds_total{{peer=%s}}' % json.dumps(name)]:13.1f}", file=sys.stderr)

    def assert_served(self, probes):
        for path, limit in (("/healthz", 100), ("/who?key=x", 10)):
            worst, machine = probes["node", path].at(1), probes["idle", path].at(1)
            if not LONG:  # a decoding that holds the loop or the lock takes seconds
                limit = 1000
            self.assertLess(worst, limit + machine, f"{path}: {worst:.1f} ms; an idle node {machine:.1f} ms")

    def assert_memory(self, node, figures):
        if not os.environ.get("POSY_SANITIZE"):
            self.assertLess(resident_mib(node.process)[1], MEMORY_MIB + OTHERWISE_MIB)
        self.assertLessEqual(figures["posy_peers_summary_bytes"], figures["posy_peers_summary_limit_bytes"])
        self.assertLessEqual(figures["posy_peers_summary_limit_bytes"], MEMORY_MIB * MIB)

    def assert_counted(self, figures):
        """Nobody had more than its share of the decoding, and what each of them did shows."""
        count = len(KINDS) + 1
        for kind in KINDS:
            name = kind.__name__
            decoding = figures[f'posy_peer_decoding_seconds_total{{peer="{name}"}}']
            self.assertLess(decoding, SECONDS / (2 * count) + 20, name)
        answers = lambda name, kind: figures[f'posy_peer_answers_total{{peer="{name}",kind="{kind}"}}']
        self.assertGreater(answers("wrong_checksum", "dropped"), 1)
        self.assertGreater(answers("endless", "failed"), 0)
        self.assertGreater(answers("interim", "failed"), 0)
        self.assertEqual(answers("same_again", "whole"), 1)
        self.assertGreater(answers("same_again", "unchanged"), 1)
        self.assertEqual(figures['posy_peer_resting{peer="all_ones"}'], 1)
        self.assertEqual(figures['posy_peer_resting{peer="honest"}'], 0)


class Answers(Hostile):
    """What is read of an answer has an end: in bytes, in time, in interim answers."""

    def grows_by(self, node, seconds):
        before, end, most = resident_mib(node.process)[0], time.monotonic() + seconds, 0
        while time.monotonic() < end:
            most = max(most, resident_mib(node.process)[0])
            time.sleep(0.05)
        return most - before

    def hints(self, serve):
        """A node that sends hints to a peer whose summary is fine."""
        whole = message(1024, b"\0" * 128, 5)

        def answer(client):
            head = peer.asked[-1][1]
            if head[0].startswith("POST"):
                serve(client)
            client.sendall(response(b"", "304 Not Modified") if any(h.startswith("If-None") for h in head) else summary(whole, 5))
        peer = self.server(Streams(answer))
        node = self.node("--hint", "--items", "100", "--change", "0.01", "--peer", f"p={peer.url}", "--poll", "0.5")
        until(lambda: node.metric('posy_peer_up{peer="p"}') == 1)
        return node, peer

    def test_endless_answer_to_a_hint(self):
        def serve(client):
            client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                client.sendall(b"100000\r\n" + b"x" * MIB + b"\r\n")
        node, peer = self.hints(serve)
        node.ask("PUT", "/keys/1")
        until(lambda: any(h[0].startswith("POST") for _, h in peer.asked))
        self.assertLess(self.grows_by(node, 3), 60)

    def test_a_slow_peer_gets_one_hint_at_a_time(self):
        node, peer = self.hints(lambda client: time.sleep(60))
        for i in range(50):
            node.ask("PUT", f"/keys/{i}")
        time.sleep(1)
        self.assertEqual(sum(h[0].startswith("POST") for _, h in peer.asked), 1)

    def test_endless_answer_to_a_question(self):
        def serve(client):
            client.sendall(b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                client.sendall(b"100000\r\n" + b"x" * MIB + b"\r\n")
        peer = self.server(Streams(serve))
        origin = self.server(FakePeer(lambda head: response(b"from the origin")))
        proxy = self.node("--sharing", "ask", "--peer", f"p={peer.url}", "--allow-destination", "loopback", command="proxy")
        asking = threading.Thread(target=lambda: proxy.ask("GET", origin.url + "/x"), daemon=True)
        asking.start()
        until(lambda: peer.asked)
        self.assertLess(self.grows_by(proxy, 3), 60)
        asking.join(20)
        self.assertFalse(asking.is_alive())

    def test_dripping_answer_to_a_question(self):
        def serve(client):
            client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 60000\r\n\r\n")
            while True:
                client.sendall(b"x")
                time.sleep(0.3)
        peer = self.server(Streams(serve))
        origin = self.server(FakePeer(lambda head: response(b"from the origin")))
        proxy = self.node("--sharing", "ask", "--peer", f"p={peer.url}", "--allow-destination", "loopback", command="proxy")
        start = time.monotonic()
        self.assertEqual(proxy.ask("GET", origin.url + "/x").body, b"from the origin")
        self.assertLess(time.monotonic() - start, 15)  # 2 seconds, and a busy machine

    def test_a_whole_that_drips_and_interim_answers(self):
        whole = message(1024, b"\xff" * 128, 5)

        def drip(client):
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            while True:
                client.sendall(b"P")
                time.sleep(0.2)
        start = time.monotonic()
        said = posy("query", "--timeout", "1", "--max-time", "2", self.server(Streams(drip)).url + "/f", input=b"x\n", status=2)
        self.assertIn(b"not all of the answer came within 2 seconds; --max-time waits longer", said)
        self.assertLess(time.monotonic() - start, 15)
        early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        server = self.server(FakePeer(lambda head: early + response(whole)))
        self.assertEqual(posy("query", server.url + "/f", input=b"x\n"), b"x\n")
        endless = self.server(interim())
        self.assertIn(b"interim answers without end", posy("query", endless.url + "/f", input=b"x\n", status=2))
        switching = self.server(FakePeer(lambda head: b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"))
        self.assertIn(b"another protocol", posy("query", switching.url + "/f", input=b"x\n", status=2))


class Generations(Hostile):
    def test_the_same_whole_again_is_not_decoded(self):
        """Its payload cannot be decoded the second time, and that does not show."""
        good, other = message(1 << 20, b"\0" * (1 << 17), 5), message(1 << 20, b"\xff" * 16, 5, ADAPTIVE)
        said = iter([summary(good, 5)])
        peer = self.server(FakePeer(lambda head: next(said, None) or summary(other, 5)))
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
        node = self.node("--peer", f"p={self.server(FakePeer(answer)).url}")
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
        peer = self.server(large())
        node = self.node("--peer", f"p={peer.url}", "--peer", "nobody=http://127.0.0.1:1")
        until(lambda: len(peer.asked) > 1)
        end = time.monotonic() + 3
        while time.monotonic() < end:
            node.ask("POST", "/hint?from=p")
        held_back = node.metric('posy_peer_held_back_seconds_total{peer="p"}')
        self.assertLess(len(peer.asked), 60)
        self.assertGreater(held_back, 0)


class Rested(Hostile):
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
        peer = self.server(FakePeer(answer))
        return peer, wanted

    def proxy_beside(self, peer):
        proxy = self.node("--peer", f"liar={peer.url}", "--poll", "1", "--allow-destination", "loopback", command="proxy")
        until(lambda: proxy.metric('posy_peer_summary_bytes{peer="liar"}'))
        until(lambda: proxy.metric('posy_peer_up{peer="liar"}') == 1)
        return proxy

    def test_all_ones_are_never_asked(self):
        peer, wanted = self.sibling(b"\xff" * 1024)
        proxy = self.proxy_beside(peer)
        origin = self.server(FakePeer(lambda head: response(b"from the origin")))
        for i in range(20):
            self.assertEqual(proxy.ask("GET", f"{origin.url}/{i}").body, b"from the origin")
        self.assertEqual(wanted, [])
        self.assertEqual(proxy.metric('posy_peer_resting{peer="liar"}'), 1)
        self.assertEqual(json.loads(proxy.get("/who?key=x").body), {"key": "x", "local": False, "peers": [], "resting": ["liar"]})

    def test_false_hits_beyond_what_the_summary_explains(self):
        """A filter that has the very URLs that will be asked for, sparse as an honest one, and none of them is there."""
        origin = self.server(FakePeer(lambda head: response(b"from the origin")))
        urls = [f"{origin.url}/{i}" for i in range(120)]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "f.posy")
            posy("build", "--items", "10000", "-o", path, input="".join(u + "\n" for u in urls).encode())
            with open(path, "rb") as f:
                whole = f.read()
        wanted = []

        def answer(head):
            if "/summary" not in head[0]:
                wanted.append(head[0])
                return response(b"no", "504 Gateway Timeout", Cache_Status="x; detail=filter")
            return summary(whole, 0)
        proxy = self.proxy_beside(self.server(FakePeer(answer)))
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
        said = iter([summary(message(1024, b"\xff" * 128, 5), 5)])
        peer = self.server(FakePeer(lambda head: next(said, None) or summary(message(1024, b"\x55" * 128, 6), 6)))
        node = self.node("--peer", f"p={peer.url}", "--poll", "0.5")
        until(lambda: node.metric('posy_peer_resting{peer="p"}') == 1)
        until(lambda: node.metric('posy_peer_resting{peer="p"}') == 0)
        self.assertEqual(json.loads(node.get("/who?key=x").body)["resting"], [])


class Honest(Hostile):
    def test_a_large_node_that_is_nearly_empty(self):
        """Its memory is in the budget, so its summary need not be long to be believed."""
        bits = 1 << 30
        whole = message(bits, varint(0), 5, GAPS)
        peer = self.server(FakePeer(lambda head: summary(whole, 5)))
        node = self.node("--peer", f"p={peer.url}", "--poll", "1")
        until(lambda: node.metric('posy_peer_summary_bytes{peer="p"}') == bits // 8)


class Names(Hostile):
    def test_a_name_that_is_not_utf8_is_refused(self):
        for peer in (b"\xff=http://127.0.0.1:1", b"http://a\xc3(:80", b"a\nb=http://127.0.0.1:1", b"\xed\xa0\x80=http://127.0.0.1:1",
                     b"\xc0\xaf=http://127.0.0.1:1", b"\xf5\x80\x80\x80=http://127.0.0.1:1", b"\xe4\xb8=http://127.0.0.1:1"):
            said = posy("node", "--listen", "127.0.0.1:0", "--peer", peer, status=2)
            self.assertIn(b"UTF-8 text without control characters", said)
            said.decode()
        self.assertIn(b"--name", posy("node", "--listen", "127.0.0.1:0", "--name", b"\xff", status=2))
        self.assertIn(b"is not a peer; write NAME=", posy("node", "--listen", "127.0.0.1:0", "--peer", "ftp://x", status=2))

    def test_other_names_are_shown_as_they_are(self):
        name = "pé€𝄞 \"quoted\" \\"
        node = self.node("--peer", f"{name}=http://127.0.0.1:1", "--name", name)
        until(lambda: json.loads(node.get("/history").body)["series"], what="a sample")
        series = json.loads(node.get("/history").body)["series"]
        self.assertTrue(any("pé€𝄞" in figure for figure in series))
        self.assertIn("pé€𝄞", node.get("/metrics").body.decode())

    def test_the_memory_of_peers_has_a_least(self):
        self.assertIn(b"at least 1MiB", posy("node", "--listen", "127.0.0.1:0", "--peer-memory", "1000", status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
