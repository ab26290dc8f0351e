"""What a node or proxy is told at its start: where it listens, and errors that say what to do.

Usage: options_test.py POSY [unittest arguments]
"""
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, NodeTest  # noqa: E402


def listeners(pid):
    """The sockets on which a process listens."""
    rows = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(table) as f:
            rows += [line.split() for line in f]
    listening = {f"socket:[{row[9]}]" for row in rows if row[3] == "0A"}
    return {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")} & listening


class Options(NodeTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", cls.path("key"),
                        "-out", cls.path("cert"), "-subj", "/CN=node"], check=True, capture_output=True)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.path(name)

    def fails(self, *options, saying, command="node"):
        done = subprocess.run([POSY, command, *options], capture_output=True, text=True, timeout=30)
        self.assertNotEqual(done.returncode, 0, options)
        for each in saying:
            self.assertIn(each, done.stderr, options)
        return done.stderr

    def test_tls_alone_opens_no_plain_port(self):
        tls = ("--tls-cert", self.path("cert"), "--tls-key", self.path("key"))
        node = self.node("--listen-tls", "127.0.0.1:0", *tls, listen=None)
        self.assertRegex(node.log[1], r" listens on 127\.0\.0\.1:\d+ \(TLS\)$")
        self.assertEqual(len(listeners(node.process.pid)), 1)
        trusting = ssl.create_default_context(cafile=self.path("cert"))
        trusting.check_hostname = False
        with trusting.wrap_socket(socket.create_connection(("127.0.0.1", node.port), 30)) as s:
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b" 200 ", s.recv(1000))
        # With both, the line names all of them.
        both = self.node("--listen", "127.0.0.2:0", "--listen-tls", "127.0.0.1:0", *tls)
        self.assertRegex(both.log[1], r" listens on 127\.0\.0\.1:\d+, 127\.0\.0\.2:\d+, 127\.0\.0\.1:\d+ \(TLS\)$")

    def test_where_it_cannot_listen(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            at = "127.0.0.1:%d" % taken.getsockname()[1]
            self.fails("--listen", at, saying=[f"--listen {at}: ", "in use"])
        for text in ("4000", "", "127.0.0.1:x", "127.0.0.1:70000", ":4000"):
            self.fails("--listen", text, saying=[f"--listen {text}: ", "write HOST:PORT"])
        self.fails("--listen-tls", "4000", saying=["--listen-tls 4000: ", "write HOST:PORT"])
        self.fails("--listen", "192.0.2.1:4000", "--allow-peer", "10.0.0.0/8", saying=["--listen 192.0.2.1:4000: "])
        self.fails("--listen", "no.such.host.invalid:4000", "--allow-peer", "10.0.0.0/8",
                   saying=["--listen no.such.host.invalid:4000: ", "host not found"])

    def test_the_default_port_is_the_command_s(self):
        for command, port in (("node", 3130), ("proxy", 3128)):
            with socket.create_server(("127.0.0.9", port)):  # so that the error names it
                self.fails("--listen", "127.0.0.9", saying=[f"--listen 127.0.0.9:{port}: ", f"another program has port {port}"],
                           command=command)

    def test_two_do_not_share_a_port(self):
        port = self.node(command="proxy").port
        for address in ("127.0.0.1", "0.0.0.0"):
            self.fails("--listen", f"{address}:{port}", "--allow-client", "loopback", command="proxy",
                       saying=[f"--listen {address}:{port}: cannot listen: another program has port {port} (Address already in use)"])
        self.fails("--listen", "192.0.2.1:3128", "--allow-client", "loopback", saying=["not an address of this machine"])

    def test_files_that_cannot_be_used(self):
        none, junk, cert = self.path("none"), self.write("junk", "no certificate\n"), self.path("cert")
        listen = ("--listen-tls", "127.0.0.1:0")
        self.fails(*listen, "--tls-cert", none, saying=[f"--tls-cert {none}: cannot be opened: No such file"])
        self.fails(*listen, "--tls-cert", junk, saying=[f"--tls-cert {junk}: cannot be used: no certificate in PEM format is in it"])
        self.fails(*listen, "--tls-cert", cert, saying=[f"--tls-cert {cert}: no private key", "--tls-key"])
        self.fails(*listen, "--tls-cert", cert, "--tls-key", none, saying=[f"--tls-key {none}: cannot be opened"])
        self.fails(*listen, "--tls-cert", cert, "--tls-key", junk, saying=[f"--tls-key {junk}: cannot be used: no private key in PEM"])
        for kind in (["RSA"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]):
            other = self.path("other")
            subprocess.run(["openssl", "genpkey", "-algorithm", *kind, "-out", other], capture_output=True, check=True)
            self.fails(*listen, "--tls-cert", cert, "--tls-key", other,
                       saying=[f"--tls-key {other}: not the key of the certificate in --tls-cert {cert}"])
        for file, why in ((none, "cannot be opened: No such file"), (junk, "cannot be used")):
            self.fails("--listen", "127.0.0.1:0", "--tls-ca", file, saying=[f"--tls-ca {file}: {why}"])

    def test_a_file_of_peers(self):
        for text, why in (('{"peers":\n ["a=http://x:1", ]}', "not JSON in line 2"), ("", "not JSON in line 1"), ("[]", "not a list of peers"),
                          ('{"peers": {"a": 1}}', "not a list of peers"), ('{"peers": ["a"]}', "'a' is not a peer")):
            file = self.write("peers", text)
            said = self.fails("--listen", "127.0.0.1:0", "--peers", file, saying=[f"{file}: {why}", "NAME=http://HOST:PORT"])
            self.assertNotIn("exception", said)

    def test_a_token_is_one_word(self):
        for text, why in (("one two\n", "more than one word"), ("one\ntwo\n", "more than one word"), ("\n", "is empty"), ("", "is empty")):
            file = self.write("token", text)
            said = self.fails("--token-file", file, saying=[f"--token-file {file}: ", why])
            self.assertNotIn("one two", said)
        self.fails("--token-file", self.path("none"), saying=[f"--token-file {self.path('none')}: cannot be opened: No such file"])
        self.fails("--token-file", self.folder.name, saying=[f"--token-file {self.folder.name}: cannot be read"])
        self.fails("http://127.0.0.1:9/", "--token-file", self.path("none"), "-", saying=["--token-file", "cannot be opened"], command="query")
        self.fails("--hash", "siphash", "--seed-file", self.path("none"), saying=[f"--seed-file {self.path('none')}: cannot be opened"])

    def test_values_that_make_no_sense(self):
        for option in ("--max-connections", "--max-per-address"):
            self.fails(option, "-1", "--listen", "127.0.0.1:0", saying=[option, "is not an amount"])
        for option, value in (("--max-connections", "0"), ("--max-rate", "-1"), ("--interval", "-1"), ("--poll", "-1"), ("--wait", "-1"), ("--threads", "-1")):
            self.fails(option, value, "--listen", "127.0.0.1:0", saying=[option, "range"])
        for peer in ("nonsense", "a=nonsense", "squid:nonsense", "a=http://", "a=ftp://b:1"):
            self.fails("--peer", peer, "--listen", "127.0.0.1:0", saying=["--peer ", peer, "NAME=http://HOST:PORT"])
        self.node("--peer", "a=127.0.0.1:9", "--peer", "127.0.0.2:9", "--peer", "b=http://localhost")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
