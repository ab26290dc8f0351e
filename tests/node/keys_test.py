"""The keys of a node: changed one by one and many at once, kept, and asked for.

Usage: keys_test.py POSY [unittest arguments]
"""
import http.client
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import ScratchTest, posy  # noqa: E402
from daemons import exchange  # noqa: E402
from waiting import until  # noqa: E402


class Keys(ScratchTest):
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
            killer = threading.Timer(0.3, node.process.kill)
            batch = 0
            while True:
                if batch == 1:
                    killer.start()
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
