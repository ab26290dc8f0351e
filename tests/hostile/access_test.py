"""What a stranger reaches: through the proxy, from a page in a browser, and by holding connections.

Clients of different networks are clients of this machine with source addresses 127.0.0.2, 127.0.0.3, ….

Usage: access_test.py POSY [unittest arguments]
"""
import concurrent.futures
import contextlib
import http.client
import os
import re
import resource
import select
import socket
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, NodeTest  # noqa: E402
from daemons import Node, exchange, head_of  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def statuses(got):
    return [int(s) for s in re.findall(rb"^HTTP/1\.1 (\d{3}) ", got, re.M)]


def ask(port, method, target, source="127.0.0.1", body=None, to="127.0.0.1", **headers):
    """One request from an address of this machine; (status, body)."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.closing(http.client.HTTPConnection(to, port, timeout=20, source_address=(source, 0))) as c:
        c.request(method, target, body, fields)
        answer = c.getresponse()
        return answer.status, answer.read().decode(errors="replace")


def other_address():
    """An address of this machine that is not the loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address = s.getsockname()[0]
    return None if address.startswith("127.") else address


class Access(NodeTest):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.token = os.path.join(self.folder.name, "token")
        with open(self.token, "w") as f:
            f.write("secret\n")

    def proxy(self, *options, **how):
        return self.node(*options, command="proxy", **how)

    def origin(self):
        origin = Origin(lambda r: fresh(b"from the origin"))
        self.addCleanup(origin.close)
        return origin


class Destinations(Access):
    # However the place is written: what counts is where it leads.
    CLOSED = ("127.0.0.1", "localhost", "LOCALHOST", "127.0.0.2", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0",
              "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
              "[::ffff:0:127.0.0.1]", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "169.254.169.254",
              "[fe80::1]", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[64:ff9b:1::a00:1]",
              "[2002:a00:1::1]", "0.1.2.3", "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "[ff02::1]", "[2001:db8::1]",
              "192.0.2.1", "198.18.0.1")

    def test_closed_places_are_refused(self):
        node = self.node()
        proxy = self.proxy("--connect-port", str(node.port))
        for host in self.CLOSED:
            with self.subTest(host):
                for method, target in (("PUT", f"http://{host}:{node.port}/keys/x"), ("GET", f"http://{host}:{node.port}/metrics")):
                    status, text = ask(proxy.port, method, target)
                    self.assertEqual(status, 403, text)
                    self.assertIn("--allow-destination", text)
                got, _ = exchange(proxy.port, f"CONNECT {host}:{node.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                self.assertEqual(statuses(got), [403], got)
        self.assertEqual(node.get("/keys/x").status, 404)
        self.assertEqual(node.metric("posy_set_items"), 0)

    def test_addresses_of_this_machine_are_this_machine(self):
        address = other_address()
        if not address:
            self.skipTest("this machine has no address but the loopback")
        node = self.node("--allow-admin", address, "--allow-admin", "loopback", listen="0.0.0.0:0")
        for options in ([], ["--allow-destination", "private"], ["--allow-destination", address]):
            proxy = self.proxy(*options)
            status, text = ask(proxy.port, "PUT", f"http://{address}:{node.port}/keys/x")
            self.assertEqual(status, 403, text)
            self.assertIn("this machine", text)
        self.assertEqual(node.get("/keys/x").status, 404)

    def test_what_is_allowed_is_reached(self):
        origin = self.origin()
        for allowed in ("loopback", "127.0.0.1", "127.0.0.0/8", "0.0.0.0/0"):
            proxy = self.proxy("--allow-destination", allowed, "--connect-port", str(origin.port))
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
                self.assertEqual(ask(proxy.port, "GET", f"http://{host}:{origin.port}/"), (200, "from the origin"), (allowed, host))
            got = head_of(proxy.port, f"CONNECT localhost:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.assertEqual(statuses(got), [200])
        for allowed in ("private", "link-local", "127.0.0.2", "10.0.0.0/8"):
            proxy = self.proxy("--allow-destination", allowed)
            self.assertEqual(ask(proxy.port, "GET", f"http://127.0.0.1:{origin.port}/")[0], 403, allowed)

    def test_a_connection_of_a_peer_is_not_lent_to_clients(self):
        node = self.node()
        proxy = self.proxy("--sharing", "ask", "--peer", f"n={node.url}")
        for _ in range(4):  # on every thread: a miss asks the peer, whose connection is kept
            self.assertEqual(ask(proxy.port, "GET", "http://10.0.0.1/")[0], 403)
        self.assertGreater(proxy.metric('posy_summary_sent_bytes_total{kind="question"}'), 0)
        for _ in range(4):
            self.assertEqual(ask(proxy.port, "GET", f"{node.url}/who?key=a")[0], 403)

    def test_nobody_administers_through_a_proxy(self):
        """Where the loopback is allowed as a destination, a node there still sees that it is a proxy who asks."""
        node = self.node()
        proxy = self.proxy("--allow-destination", "loopback")
        for method, path in (("PUT", "/keys/x"), ("POST", "/keys"), ("DELETE", "/keys/y"), ("GET", "/metrics"), ("GET", "/")):
            status, text = ask(proxy.port, method, node.url + path, body=b"+x\n" if method == "POST" else None)
            self.assertEqual(status, 403, (method, path))
            self.assertIn("through a proxy", text)
        for field in ("Via", "Forwarded", "X_Forwarded_For"):
            self.assertEqual(ask(node.port, "PUT", "/keys/x", **{field: "1.1 somebody"})[0], 403)
        self.assertEqual(node.get("/keys/x").status, 404)

    def test_not_a_network(self):
        for option in ("--allow-destination", "--allow-peer", "--allow-client", "--allow-admin"):
            for text in ("nowhere", "10.0.0.0/33", "10.0.0/8", "reserved", ""):
                with self.assertRaisesRegex(AssertionError, option):
                    Node(POSY, option, text, command="proxy")


class Roles(Access):
    PEER, CLIENT, ADMIN, STRANGER = "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"
    LISTS = ("--allow-peer", PEER, "--allow-client", CLIENT, "--allow-admin", ADMIN)

    def test_each_role_has_its_own(self):
        node = self.node(*self.LISTS)
        ask(node.port, "PUT", "/keys/k", self.ADMIN)
        everyone = {self.PEER, self.CLIENT, self.ADMIN, self.STRANGER}
        for method, target, who in (
                ("GET", "/healthz", everyone),
                ("GET", "/summary", {self.PEER, self.ADMIN}),
                ("GET", "/squid-internal-periodic/store_digest", {self.PEER, self.ADMIN}),
                ("POST", "/hint?from=x", {self.PEER, self.ADMIN}),
                ("GET", "/have?key=k", {self.PEER, self.CLIENT, self.ADMIN}),
                ("GET", "/who?key=k", {self.CLIENT, self.ADMIN}),
                ("GET", "/keys/k", {self.CLIENT, self.ADMIN}),
                ("PUT", "/keys/k", {self.ADMIN}),
                ("POST", "/keys", {self.ADMIN}),
                ("DELETE", "/keys/none", {self.ADMIN}),
                ("GET", "/metrics", {self.ADMIN}),
                ("GET", "/history", {self.ADMIN}),
                ("GET", "/", {self.ADMIN})):
            for source in sorted(everyone):
                status, text = ask(node.port, method, target, source)
                self.assertEqual(status != 403, source in who, (method, target, source, status))
                if status == 403:
                    self.assertIn("--allow-", text)
        # A list that is given is the list: this machine is not in it.
        self.assertEqual(ask(node.port, "GET", "/metrics")[0], 403)

    def test_the_proxy_is_for_clients(self):
        origin = self.origin()
        proxy = self.proxy(*self.LISTS, "--allow-destination", "loopback", "--connect-port", str(origin.port))
        for source, allowed in ((self.STRANGER, False), (self.PEER, False), (self.CLIENT, True), (self.ADMIN, True)):
            status, text = ask(proxy.port, "GET", f"{origin.url}/{source}", source)
            self.assertEqual(status, 200 if allowed else 403, source)
            if not allowed:
                self.assertIn("--allow-client", text)
            with socket.create_connection(("127.0.0.1", proxy.port), 10, (source, 0)) as s:
                s.sendall(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                self.assertEqual(statuses(s.recv(1000)), [200 if allowed else 403])
        # A sibling takes what is here, and has nothing fetched.
        stored = f"{origin.url}/{self.CLIENT}"
        self.assertEqual(ask(proxy.port, "GET", stored, self.PEER, Cache_Control="only-if-cached")[0], 200)
        self.assertEqual(ask(proxy.port, "GET", stored, self.STRANGER, Cache_Control="only-if-cached")[0], 403)
        before = len(origin.requests)
        for method, fields, status in (("GET", {"Cache_Control": "only-if-cached"}, 504), ("POST", {"Cache_Control": "only-if-cached"}, 403),
                                       ("GET", {"Cache_Control": "only-if-cached", "If_Match": '"a"'}, 403),
                                       ("GET", {"Cache_Control": 'x="only-if-cached"'}, 403),
                                       ("GET", {"Cache_Control": 'x="a, only-if-cached, b"'}, 403)):
            self.assertEqual(ask(proxy.port, method, f"{origin.url}/new", self.PEER, **fields)[0], status, (method, fields))
        self.assertEqual(len(origin.requests), before)

    def test_with_a_token_this_machine_needs_it_too(self):
        node = self.node("--token-file", self.token)
        for method, path in (("GET", "/summary"), ("PUT", "/keys/a"), ("GET", "/metrics"), ("GET", "/who?key=a"), ("GET", "/")):
            self.assertEqual(ask(node.port, method, path)[0], 401, path)
            self.assertIn(ask(node.port, method, path, Authorization="Bearer secret")[0], (200, 201), path)
        self.assertEqual(ask(node.port, "GET", "/healthz")[0], 200)
        origin = self.origin()
        proxy = self.proxy("--token-file", self.token, "--allow-destination", "loopback")
        self.assertEqual(ask(proxy.port, "GET", origin.url)[0], 403)
        self.assertEqual(ask(proxy.port, "GET", origin.url, Proxy_Authorization="Bearer secret")[0], 200)
        self.assertNotIn("Proxy-Authorization", origin.requests[-1][2])
        # Who wants it as it was says so.
        trusting = self.node("--token-file", self.token, "--allow-admin", "loopback")
        self.assertEqual(ask(trusting.port, "PUT", "/keys/a")[0], 201)
        # Peers on this machine have the token, and send it.
        follower = self.node("--token-file", self.token, "--allow-admin", "loopback", "--peer", f"n={node.url}")
        until(lambda: follower.metric('posy_peer_up{peer="n"}') == 1)


class Names(Access):
    def test_a_page_on_a_rebound_name_reaches_nothing(self):
        for command in ("node", "proxy"):
            node = self.node(command=command)
            for name in ("evil.example", f"evil.example:{node.port}", "127.0.0.1.evil.example", "localhost.evil.example", "evil", "10.0.0.1",
                         "127.1", "[::2]", ""):
                for method, path in (("PUT", "/keys/x"), ("POST", "/hint?from=a"), ("GET", "/metrics"), ("GET", "/summary"), ("GET", "/")):
                    status, text = ask(node.port, method, path, Host=name, Origin="http://" + name)
                    self.assertEqual(status, 421, (name, path))
                    self.assertIn("--host-name", text)
            self.assertEqual(node.metric('posy_refused_total{why="forbidden"}'), 45)
            self.assertEqual(ask(node.port, "GET", "/healthz", Host="evil.example")[0], 200)  # tells nothing
            self.assertEqual(ask(node.port, "GET", f"http://evil.example:{node.port}/squid-internal-periodic/store_digest")[0], 421)
        node = self.node()
        self.assertEqual(ask(node.port, "PUT", "/keys/x", Host="localhost", Origin="http://evil.example")[0], 403)
        self.assertEqual(node.get("/keys/x").status, 404)

    def test_its_own_names(self):
        node = self.node("--name", "px1.example", "--host-name", "cache.example", "--host-name", "198.51.100.7", "--host-name", "2606:4700::7", "--allow-admin", "0.0.0.0/0",
                         listen="0.0.0.0:0")
        good = ["127.0.0.1", "localhost", "LocalHost.", f"127.0.0.1:{node.port}", "localhost:1", "[::1]", socket.gethostname(), "px1.example",
                "PX1.example:80", "cache.example", "198.51.100.7:8080", "[2606:4700::7]:80"]
        for name in good:
            self.assertEqual(ask(node.port, "PUT", "/keys/x", Host=name)[0] // 100, 2, name)
        address = other_address()
        if address:
            self.assertEqual(ask(node.port, "GET", "/metrics", Host=f"{address}:1", to=address)[0], 200)
            self.assertEqual(ask(node.port, "GET", "/metrics", Host=address)[0], 421)  # not on this connection
        with self.assertRaisesRegex(AssertionError, "--host-name"):
            Node(POSY, "--host-name", "cache.example:80")

    def test_without_a_host(self):
        node = self.node()
        status = lambda line: statuses(exchange(node.port, line + b" HTTP/1.0\r\n\r\n")[0])
        self.assertEqual(status(b"GET /summary"), [200])
        self.assertEqual(status(b"PUT /keys/x"), [400])
        self.assertEqual(node.get("/keys/x").status, 404)

    def test_a_peer_by_another_name_is_told(self):
        a = self.node()
        b = self.node("--peer", f"a=http://127.1:{a.port}")  # a name to HTTP, an address to the resolver
        until(lambda: any("--host-name 127.1" in line for line in b.log), what="the reason in the log")
        a = self.node("--host-name", "127.1")
        b = self.node("--peer", f"a=http://127.1:{a.port}")
        until(lambda: b.metric('posy_peer_up{peer="a"}') == 1)


class Connections(Access):
    def pour(self, port, head, piece, pause=0.0, most=64 << 20):
        """Sends a head, then pieces until the other side ends it: (answers, bytes that went, seconds)."""
        start, sent, got = time.monotonic(), 0, b""
        with socket.create_connection(("127.0.0.1", port), 10) as s:
            s.sendall(head)
            if b"\r\n\r\n" in head:
                got = s.recv(65536)
            with contextlib.suppress(ConnectionError):
                while sent < most and time.monotonic() - start < 30:
                    if select.select([s], [], [], pause)[0]:
                        received = s.recv(65536)
                        got += received
                        if not received and pause:
                            break
                    sent += s.send(piece)
            return got, sent, time.monotonic() - start

    def test_unread_bodies_are_cut_off(self):
        node = self.node("--allow-admin", "127.0.0.9")
        proxy = self.proxy("--allow-admin", "127.0.0.9")
        long, chunked = b"Content-Length: 1000000000000", b"Transfer-Encoding: chunked"
        chunk = b"4000\r\n" + bytes(0x4000) + b"\r\n"

        def check(port, line, status, length, piece, drip):
            head = line + b" HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n"
            got, sent, _ = self.pour(port, head, piece)
            self.assertEqual(statuses(got), [status], line)
            self.assertLess(sent, 32 << 20)  # what is read of it is 1 MiB; the rest is the system's buffers
            got, _, seconds = self.pour(port, head, drip, pause=0.1)
            self.assertEqual(statuses(got), [status], line)
            self.assertLess(seconds, 12)  # 2 s to skip, 2 s to drain, the watch looks twice a second
        with concurrent.futures.ThreadPoolExecutor(4) as pool:  # few: they are timed
            for done in [pool.submit(check, port, *line, *body) for port in (node.port, proxy.port)
                         for line in ((b"GET /healthz", 200), (b"PUT /keys/a", 403), (b"POST /keys", 403), (b"POST /none", 403))
                         for body in ((long, bytes(65536), b"a"), (chunked, chunk, b"1\r\na\r\n"))]:
                done.result()
        # A short one is read over, and the connection goes on.
        got, _ = exchange(node.port, b"PUT /keys/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nbytes" +
                          HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        self.assertEqual(statuses(got), [403, 200])

    def test_nobody_is_asked_for_a_body_that_is_refused(self):
        node = self.node("--allow-admin", "127.0.0.9")
        got, ended = exchange(node.port, b"POST /keys HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", 6)
        self.assertEqual(statuses(got), [403])
        self.assertIn(b"Connection: close", got)
        self.assertTrue(ended)
        node = self.node()
        with socket.create_connection(("127.0.0.1", node.port), 10) as s:
            s.sendall(b"POST /keys HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            self.assertEqual(statuses(s.recv(1000)), [100])
            s.sendall(b"+a\n")
            self.assertEqual(statuses(s.recv(1000)), [200])
            s.sendall(b"POST /keys HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            self.assertEqual(statuses(s.recv(1000)), [100])
            s.sendall(b"?a\n")
            self.assertEqual(statuses(s.recv(1000)), [400])

    def hold(self, count, port, source="127.0.0.1", first=HEALTH):
        held = []
        for _ in range(count):
            s = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
            self.addCleanup(s.close)
            s.sendall(first)
            held.append(s)
        return held

    def test_one_address_has_its_share(self):
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if most[1] < 4096:
            self.skipTest("not enough descriptors here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
        node = self.node()
        held = self.hold(1100, node.port, "127.0.0.2")
        answers = [statuses(s.recv(1000)) for s in held]
        self.assertEqual((answers.count([200]), answers.count([429])), (1024, 76))
        self.assertEqual(node.get("/healthz").status, 200)
        self.assertEqual(node.metric('posy_refused_total{why="too_many"}'), 76)
        for s in held:
            s.close()
        until(lambda: statuses(exchange(node.port, HEALTH, 1)[0]) == [200] and node.metric("posy_connections") == 1)
        self.assertEqual(ask(node.port, "GET", "/healthz", "127.0.0.2")[0], 200)
        few = self.node("--max-per-address", "3")
        answers = [statuses(s.recv(1000)) for s in self.hold(5, few.port, "127.0.0.2")]
        self.assertEqual(answers, 3 * [[200]] + 2 * [[429]])

    def test_idle_connections_make_room(self):
        node = self.node("--max-connections", "20", "--max-per-address", "0")
        for first in (HEALTH, b"", b"GET /healthz HTTP/1.1\r\nHo"):
            held = self.hold(20, node.port, first=first)
            if first == HEALTH:
                for s in held:
                    self.assertEqual(statuses(s.recv(1000)), [200])
            # One that is on its way out counts, so one more than needed may have made room.
            until(lambda: node.metric("posy_connections") >= 17)
            for _ in range(10):
                self.assertEqual(ask(node.port, "GET", "/healthz")[0], 200)
            self.assertLess(node.metric("posy_connections"), 23)  # the limit, and those on their way out
        self.assertGreaterEqual(node.metric('posy_refused_total{why="made_room"}'), 10)

    def test_a_head_has_a_deadline_whenever_it_comes(self):
        node = self.node("--head-time", "1", "--idle-time", "60")
        for first, drip in ((b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n"), (HEALTH, b"G")):  # the first request, and the second
            _, _, seconds = self.pour(node.port, first, drip, pause=0.2)
            self.assertLess(seconds, 10)
        # Between requests there is more time: one that has begun after it has to end before it.
        with socket.create_connection(("127.0.0.1", node.port), 30) as idle:
            idle.sendall(HEALTH)
            self.assertEqual(statuses(idle.recv(1000)), [200])
            with socket.create_connection(("127.0.0.1", node.port), 30) as begun:
                begun.sendall(b"GET /healthz HTTP/1.1\r\n")
                self.assertEqual(begun.recv(1000), b"")
            idle.sendall(HEALTH)
            self.assertEqual(statuses(idle.recv(1000)), [200])


class Hops(Access):
    def test_the_last_hop_answers(self):
        origin = self.origin()
        proxy = self.proxy("--allow-destination", "loopback")
        status, text = ask(proxy.port, "TRACE", origin.url + "/a", Max_Forwards="0", Authorization="Basic eDp5", Cookie="a=b", X_Mine="yes")
        self.assertEqual(status, 200)
        self.assertTrue(text.startswith(f"TRACE {origin.url}/a HTTP/1.1\r\n"), text)
        self.assertIn("X-Mine: yes", text)
        self.assertNotIn("eDp5", text)
        self.assertNotIn("a=b", text)
        self.assertEqual(ask(proxy.port, "OPTIONS", origin.url + "/a", Max_Forwards="0"), (200, ""))
        for number in ("-1", "x", "1, 2", "99999999999999999999"):
            self.assertEqual(ask(proxy.port, "OPTIONS", origin.url + "/a", Max_Forwards=number)[0], 400)
        self.assertEqual(origin.requests, [])
        self.assertEqual(ask(proxy.port, "OPTIONS", origin.url + "/a", Max_Forwards="2")[0], 200)
        self.assertEqual(origin.requests[-1][2]["Max-Forwards"], "1")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
