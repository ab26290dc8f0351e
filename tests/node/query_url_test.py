"""Filters asked at a URL: posy query against real nodes, a plain web server, and servers that lie.

Usage: query_url_test.py POSY [unittest arguments]
"""
import json
import os
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import posy  # noqa: E402
from followers import FollowTest  # noqa: E402
from origins import response  # noqa: E402
from ports import free_port  # noqa: E402


class Query(FollowTest):
    def test_a_node_and_a_file(self):
        node = self.node("--items", "1000", "--change", "0.001")
        node.add(["a key", "another"])
        url = node.url + "/summary"
        self.assertEqual(posy("query", url, input="a key\nno key\nanother\n"), "a key\nanother\n")
        self.assertEqual(posy("query", "-v", url, input="a key\nno key\nanother\n"), "no key\n")
        self.assertEqual(posy("query", url, input="no key\n", status=1), "")
        self.assertEqual(json.loads(posy("query", "--json", url, self.write("keys", "a key\nx\n")))["may_be_present"], 1)
        self.assertEqual(self.summary_of(node)["items"], 2)
        # Whatever the tool can query is queried, from any web server; other commands read URLs, too.
        self.build("grown.posy", ["a key", "b"], "--growing")
        self.build("plain.posy", ["a key", "b"], "--items", "100")
        posy("seal", "-o", self.path("sealed.posy"), input="a key\nb\n")
        web, _ = self.web_server()
        for name in ("grown", "plain", "sealed"):
            self.assertEqual(posy("query", f"{web}/{name}.posy", input="a key\nno key\n"), "a key\n", name)
        posy("union", f"{web}/plain.posy", self.path("plain.posy"), "-o", self.path("union.posy"))
        self.assertEqual(self.info("union.posy")["bits_checksum"], self.info("plain.posy")["bits_checksum"])

    def test_what_goes_wrong_is_said(self):
        self.build("f.posy", map(str, range(1000)))
        filter_ = self.read("f.posy")
        posy("build", "--items", "10M", "-o", self.path("big.posy"), input="one\n")
        posy("pack", self.path("big.posy"), "-o", self.path("small.posy"))  # few bytes, much memory
        self.assertLess(len(self.read("small.posy")), 1000)
        answers = {
            "/404": response(b"no", "404 Not Found"), "/500": response(b"oops", "500 Internal Server Error"),
            "/401": response(b"", "401 Unauthorized"), "/moved": response(b"", "301 Moved Permanently", Location="http://elsewhere/f"),
            "/garbage": response(b"<html>hello</html>"), "/empty": response(b""), "/cut": response(filter_[:-9]),
            "/flipped": response(filter_[:-20] + bytes([filter_[-20] ^ 1]) + filter_[-19:]),
            "/twice": response(filter_ + filter_), "/chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
            b"%x\r\n%s\r\n" % (len(filter_), filter_) * 100 + b"0\r\n\r\n",
            "/large": response(filter_ * 100), "/endless": b"HTTP/1.1 200 OK\r\n\r\n" + filter_ * 100, "/bomb": response(self.read("small.posy")),
            "/nothttp": b"220 smtp.example.org\r\n\r\n", "/304": response(b"", "304 Not Modified"),
        }

        over = threading.Event()
        self.addCleanup(over.set)

        def answer(head):
            path = head[0].split()[1]
            if path == "/silent":
                over.wait()
                return None
            return answers[path]
        server = self.server(answer)
        for path, why in (("/404", "404 Not Found; a node publishes its filter at /summary"), ("/500", "500"), ("/401", "--token-file"),
                          ("/moved", "ask for http://elsewhere/f"), ("/garbage", "not a message"), ("/empty", "not a message"),
                          ("/cut", "not a message"), ("/flipped", "checksum"), ("/twice", "more than one message"), ("/chunks", "--max-size"),
                          ("/large", "--max-size"), ("/endless", "--max-size"), ("/bomb", "limit"), ("/nothttp", "not HTTP/1.1"),
                          ("/304", "304"), ("/silent", "nothing came for 0.5 seconds")):
            with self.subTest(path):
                start = time.monotonic()
                said = posy("query", "--timeout", "0.5", "--max-size", "64KiB", server.url + path, input="x\n", status=2)
                self.assertIn(why, said)
                self.assertTrue(said.startswith(f"posy: {server.url}{path}: "), said)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertLess(time.monotonic() - start, 20)
        self.assertFalse([line for _, head in server.asked for line in head if line.startswith(("A-IM", "If-", "Prefer"))])
        nobody = f"http://127.0.0.1:{free_port()}/f"
        self.assertIn("refused", posy("query", nobody, input="", status=2))
        self.assertIn("not a URL", posy("query", "http://", input="", status=2))
        self.assertIn("not a URL", posy("query", "http://user@host/", input="", status=2))
        self.assertEqual(posy("query", "--max-size", "20MiB", server.url + "/bomb", input="one\ntwo\n"), "one\n")

    def test_a_token(self):
        self.build("f.posy", ["a"])
        filter_ = self.read("f.posy")
        server = self.server(lambda head: response(filter_) if "Authorization: Bearer secret\r\n" in head else response(b"", "401 Unauthorized"))
        self.write("token", "secret\n")
        self.assertIn("401", posy("query", server.url, input="a\n", status=2))
        self.assertEqual(posy("query", "--token-file", self.path("token"), server.url, input="a\n"), "a\n")

    def test_tls(self):
        openssl = lambda *args: subprocess.run(["openssl", *args], cwd=self.dir, check=True, capture_output=True, timeout=60)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
                "-days", "2", "-subj", "/CN=node", "-addext", "subjectAltName=IP:127.0.0.1")
        port = free_port()
        node = self.node("--listen-tls", f"127.0.0.1:{port}", "--tls-cert", self.path("cert.pem"), "--tls-key", self.path("key.pem"),
                         "--items", "100", "--change", "0.01")
        node.add(["a"])
        url = f"https://127.0.0.1:{port}/summary"
        self.assertEqual(posy("query", "--tls-ca", self.path("cert.pem"), url, input="a\n"), "a\n")
        self.assertIn("certificate", posy("query", url, input="a\n", status=2))
        follower = self.follow("--query", "--tls-ca", self.path("cert.pem"), url)
        self.assertEqual(follower.ask("a"), "yes")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
