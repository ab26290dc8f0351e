"""posy node from outside: its protocol, its keys, its peers, and what it does with peers that lie.

Usage: node_test.py POSY SOURCE [unittest arguments]
"""
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import unittest
import warnings

from mesh import FakePeer, ScratchTest, exchange, response, until

POSY, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
DELTA = {"A_IM": "posy-delta"}


def posy(*args, status=0):
    done = subprocess.run([POSY, *args], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done.stdout


class Scratch(ScratchTest):
    posy = POSY

    def info(self, name, content=None):
        """What posy says of a message."""
        if content is not None:
            self.write(name, content)
        return json.loads(posy("info", "--json", self.path(name)))


class Summary(Scratch):
    def test_whole_delta_and_unchanged(self):
        node = self.node("--items", "1000", "--change", "0.01")
        node.add(f"key{i}" for i in range(500))
        whole = node.get("/summary")
        self.assertEqual(whole.status, 200)
        tag = whole.headers["ETag"]
        self.assertRegex(tag, r'\A"[0-9a-f]+-[0-9a-f]{8}"\Z')
        self.assertEqual(int(whole.headers["Content-Length"]), len(whole.body))
        self.assertEqual(int(tag[1:-1].partition("-")[0], 16), node.metric("posy_set_generation"))
        self.assertEqual(node.get("/summary", If_None_Match=tag).status, 304)
        self.assertEqual(node.get("/summary", If_None_Match=tag).headers["ETag"], tag)

        node.add(f"more{i}" for i in range(20))
        node.ask("DELETE", "/keys/key7")
        node.add(f"and{i}" for i in range(11))
        delta = node.get("/summary", If_None_Match=tag, **DELTA)
        self.assertEqual((delta.status, delta.headers["IM"]), (226, "posy-delta"))
        self.assertLess(len(delta.body), len(whole.body) / 2)
        fresh = node.get("/summary")
        self.assertEqual(delta.headers["ETag"], fresh.headers["ETag"])
        # The tool puts them together, and has the same filter.
        self.write("old.posy", whole.body)
        self.write("change.posy", delta.body)
        posy("apply", self.path("old.posy"), self.path("change.posy"), "-o", self.path("new.posy"))
        new, fresh = self.info("new.posy"), self.info("fresh.posy", fresh.body)
        for fact in ("bits_checksum", "bits", "hashes", "items", "ones"):
            self.assertEqual(new[fact], fresh[fact], fact)
        self.assertNotEqual(new["bits_checksum"], self.info("old.posy")["bits_checksum"])

        # Whoever does not know deltas, or holds what is forgotten or never was, gets the whole.
        for headers in ({"If_None_Match": tag}, dict(DELTA), {"If_None_Match": '"1"', **DELTA},
                        {"If_None_Match": "W/" + tag, **DELTA}, {"If_None_Match": "*", **DELTA},
                        {"If_None_Match": '"zz"', **DELTA}, {"If_None_Match": '"' + "f" * 40 + '"', **DELTA}):
            answer = node.get("/summary", **headers)
            self.assertEqual((answer.status, answer.headers["IM"]), (200, None), headers)
        head = node.ask("HEAD", "/summary")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertGreater(int(head.headers["Content-Length"]), 100)

    def test_what_is_too_old_comes_whole(self):
        node = self.node("--items", "100", "--change", "0.01")
        first = node.get("/summary").headers["ETag"]
        tags = []
        for i in range(20):  # a generation each; 16 are remembered
            node.ask("PUT", f"/keys/{i}")
            tags.append(node.get("/summary").headers["ETag"])
        self.assertEqual(len(set(tags)), 20)
        self.assertEqual(node.get("/summary", If_None_Match=first, **DELTA).status, 200)
        statuses = [node.get("/summary", If_None_Match=t, **DELTA).status for t in tags]
        self.assertEqual(statuses[:3] + statuses[-2:], [200, 200, 200, 226, 304])

    def test_sharing_decides(self):
        for sharing, whole, later in (("full", 200, 200), ("compressed", 200, 200), ("none", 404, 404), ("ask", 404, 404)):
            with self.subTest(sharing):
                node = self.node("--sharing", sharing, "--items", "1000", "--change", "0.01")
                answer = node.get("/summary")
                self.assertEqual(answer.status, whole)
                node.add(map(str, range(100)))
                self.assertEqual(node.get("/summary", If_None_Match=answer.headers["ETag"] or '"1"', **DELTA).status, later)

    def test_long_poll(self):
        node = self.node("--items", "100", "--change", "0.01")
        tag = node.get("/summary").headers["ETag"]
        start = time.monotonic()
        answer = node.get("/summary", If_None_Match=tag, Prefer="wait=1")
        self.assertEqual(answer.status, 304)
        self.assertGreaterEqual(time.monotonic() - start, 0.95)
        got = []
        waiting = [threading.Thread(target=lambda: got.append(node.get("/summary", If_None_Match=tag, Prefer="wait=60", **DELTA)))
                   for _ in range(10)]
        for each in waiting:
            each.start()
        until(lambda: node.metric("posy_connections") >= 11, what="ten that wait")
        self.assertEqual(got, [])
        node.ask("PUT", "/keys/news")
        for each in waiting:
            each.join(10)
        self.assertEqual(len(got), 10)
        self.assertEqual({a.headers["ETag"] for a in got}, {node.get("/summary").headers["ETag"]})

    def test_a_rebuilt_filter_is_news_too(self):
        node = self.node("--items", "64", "--change", "1", "--interval", "3600")
        tag = node.get("/summary").headers["ETag"]
        got = []
        waiting = threading.Thread(target=lambda: got.append(node.get("/summary", If_None_Match=tag, Prefer="wait=30", **DELTA)))
        waiting.start()
        until(lambda: node.metric("posy_connections") >= 2)
        keys = [f"key{i}" for i in range(1000)]
        node.add(keys)
        waiting.join(10)
        self.assertFalse(waiting.is_alive())
        until(lambda: node.metric("posy_set_rebuilt_total"), what="a larger filter")
        self.assertEqual(node.metric("posy_set_items"), 1000)
        # Nobody is lost on the way: all that was added is in the next summary.
        self.write("s.posy", node.get("/summary").body)
        self.write("keys.txt", "".join(k + "\n" for k in keys))
        until(lambda: self.info("s.posy", node.get("/summary").body)["items"] == 1000, what="all of them in the summary")
        self.assertEqual(posy("query", "-c", self.path("s.posy"), self.path("keys.txt")).strip(), "1000")
        for k in keys:
            node.ask("DELETE", "/keys/" + k)
        self.assertEqual((node.metric("posy_set_items"), node.metric("posy_set_fill")), (0, 0))


class Keys(Scratch):
    def test_one_by_one(self):
        node = self.node()
        key = "/keys/a%20b%2F%C3%A9%00"
        self.assertEqual([node.ask(m, key).status for m in ("GET", "PUT", "PUT", "GET", "HEAD", "DELETE", "DELETE", "GET")],
                         [404, 201, 204, 204, 204, 204, 404, 404])
        self.assertEqual([node.metric("posy_set_items"), node.metric("posy_set_fill")], [0, 0])
        for method, path, status in (("PUT", "/keys/", 400), ("PUT", "/keys", 400), ("PUT", "/keys?x", 400), ("PUT", "/keys/%zz", 400),
                                     ("PUT", "/keys/%4", 400), ("PATCH", "/keys/a", 405), ("GET", "/keysmith", 404)):
            self.assertEqual(node.ask(method, path).status, status, (method, path))
        self.assertIn("PUT", node.ask("PATCH", "/keys/a").headers["Allow"])
        self.assertEqual(node.metric("posy_set_items"), 0)

    def test_many_at_once(self):
        node = self.node()
        post = lambda body: node.ask("POST", "/keys", body)
        self.assertEqual(json.loads(post(b"+a\n+b\r\n\n+a\n-c\n+c").body), {"added": 3, "removed": 0, "unchanged": 2})
        self.assertEqual(json.loads(post(b"-a\n-a\n").body), {"added": 0, "removed": 1, "unchanged": 1})
        self.assertEqual(json.loads(post(b"").body), {"added": 0, "removed": 0, "unchanged": 0})
        # What stands before a bad line is done, and nothing behind it.
        for bad in (b"neither\n", b"+\n", b"-\n", b" +x\n"):
            self.assertEqual(post(b"+before\n" + bad + b"+behind\n").status, 400, bad)
        self.assertEqual([node.ask("GET", "/keys/" + k).status for k in ("b", "c", "before", "behind")], [204, 204, 204, 404])
        self.assertEqual(post(b"+" + b"x" * 100_000 + b"\n").status, 413)
        # In chunks that cut lines anywhere.
        body = "".join(f"+chunk {i}\n" for i in range(5000)).encode()
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 777]), body[i:i + 777]) for i in range(0, len(body), 777)) + b"0\r\n\r\n"
        got, _ = exchange(node.port, b"POST /keys HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        self.assertIn(b'"added":5000', got)

    def test_pages_of_other_sites_change_nothing(self):
        node = self.node()
        for method, path in (("POST", "/keys"), ("PUT", "/keys/a"), ("DELETE", "/keys/a"), ("POST", "/hint?from=b")):
            self.assertEqual(node.ask(method, path, b"+a\n", {"Origin": "http://evil.example"}).status, 403)
            self.assertEqual(node.ask(method, path, b"+a\n", {"Origin": "null"}).status, 403)
        self.assertEqual(node.metric("posy_set_items"), 0)
        self.assertEqual(node.metric('posy_refused_total{why="forbidden"}'), 8)
        self.assertEqual(node.ask("PUT", "/keys/a", headers={"Origin": node.url}).status, 201)

    def test_who(self):
        b = self.node("--items", "1000", "--interval", "1")
        a = self.node("--peer", f"bee={b.url}", "--items", "1000")
        b.add(["http://x/y?z", "both"])
        a.add(["both"])
        until(lambda: a.metric('posy_peer_summary_items{peer="bee"}') == 2)
        who = lambda key: json.loads(a.get("/who?key=" + key).body)
        self.assertEqual(who("none"), {"key": "none", "local": False, "peers": [], "resting": []})
        found = who("both")
        self.assertTrue(found["local"])
        self.assertEqual([p["name"] for p in found["peers"]], ["bee"])
        self.assertEqual((found["peers"][0]["url"], found["peers"][0]["up"]), (b.url, True))
        self.assertLess(found["peers"][0]["summary_age_seconds"], 60)
        self.assertEqual([p["name"] for p in who("http%3A%2F%2Fx%2Fy%3Fz")["peers"]], ["bee"])
        self.assertEqual([a.get(p).status for p in ("/who", "/who?key=%z", "/have?key=both", "/have?key=none", "/have")],
                         [400, 400, 204, 404, 400])

    def test_nothing_acknowledged_is_lost(self):
        """Killed in the middle of a stream of changes; five times over."""
        data = self.path("data")
        acknowledged, removed = set(), set()
        node = self.node("--data", data, "--items", "20000")
        for life in range(5):
            stop = time.monotonic() + 0.5
            killer = threading.Timer(0.3, node.process.kill)
            killer.start()
            batch = 0
            while time.monotonic() < stop:
                fresh = [f"{life}.{batch}.{i}" for i in range(100)]
                gone = sorted(acknowledged)[:5]
                try:
                    body = "".join([*(f"+{k}\n" for k in fresh), *(f"-{k}\n" for k in gone)])
                    if node.ask("POST", "/keys", body.encode()).status != 200:
                        break
                except (OSError, http.client.HTTPException):
                    removed |= set(gone)  # perhaps
                    acknowledged -= removed
                    break
                acknowledged |= set(fresh)
                acknowledged -= set(gone)
                removed |= set(gone)
                batch += 1
            killer.join()
            node.kill()
            node.start()
            self.assertGreater(batch, 0)
            # The store has every key that was answered for, and the filter has what the store has.
            summary = self.write("s.posy", node.get("/summary").body)
            keys = self.write("keys.txt", "".join(k + "\n" for k in sorted(acknowledged)))
            self.assertEqual(int(posy("query", "-c", summary, keys)), len(acknowledged))
            for key in sorted(acknowledged)[::97]:
                self.assertEqual(node.ask("GET", "/keys/" + key).status, 204)
            self.assertEqual(self.info("s.posy")["items"], node.metric("posy_set_items"))
            self.assertGreaterEqual(node.metric("posy_set_items"), len(acknowledged))
        # When all is taken out again, the filter is empty: it never counted anything twice.
        everything = "".join(f"-{l}.{b}.{i}\n" for l in range(5) for b in range(400) for i in range(100))
        node.ask("POST", "/keys", everything.encode())
        self.assertEqual((node.metric("posy_set_items"), node.metric("posy_set_fill")), (0, 0))


class Hashes(Scratch):
    """Hash family, seed and a change of seed from time to time."""

    def summary(self, node, name="s.posy"):
        return self.info(name, node.get("/summary").body)

    def strangers(self, name, keys):
        return set(posy("query", self.path(name), keys).split())

    def test_family_and_seed(self):
        for family, seed in (("xxh3", 7), ("multiply-shift", 255), ("siphash", 0x123456789abcdef0fedcba9876543210), ("md5", 0)):
            with self.subTest(family):
                b = self.node("--hash", family, "--seed", hex(seed), "--items", "100", "--interval", "0.2")
                b.add(["here"])
                a = self.node("--peer", f"b={b.url}")
                until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 1)
                self.assertEqual([p["name"] for p in json.loads(a.get("/who?key=here").body)["peers"]], ["b"])
                self.assertEqual(json.loads(a.get("/who?key=gone").body)["peers"], [])
                facts = self.summary(b)
                self.assertEqual((facts["hash"], int(facts["seed"], 16)), (family, seed))

    def test_what_cannot_be_is_refused(self):
        for options, why in ((["--hash", "md5", "--seed", "1"], "md5 takes no seed"), (["--hash", "md5", "--rehash", "1h"], "--rehash"),
                             (["--seed", "0x10000000000000000"], "beyond 64 bits"), (["--hash", "crc"], "--hash"), (["--rehash", "soon"], "--rehash soon"),
                             (["--rehash", "9000d"], "366d"), (["--fpr", "0.000001", "--change-bits", "0.45"], "--change-bits below that, not 0.45"),
                             (["--change-bits", "0.001", "--change", "0.1"], "--change"), (["--seed", str(2**64)], "a number below 2^64"),
                             (["--peer-memory", "1000TiB"], "--peer-memory 1000TiB: this process may use"), (["--items", "some"], "--items")):
            done = subprocess.run([POSY, "node", "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2, options)
            self.assertIn(why, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_the_seed_of_a_day(self):
        seeds = [self.summary(self.node("--rehash", "1d", *options))["seed"] for options in ([], [], ["--seed", "1"], ["--hash", "siphash", "--seed", "0"])]
        # The day may change between two of them, and then only once.
        if seeds[0] != seeds[1]:
            seeds[0] = self.summary(self.node("--rehash", "1d"))["seed"]
        self.assertEqual(seeds[0], seeds[1])
        self.assertEqual(len(set(seeds)), 3)

    def test_no_key_stays_a_false_positive(self):
        node = self.node("--items", "100", "--fpr", "0.1", "--rehash", "1s")
        keys = [f"key{i}" for i in range(100)]
        node.add(keys)
        peer = self.node("--peer", f"n={node.url}")
        until(lambda: peer.metric('posy_peer_summary_items{peer="n"}') == 100, what="all keys at the peer")
        known = self.write("keys.txt", "".join(k + "\n" for k in keys))
        others = self.write("others.txt", "".join(f"other{i}\n" for i in range(4000)))
        false, seeds = None, set()
        while len(seeds) < 4:
            until(lambda: self.summary(node)["seed"] not in seeds, what="another seed")
            seeds.add(self.info("s.posy")["seed"])
            # Nobody is lost with a change of seed, here or at the peer, whose summary is replaced as a whole.
            self.assertEqual(int(posy("query", "-c", self.path("s.posy"), known)), 100)
            for key in keys[::9]:
                self.assertEqual(len(json.loads(peer.get("/who?key=" + key).body)["peers"]), 1)
            now = self.strangers("s.posy", others)
            self.assertLess(len(now), 800)  # 10 % of 4,000, and 20 standard deviations
            false = now if false is None else false & now
        # One of 10,000 is wrong four times: 0.4 of 4,000 expected, more than 12 once in 10^15 runs. With one seed it
        # were all of some 400.
        self.assertLessEqual(len(false), 12)
        self.assertGreaterEqual(node.metric("posy_set_rehashed_total"), 3)
        self.assertEqual(node.metric("posy_set_rebuilt_total"), 0)
        self.assertEqual(peer.metric('posy_peer_answers_total{peer="n",kind="dropped"}'), 0)

    def test_changes_during_changes_of_seed(self):
        node = self.node("--items", "64", "--rehash", "1s", "--change", "0.01")
        end = time.monotonic() + 3
        batch = 0
        while time.monotonic() < end:  # growing meanwhile, too
            node.add(f"{batch}.{i}" for i in range(50))
            node.ask("POST", "/keys", "".join(f"-{batch}.{i}\n" for i in range(25)).encode())
            batch += 1
        self.assertGreaterEqual(node.metric("posy_set_rehashed_total"), 2)
        self.assertEqual(node.metric("posy_set_items"), 25 * batch)
        until(lambda: self.summary(node)["items"] == 25 * batch, what="all of them in the summary")
        keys = self.write("keys.txt", "".join(f"{b}.{i}\n" for b in range(batch) for i in range(25, 50)))
        self.assertEqual(int(posy("query", "-c", self.path("s.posy"), keys)), 25 * batch)
        # Nothing was counted twice, or not at all: what is taken out leaves nothing behind.
        for b in range(batch):
            node.ask("POST", "/keys", "".join(f"-{b}.{i}\n" for i in range(25, 50)).encode())
        self.assertEqual((node.metric("posy_set_items"), node.metric("posy_set_fill")), (0, 0))


class ChangeOfBits(Scratch):
    def test_publishes_when_a_share_of_the_bits_has_changed(self):
        node = self.node("--items", "1000", "--change-bits", "0.001", "--interval", "3600")
        bits, hashes = node.metric("posy_set_bits"), node.metric("posy_set_hashes")
        first = node.get("/summary").headers["ETag"]
        for _ in range(100):  # what comes and goes again changes no bit, however often
            node.ask("PUT", "/keys/passing")
            node.ask("DELETE", "/keys/passing")
        self.assertEqual(node.get("/summary").headers["ETag"], first)
        node.add(f"key{i}" for i in range(500))
        for round_ in range(3):
            tag = node.get("/summary").headers["ETag"]
            count = 0
            while node.get("/summary", If_None_Match=tag).status == 304:
                node.ask("PUT", f"/keys/{round_}-{count}")
                count += 1
            delta = self.info("d.posy", node.get("/summary", If_None_Match=tag, **DELTA).body)
            self.assertGreaterEqual(delta["flips"], 0.001 * bits)
            self.assertLess(delta["flips"], 0.001 * bits + hashes)
            # A new key changes at most `hashes` bits, and hardly ever none: the array is sparse.
            if round_ > 0:  # the first began with what the 500 keys had left
                self.assertGreaterEqual(count * hashes, 0.001 * bits)
                self.assertLess(count * hashes, 0.0015 * bits)


class Peers(Scratch):
    def answers(self, node, kind, peer="p"):
        return node.metric(f'posy_peer_answers_total{{peer="{peer}",kind="{kind}"}}')

    def test_follow_each_other_by_long_poll(self):
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
        self.assertGreater(a.metric('posy_summary_sent_bytes_total{kind="framing"}'), 100)

    def test_goes_away_and_comes_back(self):
        b = self.node("--items", "1000", "--interval", "0.2")
        b.add(["here"])
        a = self.node("--peer", f"b={b.url}")
        until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 1)
        port = b.port
        b.kill()
        until(lambda: a.metric('posy_peer_up{peer="b"}') == 0, what="b found missing")
        # What it said last is still known, with its age.
        found = json.loads(a.get("/who?key=here").body)["peers"]
        self.assertEqual([(p["name"], p["up"]) for p in found], [("b", False)])
        until(lambda: self.answers(a, "failed", "b") >= 3, what="three attempts")
        again = self.node("--items", "1000", "--interval", "0.2", listen=f"127.0.0.1:{port}")
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
            self.assertIn("the peers stay as they are", a.log[-1])
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
        self.assertLess(time.monotonic() - start, 4)
        self.assertEqual(a.kill(signal.SIGINT), 0)


class Trust(Scratch):
    def test_beyond_this_machine_needs_a_token_or_a_network(self):
        for options in (["--listen", "0.0.0.0:0"], ["--listen", "[::]:0"], ["--listen", "127.0.0.1:0", "--listen", "0.0.0.0:0"]):
            done = subprocess.run([POSY, "node", *options], capture_output=True, text=True, timeout=30)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--token-file", done.stderr)
        self.write("token", "secret\n")
        self.node("--token-file", self.path("token"), listen="0.0.0.0:0")
        for role in ("peer", "client", "admin"):
            self.node(f"--allow-{role}", "10.0.0.0/8", listen="0.0.0.0:0")

    def elsewhere(self):
        """An address of this machine that is not the loopback."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.connect(("192.0.2.1", 9))
            except OSError:
                self.skipTest("this machine has no address but the loopback")
            address = s.getsockname()[0]
        if address.startswith("127."):
            self.skipTest("this machine has no address but the loopback")
        return address

    def test_token_and_network(self):
        address = self.elsewhere()
        self.write("token", "secret\n")

        def statuses(node, **headers):
            got = []
            with contextlib.closing(http.client.HTTPConnection(address, node.port, timeout=10)) as connection:
                for path in ("/healthz", "/summary", "/metrics", "/who?key=a", "/", "/squid-internal-periodic/store_digest"):
                    connection.request("GET", path, headers=headers)
                    answer = connection.getresponse()
                    answer.read()
                    got.append(answer.status)
            return got
        node = self.node("--token-file", self.path("token"), "--allow-admin", "loopback", listen="0.0.0.0:0")
        self.assertEqual(statuses(node), [200] + 5 * [401])
        self.assertEqual(statuses(node, Authorization="Bearer secreT"), [200] + 5 * [401])
        self.assertEqual(statuses(node, Authorization="Bearer secret2"), [200] + 5 * [401])
        self.assertEqual(statuses(node, Authorization="Bearer secret"), 6 * [200])
        self.assertEqual(node.metric('posy_refused_total{why="forbidden"}'), 15)
        other = f"{int(address.split('.')[0]) ^ 1}.0.0.0/8"
        self.assertEqual(statuses(self.node("--allow-admin", other, listen="0.0.0.0:0")), [200] + 5 * [403])
        self.assertEqual(statuses(self.node("--allow-admin", address + "/32", listen="0.0.0.0:0")), 6 * [200])
        # Nodes with the token follow each other, those without do not.
        follower = self.node("--token-file", self.path("token"), "--allow-admin", "loopback", "--peer", f"p=http://{address}:{node.port}")
        stranger = self.node("--peer", f"p=http://{address}:{node.port}")
        until(lambda: follower.metric('posy_peer_up{peer="p"}') == 1)
        until(lambda: stranger.metric('posy_peer_answers_total{peer="p",kind="dropped"}'))
        # Too many from one address, which this machine's loopback is exempt from.
        limited = self.node("--allow-client", address + "/32", "--max-rate", "3", listen="0.0.0.0:0")
        with self.assertRaises((http.client.HTTPException, OSError, AssertionError)):
            for _ in range(5):
                self.assertNotIn(429, statuses(limited))
        self.assertGreater(limited.metric('posy_refused_total{why="too_many"}'), 0)

    def openssl(self, *args):
        subprocess.run(["openssl", *args], cwd=self.dir, check=True, capture_output=True, timeout=60)

    def certificate(self, name, subject, authority):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr",
                     "-subj", "/CN=node")
        self.write(f"{name}.ext", f"subjectAltName={subject}\n")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial",
                     "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")

    def authority(self, name):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
                     "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")

    def test_tls_peers_are_checked(self):
        self.authority("ours")
        self.authority("theirs")
        self.certificate("good", "IP:127.0.0.1,DNS:localhost", "ours")
        self.certificate("misnamed", "DNS:elsewhere.example", "ours")
        self.certificate("foreign", "IP:127.0.0.1", "theirs")

        def secure(name):
            with socket.create_server(("127.0.0.1", 0)) as s:
                port = s.getsockname()[1]
            node = self.node("--listen-tls", f"127.0.0.1:{port}", "--tls-cert", self.path(f"{name}.pem"), "--tls-key", self.path(f"{name}.key"),
                             "--items", "100", "--interval", "0.2")
            node.add([name])
            return port
        good, misnamed, foreign = secure("good"), secure("misnamed"), secure("foreign")
        node = self.node("--tls-ca", self.path("ours.pem"), "--peer", f"good=https://127.0.0.1:{good}", "--peer", f"byname=https://localhost:{good}",
                         "--peer", f"misnamed=https://127.0.0.1:{misnamed}", "--peer", f"foreign=https://127.0.0.1:{foreign}")
        for name in ("good", "byname"):
            until(lambda: node.metric(f'posy_peer_summary_items{{peer="{name}"}}') == 1, what=name)
        for name in ("misnamed", "foreign"):
            until(lambda: node.metric(f'posy_peer_answers_total{{peer="{name}",kind="failed"}}') >= 2, what=name)
            self.assertEqual(node.metric(f'posy_peer_up{{peer="{name}"}}'), 0)
            self.assertIsNone(node.metric(f'posy_peer_summary_items{{peer="{name}"}}'))
        # Old TLS is not spoken.
        context = ssl.create_default_context(cafile=self.path("ours.pem"))
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        with socket.create_connection(("127.0.0.1", good)) as plain, context.wrap_socket(plain, server_hostname="localhost") as s:
            self.assertIn(s.version(), ("TLSv1.2", "TLSv1.3"))
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", good)) as plain, self.assertRaises(ssl.SSLError):
            old.wrap_socket(plain)
        done = subprocess.run([POSY, "node", "--listen-tls", "127.0.0.1:0"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--tls-cert", done.stderr)


class Squid(Scratch):
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
        with socket.create_connection(("127.0.0.1", node.port), timeout=10) as s:
            s.sendall(f"GET http://127.0.0.1:{node.port}{self.PATH} HTTP/1.1\r\nHost: 127.0.0.1:{node.port}\r\n\r\n".encode())
            parts, size = [], 0
            while size < len(answer.body):
                parts.append(s.recv(1 << 20))
                size += len(parts[-1]) - (len(parts[-1]) if len(parts) == 1 else 0)
        self.assertEqual([len(p) for p in parts[1:]], [128, 200])
        self.assertTrue(parts[0].endswith(b"\r\n\r\n"))
        self.assertEqual(parts[1] + parts[2], answer.body)
        self.assertEqual(node.ask("GET", f"http://127.0.0.1:1{self.PATH}").status, 400)

    def test_squid_as_a_peer(self):
        with open(os.path.join(SOURCE, "testdata/squid/digest.bin"), "rb") as f:
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
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
