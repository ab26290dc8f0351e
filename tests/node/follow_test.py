"""Filters kept current: posy follow against real nodes, a plain web server, and servers that lie.

Usage: follow_test.py POSY [unittest arguments]
"""
import os
import re
import signal
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import posy  # noqa: E402
from origins import response  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402
from followers import FollowTest  # noqa: E402


class Follow(FollowTest):
    def test_a_node_by_deltas(self):
        node = self.node("--items", "1000", "--change", "0.01")
        node.add(f"key{i}" for i in range(500))
        copy = self.path("copy.posy")
        follower = self.follow(node.url + "/summary", "-o", copy)
        until(lambda: self.same_bits("copy.posy", node))
        broken, done = [], threading.Event()

        def look():  # the file is whole at every moment
            while not done.is_set():
                if posy("query", "-c", copy, input="key1\nkey2\n").strip() != "2":
                    broken.append(1)
        looking = threading.Thread(target=look)
        looking.start()
        for round_ in range(5):
            node.add(f"{round_} {i}" for i in range(20))
            node.ask("DELETE", f"/keys/key{400 + round_}")
            until(lambda: self.same_bits("copy.posy", node), 10, "the news")
        done.set()
        looking.join()
        self.assertEqual(broken, [])
        sizes = [re.search(r"(a delta|the whole) of (\d+) bytes", line).groups() for line in follower.log]
        self.assertEqual(sizes[0][0], "the whole")
        self.assertGreaterEqual(len(sizes), 6)
        self.assertEqual({kind for kind, _ in sizes[1:]}, {"a delta"})
        self.assertLess(max(int(size) for _, size in sizes[1:]), int(sizes[0][1]) / 4)
        self.assertEqual(follower.end(), 0)
        # From where it stopped: a question with the generation of the file, and a delta.
        node.add(f"late {i}" for i in range(20))
        again = self.follow("--once", node.url + "/summary", "-o", copy)
        self.assertEqual(again.process.wait(20), 0)
        again.says("a delta of")
        self.assertTrue(self.same_bits("copy.posy", node))
        before = self.read("copy.posy")
        self.assertEqual(posy("follow", "--once", "-q", node.url + "/summary", "-o", copy), "")
        self.assertEqual(self.read("copy.posy"), before)
        self.assertEqual(os.listdir(self.dir), ["copy.posy"])

    def test_answers_from_the_newest(self):
        node = self.node("--items", "1000", "--change", "0.001")
        node.add(["first", "gone soon"])
        follower = self.follow("--query", node.url + "/summary")
        self.assertEqual([follower.ask(k) for k in ("first", "second", "gone soon", "")], ["yes", "no", "yes", "no"])
        node.add(["second"])
        until(lambda: follower.ask("second") == "yes", what="the second")
        node.ask("DELETE", "/keys/gone%20soon")
        until(lambda: follower.ask("gone soon") == "no", what="it gone")
        # The end of the keys is the end, and the last of them may lack its newline.
        out, _ = follower.process.communicate("third\nfirst", timeout=20)
        self.assertEqual((out, follower.process.returncode), ("no\tthird\nyes\tfirst\n", 0))
        keys = self.write("keys", "a\nfirst\n" * 50_000)
        with open(keys) as f:
            self.assertEqual(posy("follow", "-q", "--query", node.url + "/summary", stdin=f), "no\ta\nyes\tfirst\n" * 50_000)
        self.assertEqual(posy("follow", "-q", "--query", node.url + "/summary", input="a\n", status=1), "no\ta\n")
        asleep = self.follow("--query", node.url + "/summary")
        asleep.ask("first")
        start = time.monotonic()
        self.assertEqual(asleep.end(signal.SIGINT), 0)
        self.assertLess(time.monotonic() - start, 5)

    def test_through_restarts_of_the_server(self):
        at = f"127.0.0.1:{free_port()}"
        node = self.node("--items", "1000", "--change", "0.001", "--data", self.path("keys"), listen=at)
        node.add(["one"])
        follower = self.follow("--query", f"http://{at}/summary", "-o", self.path("copy.posy"))
        self.assertEqual(follower.ask("one"), "yes")
        for how, key in ((signal.SIGKILL, "two"), (signal.SIGTERM, "three")):
            node.kill(how)
            self.assertEqual(follower.ask("one"), "yes")
            self.assertEqual(follower.ask(key), "no")
            node.start()
            node.add([key])
            until(lambda: follower.ask(key) == "yes", 30, key)
            until(lambda: self.same_bits("copy.posy", node))
        # One that starts while the server is away works with what the file has, and catches up.
        node.kill()
        self.assertEqual(follower.end(), 0)
        follower = self.follow("--query", f"http://{at}/summary", "-o", self.path("copy.posy"))
        self.assertEqual(follower.ask("three"), "yes")
        follower.says("refused; what is here stays in use")
        node.start()
        node.add(["four"])
        until(lambda: follower.ask("four") == "yes", 30, "four")
        follower.says("answers again")

    def test_changes_of_hashes(self):
        node = self.node("--items", "100", "--change", "0.01", "--rehash", "1s")
        node.add(map(str, range(50)))
        follower = self.follow("--query", node.url + "/summary", "-o", self.path("copy.posy"))
        seeds = set()

        def three():
            self.assertEqual({follower.ask(str(i)) for i in range(50)}, {"yes"})
            seeds.add(self.info("copy.posy")["seed"])
            return len(seeds) >= 3
        until(three, 30, "three seeds")

    def test_a_file_on_a_web_server(self):
        self.build("f.posy", ["one"], "--items", "100")
        two_seconds_ago = time.time() - 2
        os.utime(self.path("f.posy"), (two_seconds_ago, two_seconds_ago))
        web, log = self.web_server()
        follower = self.follow("--query", "--poll", "0.1", web + "/f.posy", "-o", self.path("copy.posy"))
        self.assertEqual([follower.ask("one"), follower.ask("two")], ["yes", "no"])
        until(lambda: sum('" 304 ' in line for line in log) >= 3, what="questions answered by nothing new")
        self.assertEqual(len(follower.log), 1)
        # The same size, and no generation: it is news because the bits are others.
        self.build("f.posy", ["one", "two"], "--items", "100")
        until(lambda: follower.ask("two") == "yes")
        # Twice within a second, whose time does not tell them apart.
        self.build("f.posy", ["three"], "--items", "100")
        until(lambda: follower.ask("three") == "yes")
        self.assertEqual(follower.ask("two"), "no")
        until(lambda: self.info("copy.posy")["bits_checksum"] == self.info("f.posy")["bits_checksum"])
        os.remove(self.path("f.posy"))
        follower.says("404")
        self.assertEqual(follower.ask("three"), "yes")
        self.build("f.posy", ["four"], "--items", "5000")  # of another shape
        until(lambda: follower.ask("four") == "yes", 30)
        self.assertEqual(follower.ask("three"), "no")

    def test_lies_change_nothing(self):
        def made(*keys):
            node = self.node("--items", "100", "--change", "0.01")
            node.add([*keys, *map(str, range(90))])
            answer = node.get("/summary")
            return answer.body, answer.headers["ETag"], node
        good, tag, node = made("one")
        node.add(["two"])
        delta = node.get("/summary", If_None_Match=tag, A_IM="posy-delta")
        newer = node.get("/summary")
        _, other_tag, other_node = made("other")
        other_node.add(["more"])
        foreign = other_node.get("/summary", If_None_Match=other_tag, A_IM="posy-delta")
        self.assertEqual((delta.status, foreign.status), (226, 226))
        posy("seal", "-o", self.path("sealed.posy"), input="a\n")
        lies = [response(b"garbage"), response(good[:-3]), response(b"", "404 Not Found"), response(b"x" * 200_000), response(self.read("sealed.posy")),
                response(foreign.body, "226 IM Used", ETag=foreign.headers["ETag"]), response(good + good), response(b"nothing", "226 IM Used"),
                response(good)[:-5], b"HTTP/9.9 what\r\n\r\n"]
        told, stage = [], threading.Event()

        def answer(head):
            if stage.is_set():
                up_to_date = f"If-None-Match: {newer.headers['ETag']}\r\n" in head
                return response(b"", "304 Not Modified") if up_to_date else response(newer.body, ETag=newer.headers["ETag"])
            if not any(told):
                told.append("the truth")
                return response(good, ETag=tag)
            told.append("a lie")
            return lies[(len(told) - 2) % len(lies)]
        server = self.server(answer)
        options = ["--query", "--max-size", "100KiB", "--timeout", "0.5", "--wait", "1"]
        follower = self.follow(*options, server.url + "/summary", "-o", self.path("copy.posy"))
        self.assertEqual([follower.ask("one"), follower.ask("two")], ["yes", "no"])
        copy = self.read("copy.posy")
        until(lambda: len(told) >= 5, 60, "some lies")
        self.assertEqual([follower.ask("one"), follower.ask("two"), follower.ask("other")], ["yes", "no", "no"])
        self.assertEqual(self.read("copy.posy"), copy)
        self.assertEqual(sum("stays in use" in line for line in follower.log), 1)  # once, not with every lie
        stage.set()
        until(lambda: follower.ask("two") == "yes", 40, "the truth again")
        # Each lie alone, as the second answer: said, and nothing lost.
        for lie in lies:
            count = [0]

            def once(head, count=count, lie=lie):
                count[0] += 1
                return response(good, ETag=tag) if count[0] == 1 else lie
            server = self.server(once)
            follower = self.follow(*options, server.url + "/summary", "-o", self.path("second.posy"))
            follower.says("stays in use")
            self.assertEqual([follower.ask("one"), follower.ask("two")], ["yes", "no"], lie[:40])
            follower.end()
            os.remove(self.path("second.posy"))

    def test_a_delta_that_does_not_fit_is_followed_by_the_whole(self):
        node = self.node("--items", "100", "--change", "0.01")
        node.add(["one", *map(str, range(90))])
        first = node.get("/summary")
        node.add(["two"])
        second = node.get("/summary", If_None_Match=first.headers["ETag"], A_IM="posy-delta")
        node.add(["three"])
        third = node.get("/summary", If_None_Match=second.headers["ETag"], A_IM="posy-delta")
        self.assertEqual((second.status, third.status), (226, 226))
        whole = node.get("/summary")
        asked = []

        def answer(head):
            asked.append(any(line.startswith("If-None-Match") for line in head))
            if len(asked) == 1:
                return response(first.body, ETag=first.headers["ETag"])
            if len(asked) == 2:  # the second was lost
                return response(third.body, "226 IM Used", ETag=third.headers["ETag"], IM="posy-delta")
            return response(b"", "304 Not Modified") if asked[-1] else response(whole.body, ETag=whole.headers["ETag"])
        server = self.server(answer)
        follower = self.follow("--query", server.url + "/summary")
        until(lambda: follower.ask("three") == "yes")
        self.assertEqual(asked[:3], [False, True, False])

    def test_a_first_question_in_vain_is_an_error(self):
        server = self.server(lambda head: response(b"", "404 Not Found"))
        for args, why in (([server.url + "/x", "-o", self.path("c")], "404"), ([server.url + "/x", "--query"], "404"),
                          (["http://127.0.0.1:1/", "--query"], "refused"), (["file.posy", "-o", self.path("c")], "needs a URL"),
                          ([server.url], "-o"), ([server.url, "-o", "-"], "-o"), ([server.url, "-o", self.path("no/such/folder")], "no/such/folder"),
                          ([server.url, "--once", "--query"], "--once")):
            self.assertIn(why, posy("follow", *args, status=2, input=""))
        self.assertEqual(os.listdir(self.dir), [])
        # What is somebody's own is not overwritten.
        node = self.node()
        for content in (b"my diary\n", b""):
            self.write("mine", content)
            self.assertIn("name another file", posy("follow", "--once", node.url + "/summary", "-o", self.path("mine"), status=2))
            self.assertEqual(self.read("mine"), content)
        posy("seal", "-o", self.path("sealed"), input="a\n")
        self.assertIn("name another file", posy("follow", "--once", node.url + "/summary", "-o", self.path("sealed"), status=2))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
