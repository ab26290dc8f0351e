"""Keys that collide on purpose: node and proxy as they are, the tool with its keyed hash, and what stays of them.

Usage: collide_test.py POSY [unittest arguments]; collide_times.py has the exact times.
"""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, NodeTest  # noqa: E402
from colliding_keys import CollidingKeys  # noqa: E402
from daemons import Proxy  # noqa: E402
from waiting import until  # noqa: E402

MANY = 10_000


def plain_keys(count, prefix="http://h/"):
    """As long as those that collide, and nothing else."""
    return [f"{prefix}{i:08}".ljust(300, "x") for i in range(count)]


class Files(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def write(self, name, keys):
        with open(os.path.join(self.dir, name), "w", encoding="ascii") as f:
            f.writelines(key + "\n" for key in keys)
        return name

    def run_posy(self, *args):
        return subprocess.run([POSY, *args], cwd=self.dir, capture_output=True, text=True, timeout=120)

    def posy(self, *args, status=0):
        done = self.run_posy(*args)
        self.assertEqual(done.returncode, status, f"{args}: {done.stderr[:2000]}")
        return done.stdout


class Tool(Files):
    def setUp(self):
        super().setUp()
        self.keys = CollidingKeys("http://h/")
        self.write("a.txt", self.keys.first(MANY))
        self.write("b.txt", self.keys.first(MANY, 500))

    def test_absent_keys_are_found_at_the_promised_rate(self):
        self.write("absent.txt", self.keys.first(20_000, MANY))
        self.posy("build", "--fpr", "1e-9", "a.txt", "-o", "public.posy")
        self.assertEqual(len(self.posy("query", "public.posy", "absent.txt").splitlines()), 20_000)
        self.posy("build", "--hash", "siphash", "--fpr", "1e-9", "a.txt", "-o", "keyed.posy")
        self.assertEqual(len(self.posy("query", "keyed.posy", "a.txt").splitlines()), MANY)
        # One false positive in 50,000 runs.
        self.assertEqual(self.posy("query", "keyed.posy", "absent.txt", status=1), "")

    def test_counts_are_of_keys(self):
        self.write("often.txt", self.keys.first(2_000) * 3 + self.keys.first(1_000, 2_000))
        counted = [line.split(None, 1) for line in
                   self.posy("count", "--hash", "siphash", "--top", "5000", "--memory", "8MiB", "often.txt").splitlines()]
        self.assertEqual({key: int(count) for count, key in counted},
                         {key: 3 if i < 2_000 else 1 for i, key in enumerate(self.keys.first(3_000))})
        self.assertEqual(len(self.posy("count", "--top", "5000", "often.txt").splitlines()), 1)

    def test_reconciliation_tells_them_apart(self):
        expected = sorted(["< " + key for key in self.keys.first(500)] +
                          ["> " + key for key in self.keys.first(500, MANY)])
        remote = ["--", POSY, "reconcile", "--remote", "b.txt"]
        for args in [["b.txt"], ["b.txt", "--hash", "siphash"], ["b.txt", "--digest-bits", "128"], remote,
                     ["--hash", "siphash", *remote], ["--hash", "siphash", *remote, "--hash", "siphash"],
                     ["--seed", "1", *remote]]:
            self.assertEqual(sorted(self.posy("reconcile", "a.txt", *args).splitlines()), expected, args)
        self.posy("reconcile", "a.txt", "a.txt", status=1)

    def test_a_hash_that_is_told_to_be_public_is_refused_where_it_shows(self):
        for args in [["a.txt", "b.txt"], ["b.txt", "--", POSY, "reconcile", "--remote", "a.txt"]]:
            done = self.run_posy("reconcile", "--hash", "xxh3", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("two keys have one digest under xxh3", done.stderr)
            self.assertIn("leave out --hash and --seed", done.stderr)

    def test_integers_that_are_written_twice_do_not_collide(self):
        self.write("numbers", ["7", "007", "8"])
        self.write("others", ["7"])
        self.assertEqual(self.posy("reconcile", "--integers", "numbers", "others"), "< 8\n")

    def test_a_seed_from_a_file(self):
        self.write("seed", ["0x0123456789abcdef0123456789abcdef"])
        for to, *seed in [("1", "--seed-file", "seed"), ("2", "--seed", "0x0123456789abcdef0123456789abcdef")]:
            self.posy("build", "--hash", "siphash", *seed, "a.txt", "-o", to)
        with open(os.path.join(self.dir, "1"), "rb") as one, open(os.path.join(self.dir, "2"), "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.write("bad", ["secret-but-wrong"])
        self.write("empty", [])
        self.write("two", ["1", "2"])
        for name, why in [("bad", "--seed-file bad: give a number"), ("empty", "--seed-file empty: the file is empty"),
                          ("none", "--seed-file none: cannot be opened"), ("two", "--seed-file two: it has more than one word")]:
            done = self.run_posy("build", "--seed-file", name, "a.txt", "-o", "3")
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)
            self.assertNotIn("secret-but-wrong", done.stderr)
        self.assertEqual(self.run_posy("build", "--seed-file", "seed", "--seed", "1", "a.txt", "-o", "3").returncode, 2)

    def test_the_help_says_when_to_use_it(self):
        for command in "build count seen seal pack reconcile node proxy".split():
            text = " ".join(self.posy(command, "--help").split())
            self.assertIn("choose siphash if attackers may choose keys", text, command)


class Nodes(NodeTest, Files):
    def found_in_summary(self, node, keys):
        with open(os.path.join(self.dir, "summary"), "wb") as f:
            f.write(node.get("/summary").body)
        self.write("keys", keys)
        return set(self.run_posy("query", "summary", "keys").stdout.splitlines())

    # What a rebuild does not count, a removal takes away: a false negative.
    def test_a_key_outlives_its_double_after_a_rebuild(self):
        keys = CollidingKeys("http://h/").first(3)
        node = self.node("--interval", "0.1", "--fpr", "0.000001", "--items", "64")
        node.add(keys + plain_keys(200))
        until(lambda: node.metric("posy_set_rebuilt_total") > 0, what="a larger filter")
        self.assertEqual(node.metric("posy_set_items"), 203)
        for gone in keys[:2]:
            self.assertEqual(node.ask("DELETE", "/keys/" + urllib.parse.quote(gone, safe="")).status, 204)
        self.assertEqual(node.metric("posy_set_items"), 201)
        node.add(["last"])
        until(lambda: self.found_in_summary(node, ["last"]), what="a summary of what is left")
        left = {keys[2], *plain_keys(200)}
        self.assertEqual(self.found_in_summary(node, left), left)

    def test_ten_thousand_are_kept_apart(self):
        keys = CollidingKeys("http://h/").first(MANY)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for data in [[], ["--data", folder]]:
                seconds = {}
                for name, added in ("plain", plain_keys(MANY)), ("colliding", keys):
                    node = self.node("--interval", "0.1", *(data if name == "colliding" else []))
                    begin = time.monotonic()
                    node.add(added)
                    lines = "".join(f"-{key}\n" for key in added[::2])
                    self.assertIn(b'"removed":5000', node.ask("POST", "/keys", lines.encode()).body)
                    seconds[name] = time.monotonic() - begin
                    for i in range(0, MANY, 211):
                        status = node.get("/have?key=" + urllib.parse.quote(added[i], safe="")).status
                        self.assertEqual(status, 204 if i % 2 else 404, i)
                    self.assertEqual(node.metric("posy_set_items"), MANY / 2)
                self.assertLess(seconds["colliding"], 10 * seconds["plain"] + 1)

    def test_peers_with_a_secret_hash_do_not_take_absent_keys_for_members(self):
        keys = CollidingKeys("http://h/").first(400)
        self.write("seed", ["0xfeedfacecafebeef0123456789abcdef"])
        keyed = ["--hash", "siphash", "--seed-file", os.path.join(self.dir, "seed")]
        for options, absent in ([], 200), (keyed, 0):
            holder = self.node("--interval", "0.1", "--fpr", "0.000001", *options)
            holder.add(keys[:200])
            asked = self.node("--peer", f"holder={holder.url}", *options)

            def named(key):
                return b"holder" in asked.get("/who?key=" + urllib.parse.quote(key, safe="")).body.split(b'"peers"')[1]
            until(lambda: all(map(named, keys[:200])), what="a summary of all keys")
            self.assertEqual(sum(map(named, keys[200:])), absent)


class QuickOrigin:
    """Answers every GET at once, with the last letters of its target, on connections that stay."""

    def __init__(self):
        self.server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    @staticmethod
    def _serve(client):
        rest = b""
        with client:
            while piece := client.recv(65536):
                *heads, rest = (rest + piece).split(b"\r\n\r\n")
                for head in heads:
                    body = body_of(head.split(None, 2)[1])
                    client.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: %d\r\n\r\n%s"
                                   % (len(body), body))

    def close(self):
        self.server.close()


def body_of(target):
    """Of a path or URL: all that is different in ours."""
    return target[target.rindex(b"/"):]


def ask_all(port, urls):
    """Every URL once, in turn, on one connection; the bodies and what Cache-Status says of them."""
    bodies, hits = [], 0
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s, s.makefile("rb") as lines:
        for url in urls:
            host = url.split("/")[2]
            s.sendall(f"GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            length = None
            while (line := lines.readline()) != b"\r\n":
                if not line:
                    raise AssertionError("the proxy has gone")
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split()[1])
                hits += line.lower().startswith(b"cache-status:") and b"; hit" in line
            bodies.append(lines.read(length))
    return bodies, hits


class Proxies(unittest.TestCase):
    def test_ten_thousand_urls(self):
        origin = QuickOrigin()
        self.addCleanup(origin.close)
        seconds = {}
        for name, urls in (("plain", plain_keys(MANY, origin.url)),
                           ("colliding", CollidingKeys(origin.url).first(MANY))):
            proxy = Proxy(POSY)
            try:
                begin = time.monotonic()
                for expected_hits in (0, MANY):
                    bodies, hits = ask_all(proxy.port, urls)
                    self.assertEqual(hits, expected_hits)
                    self.assertEqual(bodies, [body_of(url.encode()) for url in urls])
                seconds[name] = time.monotonic() - begin
                self.assertEqual(proxy.metrics()["posy_set_items"], MANY)
            finally:
                proxy.close()
        self.assertLess(seconds["colliding"], 10 * seconds["plain"] + 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
