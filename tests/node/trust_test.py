"""Tokens, networks and certificates: who is answered, and whom a node believes.

Usage: trust_test.py POSY [unittest arguments]
"""
import contextlib
import http.client
import os
import socket
import ssl
import subprocess
import sys
import unittest
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, ScratchTest  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


class Trust(ScratchTest):
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
            port = free_port()
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
