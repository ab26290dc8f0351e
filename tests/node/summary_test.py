"""What a node publishes: whole, delta, unchanged, and when there is something new.

Usage: summary_test.py POSY [unittest arguments]
"""
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import ScratchTest, posy  # noqa: E402
from waiting import until  # noqa: E402

DELTA = {"A_IM": "posy-delta"}


class Summary(ScratchTest):
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
        self.assertEqual(node.get("/summary", If_None_Match=tag, Prefer="wait=0").status, 304)
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


class ChangeOfBits(ScratchTest):
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
