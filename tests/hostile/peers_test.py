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
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest  # noqa: E402
from peers_kinds import KINDS, MIB  # noqa: E402
from waiting import until  # noqa: E402

LONG = bool(os.environ.get("POSY_LONG_TESTS"))
SECONDS = float(os.environ.get("POSY_HOSTILE_SECONDS", 600 if LONG else 20))
MEMORY_MIB = 256
OTHERWISE_MIB = 64  # a node without peers, sanitizers not counted


class Probe(threading.Thread):
    """Asks one path over one connection until all is over, and writes down how long it took."""

    def __init__(self, port, path, over, pause=0.02):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.path, self.over, self.pause, self.took, self.failed = path, over, pause, [], None
        self.start()

    def run(self):
        try:
            while not self.over.wait(self.pause):
                start = time.perf_counter()
                self.connection.request("GET", self.path)
                answer = self.connection.getresponse()
                answer.read()
                self.took.append(time.perf_counter() - start)
                assert answer.status == 200, answer.status
        except Exception as e:  # shown by the test
            self.failed = e
            self.over.set()

    def end(self):
        self.over.set()
        self.join(150)
        self.connection.close()
        assert self.failed is None, self.failed
        self.took.sort()
        return self

    def at(self, share):
        return 1000 * self.took[min(len(self.took) - 1, int(share * len(self.took)))]


def most_resident_mib(process):
    with open(f"/proc/{process.pid}/status") as f:
        status = dict(line.split(":", 1) for line in f)
    return int(status["VmHWM"].split()[0]) / 1024


class Mesh(NodeTest):
    def holds(self, node, key):
        return [p["name"] for p in json.loads(node.get(f"/who?key={key}").body)["peers"]]

    def test_one_of_every_kind(self):
        honest = self.node("--items", "1000", "--change", "0.0001", "--name", "honest")
        hostile = {kind.__name__: self.closing(kind()) for kind in KINDS}
        peers = [f"{name}={peer.url}" for name, peer in hostile.items()] + [f"honest={honest.url}"]
        node = self.node(*(o for p in peers for o in ("--peer", p)), "--peer-memory", f"{MEMORY_MIB}MiB")
        idle = self.node()
        over = threading.Event()
        probes = {(name, path): Probe(where.port, path, over) for name, where in (("node", node), ("idle", idle))
                  for path in ("/healthz", "/who?key=x")}
        fresh, end, round_ = [], time.monotonic() + SECONDS, 0
        while time.monotonic() < end and not over.wait(0.2):
            round_ += 1
            honest.ask("PUT", f"/keys/news{round_}")
            start = time.monotonic()
            until(lambda: "honest" in self.holds(node, f"news{round_}"), 60, "the honest peer's news")
            fresh.append(time.monotonic() - start)
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
        print(f"resident {most_resident_mib(node.process):.0f} MiB at most; summaries "
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
            self.assertLess(most_resident_mib(node.process), MEMORY_MIB + OTHERWISE_MIB)
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
