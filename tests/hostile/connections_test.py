"""What connections cost and who gets one; what a request that came through a proxy may do.

Usage: connections_test.py POSY [--unbounded] [unittest arguments]
--unbounded: memory is not looked at (sanitizers bring their own).
"""
import contextlib
import http.client
import os
import selectors
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest  # noqa: E402
from daemons import resident  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

UNBOUNDED = "--unbounded" in sys.argv
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHUNKED = b"PUT /keys/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;x="


def ask(port, method, target, source="127.0.0.1", **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=(source, 0))) as c:
        c.request(method, target, headers=fields)
        answer = c.getresponse()
        return answer.status, answer.read().decode(errors="replace")


class Server(NodeTest):
    def proxy(self, *options, **how):
        return self.node(*options, command="proxy", **how)


class Forwarded(Server):
    PATHS = ("/summary", "/have?key=a", "/who?key=a", "/keys/a", "/squid-internal-periodic/store_digest")

    def test_nothing_of_this_machine_s_through_a_proxy(self):
        """What a client of the proxy may not do directly, it may not do by way of the proxy's address."""
        node = self.node()
        proxy = self.proxy("--allow-client", "127.0.0.2", "--allow-destination", "loopback")
        for path in self.PATHS:
            self.assertIn(ask(node.port, "GET", path)[0], (200, 204, 404), path)
            status, text = ask(proxy.port, "GET", node.url + path, "127.0.0.2")
            self.assertEqual(status, 403, path)
            self.assertIn("through a proxy", text)
            for field in ("Via", "Forwarded", "X_Forwarded_For"):
                self.assertEqual(ask(node.port, "GET", path, **{field: "1.1 x"})[0], 403, (field, path))
            # The node inside another proxy is one like any other.
            self.assertEqual(ask(proxy.port, "GET", self.proxy().url + path, "127.0.0.2")[0], 403, path) if path == "/summary" else None
        self.assertEqual(ask(node.port, "GET", "/healthz", Via="1.1 x")[0], 200)

    def test_a_proxy_that_was_named_speaks_for_its_clients(self):
        node = self.node("--allow-peer", "127.0.0.2", "--allow-client", "127.0.0.3", "--allow-admin", "127.0.0.2/31")
        for source, path, status in (("127.0.0.2", "/summary", 200), ("127.0.0.2", "/who?key=a", 403), ("127.0.0.2", "/metrics", 403),
                                     ("127.0.0.3", "/who?key=a", 200), ("127.0.0.3", "/summary", 403), ("127.0.0.3", "/metrics", 403)):
            self.assertEqual(ask(node.port, "GET", path, source, Via="1.1 x")[0], status, (source, path))
            self.assertEqual(ask(node.port, "GET", path, source)[0], 200)

    def test_proxies_in_a_row_and_siblings_go_on(self):
        origin = Origin(lambda r: fresh(b"from the origin"))
        self.addCleanup(origin.close)
        proxy = self.proxy("--allow-destination", "loopback")
        for fields in ({"Via": "1.1 x"}, {"Via": "1.1 x", "Cache_Control": "only-if-cached"}):
            self.assertEqual(ask(proxy.port, "GET", origin.url + "/a", **fields), (200, "from the origin"))
        path = f"http://127.0.0.1:{proxy.port}/squid-internal-periodic/store_digest"
        self.assertEqual(ask(proxy.port, "GET", path, Via="1.1 squid")[0], 200)


class Room(Server):
    def test_an_idle_connection_of_any_thread_makes_room(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            proxy = self.proxy("--max-connections", "8", "--allow-destination", "loopback")
            held = []
            for _ in range(8):  # to the two threads in turn
                held.append(socket.create_connection(("127.0.0.1", proxy.port), 30))
                self.addCleanup(held[-1].close)
                held[-1].sendall(HEALTH)
                self.assertIn(b" 200 ", held[-1].recv(1000))
            for i, s in enumerate(held[::2]):  # those of one are busy
                s.sendall(b"GET http://127.0.0.1:%d/%d HTTP/1.1\r\nHost: x\r\n\r\n" % (silent.getsockname()[1], i))
                self.addCleanup(silent.accept()[0].close)
            for _ in range(4):
                s = socket.create_connection(("127.0.0.1", proxy.port), 30)
                self.addCleanup(s.close)
                s.sendall(HEALTH)
                self.assertIn(b" 200 ", s.recv(1000))

    def test_connections_to_many_servers_are_not_all_kept(self):
        listening = socket.create_server(("0.0.0.0", 0), backlog=4096)
        port, open_now = listening.getsockname()[1], set()

        def serve():
            selector = selectors.DefaultSelector()
            selector.register(listening, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is listening:
                        made = listening.accept()[0]
                        open_now.add(made)
                        selector.register(made, selectors.EVENT_READ)
                    elif key.fileobj.recv(65536):
                        key.fileobj.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n\r\nhi")
                    else:
                        selector.unregister(key.fileobj)
                        open_now.remove(key.fileobj)
                        key.fileobj.close()
        threading.Thread(target=serve, daemon=True).start()
        proxy = self.proxy("--allow-destination", "loopback")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)) as c:  # on one thread
            for i in range(600):
                c.request("GET", f"http://127.1.{i // 250}.{i % 250 + 1}:{port}/")
                self.assertEqual(c.getresponse().read(), b"hi")
        until(lambda: len(open_now) <= 256, what="256 kept connections")


@unittest.skipIf(UNBOUNDED, "memory is not looked at")
class Memory(Server):
    """What docs/security.md says of a connection, in KB."""
    PLAIN, TLS = 64, 64 + 96

    def grown(self, node, connect, count, answered):
        """KB of each connection. Both threads have heard what was said before when each has answered a request that came later."""
        def settled(more):
            held.extend(connect() for _ in range(more))
            for _ in range(4):
                answered().close()
            return resident(node.process)
        self.addCleanup(lambda held: [s.close() for s in held], held := [])
        before = settled(20)
        return (settled(count) - before) / count / 1024

    def test_half_a_message(self):
        proxy = self.proxy("--memory", "16M")

        def connect(message):
            s = socket.create_connection(("127.0.0.1", proxy.port), 30)
            with contextlib.suppress(OSError):
                s.sendall(message)
            return s

        def answered():
            s = connect(HEALTH)
            self.assertIn(b" 200 ", s.recv(1000))
            return s
        for message in (HEALTH, b"GET / HTTP/1.1\r\nX: " + b"a" * 31000, CHUNKED + b"a" * 31000, CHUNKED + b"a" * 200_000):
            self.assertLess(self.grown(proxy, lambda m=message: connect(m), 200, answered), self.PLAIN, message[:80])

    def test_tls(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            pem = os.path.join(folder, "node.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", pem,
                            "-out", os.path.join(folder, "cert"), "-subj", "/CN=node"], check=True, capture_output=True)
            with open(pem, "a") as to, open(os.path.join(folder, "cert")) as cert:
                to.write(cert.read())
            proxy = self.proxy("--listen-tls", "127.0.0.1:0", "--tls-cert", pem, "--memory", "16M", listen=None)
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

        def connect(message):
            s = trusting.wrap_socket(socket.create_connection(("127.0.0.1", proxy.port), 30))
            s.sendall(HEALTH)
            self.assertIn(b" 200 ", s.recv(1000))
            with contextlib.suppress(OSError):
                s.sendall(message)
            return s
        for message in (b"", b"GET / HTTP/1.1\r\nX: " + b"a" * 31000, CHUNKED + b"a" * 31000, CHUNKED + b"a" * 200_000):
            self.assertLess(self.grown(proxy, lambda m=message: connect(m), 100, lambda: connect(b"")), self.TLS, message[:80])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(a for a in sys.argv[2:] if a != "--unbounded")])
