"""POST /check: filters of every kind, lists of passwords, limits, roles, and nothing of a body in logs or memory.

Usage: check_test.py POSY [unittest arguments]
"""
import json
import os
import signal
import ssl
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, ScratchTest, posy  # noqa: E402
from cores import leaves_core  # noqa: E402
from daemons import Node, exchange  # noqa: E402
from waiting import until  # noqa: E402


class Check(ScratchTest):
    def seal(self, *passwords, name="list.posy"):
        self.write("leaked.txt", "".join(p + "\n" for p in passwords))
        posy("password", "seal", self.path("leaked.txt"), "-o", self.path(name + "~"))
        os.rename(self.path(name + "~"), self.path(name))
        return self.path(name)

    def check(self, node, body, status=200, **headers):
        answer = node.ask("POST", "/check", body if isinstance(body, bytes) else body.encode(), headers)
        self.assertEqual(answer.status, status, answer.body)
        return json.loads(answer.body) if status == 200 else answer.body.decode()

    def test_filters_of_every_kind(self):
        keys = self.write("keys.txt", "".join(f"key {i}\n" for i in range(1000)))
        self.write("map.csv", "".join(f"key {i},{i}\n" for i in range(1000)))
        made = {"plain": ("build", "--fpr", "1e-6"), "counting": ("build", "--counting", "--fpr", "1e-6"), "growing": ("build", "--growing", "--fpr", "1e-6"),
                "sealed": ("seal", "--fpr", "1e-6")}
        for name, options in made.items():
            posy(*options, keys, "-o", self.path(name))
        posy("pack", "--queryable", "small", self.path("plain"), "-o", self.path("compressed"))
        for name in (*made, "compressed"):
            node = self.node("--check-list", self.path(name))
            self.assertEqual(self.check(node, "key 7\nnobody\r\nkey 999\r\nkey 1000"), {"may_contain": [True, False, True, False]}, name)
            self.assertEqual(self.check(node, ""), {"may_contain": []})
            self.assertEqual((node.metric('posy_checked_total{answer="yes"}'), node.metric('posy_checked_total{answer="no"}')), (2, 2))
            node.kill()
        posy("seal", self.path("map.csv"), "--values", "--fpr", "1e-6", "-o", self.path("map"))
        node = self.node("--check-list", self.path("map"))
        self.assertEqual(self.check(node, "key 7\nnobody\nkey 0\n"), {"values": [7, None, 0]})
        self.assertEqual(self.check(node, "x" * 65536), {"values": [None]})
        self.assertIn("at most 64 KiB", self.check(node, "x" * 65537, status=413))

    def test_passwords(self):
        node = self.node("--check-list", self.seal("password", "letmein"))
        for body, refused, why in (("password", True, "listed"), ("password\n", True, "listed"), ("passw0rd\r\n", True, "near"), ("", True, "empty"),
                                   ("correct horse", False, "ok"), ("y" * 128, False, "ok")):
            self.assertEqual(self.check(node, body), {"refused": refused, "why": why}, body)
        self.assertIn("one password per request", self.check(node, "password\nletmein\n", status=400))
        self.check(node, "y" * 129, status=413)
        self.check(node, "y" * 5000, status=413)
        self.assertEqual((node.metric('posy_checked_total{answer="yes"}'), node.metric('posy_checked_total{answer="no"}')), (4, 2))
        answer = node.ask("POST", "/check", b"password")
        self.assertEqual(answer.headers["Cache-Control"], "no-store")

    def test_a_password_comes_bare(self):
        node = self.node("--check-list", self.seal("password", "letmein"))
        form = "application/x-www-form-urlencoded"  # what curl calls every body
        for kind, body in (("application/json", '{"password": "letmein"}'), (form, "password=letmein"), ("multipart/form-data; boundary=x", "--x\n")):
            self.assertIn("bare password", self.check(node, body, status=415, **{"Content-Type": kind}))
        for body, why in (("letmein", "listed"), ("a=b&c", "ok")):
            self.assertEqual(self.check(node, body, **{"Content-Type": form})["why"], why)
        answer = node.ask("GET", "/check")
        self.assertEqual((answer.status, answer.headers["Allow"]), (405, "POST"))
        self.assertIn(b"POST", answer.body)

    def test_who_may_ask(self):
        self.write("token", "s3cret")
        node = self.node("--check-list", self.seal("password"), "--token-file", self.path("token"))
        self.check(node, "password", status=401)
        self.check(node, "password", Authorization="Bearer s3cret")
        node = self.node("--check-list", self.path("list.posy"), "--allow-admin", "10.9.9.9", "--allow-peer", "loopback")
        self.check(node, "password", status=403)  # a peer is no client
        node = self.node("--check-list", self.path("list.posy"), "--allow-admin", "10.9.9.9", "--allow-client", "loopback")
        self.check(node, "password")
        self.check(node, "password", status=403, Origin="http://evil.example")
        self.assertEqual(node.get("/check").status, 405)  # there is nothing to read
        plain = self.node()
        self.assertIn("--check-list names one", self.check(plain, "password", status=404))

    def test_over_tls(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", self.path("pem"), "-out", self.path("crt")], check=True, capture_output=True)
        with open(self.path("pem"), "ab") as both:
            both.write(self.read("crt"))
        node = self.node("--listen-tls", "127.0.0.1:0", "--tls-cert", self.path("pem"), "--check-list", self.seal("password"), listen=None)
        import http.client
        trusted = ssl.create_default_context(cafile=self.path("crt"))
        connection = http.client.HTTPSConnection("localhost", node.port, context=trusted, timeout=30)
        self.addCleanup(connection.close)
        connection.request("POST", "/check", b"passwor")
        self.assertEqual(json.loads(connection.getresponse().read()), {"refused": True, "why": "near"})

    def test_read_again(self):
        node = self.node("--check-list", self.seal("first"))
        self.assertTrue(self.check(node, "first")["refused"])
        self.seal("second")
        node.process.send_signal(signal.SIGHUP)
        until(lambda: self.check(node, "second")["refused"])
        self.assertFalse(self.check(node, "first")["refused"])
        self.write("list.posy", b"not a filter")
        node.process.send_signal(signal.SIGHUP)
        until(lambda: any("all settings stay as they were" in line for line in node.log))
        self.assertTrue(self.check(node, "second")["refused"])

    def test_a_file_that_is_overwritten_in_place(self):
        leaked = [f"password {i}" for i in range(20000)]  # more than a page
        node = self.node("--check-list", self.seal(*leaked, name="passwords"))
        with open(self.path("passwords"), "r+b") as live:  # cp and dd write into the file that is there
            live.write(bytes(os.fstat(live.fileno()).st_size))
        self.assertEqual({self.check(node, each)["why"] for each in leaked[::1000]}, {"listed"})
        os.truncate(self.path("passwords"), 10)
        self.assertEqual({self.check(node, each)["why"] for each in leaked[::1000]}, {"listed"})
        node.process.send_signal(signal.SIGHUP)
        until(lambda: any("all settings stay as they were" in line for line in node.log))
        self.assertEqual(self.check(node, leaked[7]), {"refused": True, "why": "listed"})

    def test_the_form_of_answers_stays(self):
        node = self.node("--check-list", self.seal("letmein"))
        posy("seal", self.write("keys.txt", "letmein\n"), "--fpr", "1e-7", "-o", self.path("list.posy"))
        node.process.send_signal(signal.SIGHUP)
        until(lambda: any('answered with "may_contain" instead of "refused"' in line and "all settings stay as they were" in line for line in node.log))
        self.assertEqual(self.check(node, "letmein"), {"refused": True, "why": "listed"})
        self.seal("trustno1")  # the next good one is taken
        node.process.send_signal(signal.SIGHUP)
        until(lambda: self.check(node, "trustno1")["refused"])

    def test_files_that_cannot_be_asked(self):
        self.write("keys.txt", "a\nb\n")
        posy("count", self.path("keys.txt"), "--top", "0", "-o", self.path("sketch"))
        for name, saying in (("sketch", "it cannot be asked for keys: a message of kind sketch"), ("nothing", "No such file"), ("keys.txt", "at byte 0")):
            said = posy("node", "--listen", "127.0.0.1:0", "--check-list", self.path(name), status=2)
            self.assertIn(saying, said)
            self.assertIn("--check-list " + self.path(name), said)

    def test_a_crash_leaves_no_core(self):
        node = Node(POSY, "--check-list", self.seal("password"))
        self.addCleanup(node.kill)
        self.check(node, "password")
        self.assertFalse(leaves_core(node.process))

    def test_nothing_stays_behind(self):
        node = self.node("--check-list", self.seal("password"))
        secret = b"the first bytes of freed memory are overwritten; look for what follows them"
        self.check(node, secret)
        got, _ = exchange(node.port, b"POST /check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 300\r\n\r\n" + secret * 4)
        self.assertIn(b" 413 ", got)
        for i in range(50):  # the next requests are read into the same buffers
            self.check(node, b"y" * 128)
        self.assertNotIn(secret.decode(), "".join(node.log) + node.get("/metrics").body.decode() + node.get("/history").body.decode())
        if os.getuid() != 0:  # others may not look
            return
        found = 0
        with open(f"/proc/{node.process.pid}/maps") as maps, open(f"/proc/{node.process.pid}/mem", "rb", 0) as memory:
            for line in maps:
                start, end = (int(x, 16) for x in line.split()[0].split("-"))
                if "rw" not in line.split()[1]:
                    continue
                memory.seek(start)
                try:
                    held = memory.read(end - start)
                    found += held.count(secret[20:45]) + held.count(secret[-25:])
                except OSError:
                    pass
        self.assertEqual(found, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
