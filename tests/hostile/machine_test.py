"""What needs a machine of its own: addresses, routes and a name server, in a network namespace.

The file starts itself again inside `unshare`; where the system does not allow that, the tests are skipped.

Usage: machine_test.py POSY [unittest arguments]
"""
import contextlib
import http.client
import os
import re
import select
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest  # noqa: E402
from origins import Origin  # noqa: E402
from waiting import until  # noqa: E402

INSIDE = "POSY_TEST_INSIDE"
NAMES = "127.0.0.77"  # where the name server is


def unshare():
    """The command that makes a machine of its own, or None."""
    for command in (["unshare", "-mn"], ["unshare", "-rmn"]):
        with contextlib.suppress(OSError):
            if subprocess.run([*command, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0:
                return command
    return None


class NameServer:
    """Knows every name as 127.0.0.1, but for those with "dead" in them, for which it says nothing."""

    def __init__(self):
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((NAMES, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            question, who = self.socket.recvfrom(2000)
            labels, at = [], 12
            while question[at]:
                labels.append(question[at + 1:at + 1 + question[at]].decode())
                at += 1 + question[at]
            self.asked.append(".".join(labels))
            if "dead" in self.asked[-1]:
                continue
            kind, known = int.from_bytes(question[at + 1:at + 3], "big"), b""
            if kind == 1:
                known = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton("127.0.0.1")
            head = question[:2] + b"\x81\x80\0\1\0" + bytes([bool(known)]) + bytes(4)
            self.socket.sendto(head + question[12:at + 5] + known, who)


class Machine(NodeTest):
    def status(self, method, url, source, to, port):
        family_any = ("::", 0) if ":" in to else ("0.0.0.0", 0)
        with contextlib.closing(http.client.HTTPConnection(to, port, timeout=30, source_address=(source, 0) if source else family_any)) as c:
            c.request(method, url)
            answer = c.getresponse()
            return answer.status, answer.read().decode(errors="replace")

    def test_a_stranger_with_our_address_inside_is_a_stranger(self):
        """2002:7f00:1::5 leads to 127.0.0.1, but it is not the loopback that connects from there."""
        subprocess.run(["ip", "addr", "add", "2002:7f00:1::5/128", "dev", "lo", "nodad"], check=True)
        subprocess.run(["ip", "addr", "add", "2002:a00:1::5/128", "dev", "lo", "nodad"], check=True)
        node = self.node("--allow-peer", "fd77::9", "--allow-client", "10.0.0.0/8", listen="[::]:0")
        for source in ("2002:7f00:1::5", "2002:a00:1::5"):
            for method, path in (("GET", "/metrics"), ("PUT", "/keys/evil"), ("GET", "/summary"), ("GET", "/who?key=a")):
                status, text = self.status(method, path, source, "::1", node.port)
                self.assertEqual(status, 403, (source, path, text))
                self.assertIn(f"{source} is not in --allow-", text)
        self.assertEqual(self.status("GET", "/keys/evil", "::1", "::1", node.port)[0], 404)
        proxy = self.node("--allow-client", "fd77::9", "--allow-destination", "loopback", command="proxy", listen="[::]:0")
        self.assertEqual(self.status("GET", "http://127.0.0.1:1/", "2002:7f00:1::5", "::1", proxy.port)[0], 403)
        self.assertEqual(self.status("GET", "http://127.0.0.1:1/", "::1", "::1", proxy.port)[0], 502)

    def test_networks_that_are_routed_here_are_this_machine(self):
        subprocess.run(["ip", "route", "add", "local", "11.0.0.0/24", "dev", "lo"], check=True)
        subprocess.run(["ip", "-6", "route", "add", "local", "2a0f:1::/64", "dev", "lo"], check=True)
        subprocess.run(["ip", "addr", "add", "2002:808:808::1/128", "dev", "lo", "nodad"], check=True)
        with contextlib.ExitStack() as reached:
            servers = [reached.enter_context(socket.create_server(("0.0.0.0", 0)))]
            port = servers[0].getsockname()[1]
            servers.append(reached.enter_context(socket.create_server(("::", port), family=socket.AF_INET6)))
            proxy = self.node(command="proxy")
            for host in ("11.0.0.5", "[::ffff:11.0.0.6]", "[2a0f:1::7]", "[2002:808:808::1]"):
                status, text = self.status("GET", f"http://{host}:{port}/", None, "127.0.0.1", proxy.port)
                self.assertEqual(status, 403, (host, text))
                self.assertIn("this machine", text)
            self.assertEqual(select.select(servers, [], [], 0)[0], [])
            # And allowed with the rest of it.
            trusting = self.node("--allow-destination", "loopback", command="proxy")
            c = http.client.HTTPConnection("127.0.0.1", trusting.port, timeout=30)
            c.request("GET", f"http://11.0.0.5:{port}/")
            self.assertEqual(select.select(servers, [], [], 30)[0], servers[:1])
            c.close()

    def ask(self, proxy, url):
        s = socket.create_connection(("127.0.0.1", proxy.port), 30)
        self.addCleanup(s.close)
        s.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return s

    def test_dead_names_hold_up_nobody(self):
        origin = Origin(lambda r: (200, [("Cache-Control", "no-store")], b"here"))
        proxy = self.node("--allow-destination", "loopback", "--max-per-address", "0", command="proxy")
        dead = [self.ask(proxy, f"http://dead{i}.example:{origin.port}/") for i in range(40)]
        until(lambda: len({name for name in SERVER.asked if re.match(r"dead\d", name)}) == 40, what="all lookups under way")
        for i in range(10):
            self.assertIn(b" 200 ", self.ask(proxy, f"http://good{i}.example:{origin.port}/").recv(1000))
        self.assertEqual(select.select(dead, [], [], 0)[0], [])
        # As many again and more do not fit: they are told so, and peers' names go on being resolved.
        more = [self.ask(proxy, f"http://deadly{i}.example:{origin.port}/") for i in range(400)]
        until(lambda: b" 502 " in b"".join(s.recv(1000) for s in select.select(more, [], [], 0)[0]), what="one that is told at once")
        self.assertEqual(proxy.get("/healthz").status, 200)
        self.assertEqual(proxy.process.poll(), None)

    def test_dead_names_of_peers(self):
        good = self.node("--host-name", "good.example")
        options = [o for i in range(30) for o in ("--peer", f"d{i}=http://deadpeer{i}.example:1")]
        node = self.node(*options, "--peer", f"z=http://good.example:{good.port}")
        until(lambda: node.metric('posy_peer_up{peer="z"}') == 1)

    def test_a_question_to_a_dead_name_has_its_deadline(self):
        """Its two seconds include the name, for which the system waits a minute here."""
        origin = Origin(lambda r: (200, [("Cache-Control", "no-store")], b"here"))
        proxy = self.node("--allow-destination", "loopback", "--sharing", "ask", "--peer", "d=http://deadsibling.example:1", command="proxy")
        self.assertIn(b" 200 ", self.ask(proxy, f"{origin.url}/").recv(1000))
        # And nobody waits for it at the end.
        self.assertEqual(proxy.kill(15), 0)


def main():
    arguments = [sys.argv[0], *sys.argv[2:]]
    if not os.environ.get(INSIDE):
        command = unshare()
        if not command:
            print("skipped: no network namespaces here")
            return
        os.environ[INSIDE] = "1"
        os.execvp(command[0], [*command, sys.executable, *sys.argv])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
        f.write(f"nameserver {NAMES}\noptions timeout:30 attempts:2\n")
        f.flush()
        subprocess.run(["mount", "--bind", f.name, "/etc/resolv.conf"], check=True)
        global SERVER
        SERVER = NameServer()
        unittest.main(argv=arguments)


if __name__ == "__main__":
    main()
