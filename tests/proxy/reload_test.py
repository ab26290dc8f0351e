#!/usr/bin/env python3
"""SIGHUP: the configuration is read again while requests run. What can change changes, what cannot is named, a file that is
wrong changes nothing, and no request fails.

Usage: reload_test.py POSY [TEST...]
"""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import POSY, run, test  # noqa: E402
from daemons import Daemon, Node, ask, exchange, head_of  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


class Configured(Daemon):
    """A daemon with a configuration file, which is replaced and read again."""

    def __init__(self, text, *options, command="proxy"):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.file = self.path("posy.toml")
        self.name = "px"
        self.write(text)
        super().__init__([POSY, command, "--config", self.file, "--listen", "127.0.0.1:0", "--threads", "2", *options])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, text, name="posy.toml"):
        with open(self.path(name + "~"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(self.path(name + "~"), self.path(name))
        return self.path(name)

    def answers(self):
        return [line for line in list(self.log) if "reloaded" in line or "settings stay" in line]

    def reload(self, text=None):
        """The lines that a reload wrote."""
        if text is not None:
            self.write(text)
        before, done = len(self.log), len(self.answers())
        self.process.send_signal(signal.SIGHUP)
        until(lambda: len(self.answers()) > done, what="reloaded")
        return "".join(self.log[before:])

    def through(self, url, **fields):
        return ask(self.port, url, fields=fields)[0]

    def close(self):
        status = self.kill(signal.SIGTERM)
        self.folder.cleanup()
        assert status == 0, (status, self.log)


def certificate(folder, name):
    path = os.path.join(folder, name + ".pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-keyout", path + ".key", "-out", path], check=True, capture_output=True, timeout=60)
    return path


BASE = 'name = "px"\nallow-destination = ["loopback"]\n'


@test
def no_request_fails_under_reloads():
    origin = Origin(lambda request: fresh(b"x" * 2000))
    proxy = Configured(BASE)
    stop, failures, counts = threading.Event(), [], [0] * 4

    def client(number):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)
            while not stop.is_set():
                # Hits, and every tenth a miss.
                path = f"/{number}/{counts[number]}" if counts[number] % 10 == 0 else f"/{counts[number] % 50}"
                connection.request("GET", origin.url + path, headers={"Host": origin.url[7:]})
                answer = connection.getresponse()
                if answer.status != 200 or len(answer.read()) != 2000:
                    failures.append((path, answer.status))
                counts[number] += 1
        except Exception as failed:  # pylint: disable=broad-except
            failures.append(failed)

    threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    for each in threads:
        each.start()
    log = proxy.path("access.log")
    others = (
        BASE + f'access-log = "{log}"\nconnect-port = [443, 8443]\nkeep-siblings = true\nmax-connections = 500\n',
        BASE + f'peer = ["gone=http://127.0.0.1:{free_port()}"]\norigin = ["www.example={origin.url}"]\nalso-forward = true\n',
        BASE + f'parent = ["http://127.0.0.1:{free_port()}"]\ndirect = true\nhost-name = ["px.example"]\n',
        BASE + "memory = \n",  # wrong: nothing changes
        BASE)
    for turn in range(40):
        before = sum(counts)
        said = proxy.reload(others[turn % len(others)])
        assert ("settings stay" in said) == (turn % len(others) == 3), said
        until(lambda: sum(counts) > before + 20 or failures, what="traffic")
    stop.set()
    for each in threads:
        each.join()
    assert not failures, failures[:5]
    print(f"  {sum(counts)} requests during 40 reloads")
    return origin, proxy


@test
def a_wrong_file_changes_nothing_and_is_named_with_its_place():
    proxy = Configured(BASE)
    for text, place, wanted in ((BASE + 'memry = "1GiB"\n', ":3:", "did you mean memory?"), (BASE + 'peer = ["x"]\n', ":3:", "not a peer"),
                                (BASE + "connect-port = [443,\n", ":", "posy.toml"), (BASE + 'token-file = "/nonexistent"\n', ":3:", "/nonexistent"),
                                (BASE + 'peers = "/nonexistent.json"\n', ":3:", "/nonexistent.json"),
                                (BASE + 'parent = ["x"]\ndirect = true\n', ":3:", "http://HOST:PORT"),
                                (BASE + 'origin = ["*=http://127.0.0.1:1"]\nalso-forward = true\n', ":4:", "every host is a site"),
                                (BASE + 'access-log = "/proc/x/log"\nrule = ["deny"]\n', ":3:", "access-log"),
                                (BASE + f'disk = "{proxy.folder.name}"\n', ":3:", "it is not a folder of the cache"),
                                (BASE + 'state = "/proc/x"\n', ":3:", "/proc takes no new folder"),
                                (BASE + "direct = true\n", ":3:", "does nothing without --parent"),
                                (BASE + 'change = 0.1\nchange-bits = 0.1\n', ":4:", "change-bits does not go with --change")):
        said = proxy.reload(text)
        assert f"posy.toml{place}" in said or not place, said
        assert wanted in said and "all settings stay as they were" in said and "Z error " in said, said
        assert proxy.metric("posy_last_reload_ok") == 0
    os.remove(proxy.file)
    assert "cannot be opened: No such file" in proxy.reload()
    assert "reloaded" in proxy.reload(BASE)
    assert proxy.metric("posy_last_reload_ok") == 1
    return None, proxy


@test
def who_may_use_it_and_the_rules_change_at_once():
    """A client that is let in with the new rules is never judged without them, however long their users take to read."""
    origin = Origin(lambda _: (200, [("Cache-Control", "no-store")], b"secret"))
    closed = BASE + 'allow-admin = ["127.0.0.1"]\n'
    proxy = Configured(closed)
    tokens = proxy.write("".join(f"u{i}:{i:064x}\n" for i in range(50_000)), "tokens")

    def stranger():
        kept = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30, source_address=("127.0.0.2", 0))
        kept.request("GET", origin.url + "/", headers={"Host": origin.url[7:]})
        status = kept.getresponse().status
        kept.close()
        return status

    assert stranger() == 403
    seen, done = [], len(proxy.answers())
    proxy.write(closed + f'allow-client = ["127.0.0.2"]\nrule = ["allow user *"]\nuser-tokens = "{tokens}"\n')
    proxy.process.send_signal(signal.SIGHUP)
    until(lambda: seen.append(stranger()) or len(proxy.answers()) > done, what="reloaded")
    seen.append(stranger())
    assert set(seen) <= {403, 407} and seen[-1] == 407, seen
    return origin, proxy


@test
def what_needs_a_restart_is_named():
    proxy = Configured(BASE + 'memory = "16MiB"\n')
    said = proxy.reload('name = "other"\nallow-destination = ["loopback"]\nmemory = "32MiB"\nthreads = 4\nlisten = ["127.0.0.1:1"]\n')
    assert "posy.toml:1:8: name has changed; the new value is used from the next start on" in said, said
    assert "posy.toml:3:10: memory has changed" in said and "threads has" not in said and "listen has" not in said, said
    assert "has changed" not in proxy.reload(BASE + 'memory = "16MiB"\n')
    assert "--memory has changed" in proxy.reload(BASE)
    return None, proxy


@test
def rules_of_access_and_ways_change():
    origin = Origin(lambda request: (200, [("Cache-Control", "no-store")], b"origin " + request.headers.get("Host", "").encode()))
    port = int(origin.url.rpartition(":")[2])
    proxy = Configured(BASE)
    tunnel = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    assert proxy.through(origin.url + "/") == 200 and exchange(proxy.port, tunnel)[0].startswith(b"HTTP/1.1 403")
    proxy.reload(BASE + f"connect-port = [{port}]\n")
    assert head_of(proxy.port, tunnel).startswith(b"HTTP/1.1 200")
    kept = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=30)  # one thread, which keeps a connection to the origin

    def again():
        kept.request("GET", origin.url + "/", headers={"Host": origin.url[7:]})
        answer = kept.getresponse()
        answer.read()
        return answer.status

    assert again() == 200 and again() == 200
    proxy.reload('name = "px"\n')
    until(lambda: again() == 403, 5, "no more of a connection that was allowed")
    kept.close()
    proxy.reload(BASE + f'origin = ["www.example={origin.url}"]\n')
    assert proxy.through("/", Host="www.example") == 200 and proxy.through(origin.url + "/") == 421
    proxy.reload(BASE + f'parent = ["http://127.0.0.1:{free_port()}"]\n')
    assert proxy.through("/", Host="www.example") == 421 and proxy.through(origin.url + "/") == 502
    proxy.reload(BASE + f'parent = ["http://127.0.0.1:{free_port()}"]\ndirect = true\nhost-name = ["www.example"]\n')
    assert proxy.through(origin.url + "/") == 200 and proxy.through("/healthz", Host="www.example") == 200
    assert proxy.through("/metrics", Host="www.example") == 200
    proxy.write("secret\n", "token")
    proxy.reload(BASE + f'token-file = "{proxy.path("token")}"\n')
    key = {"Proxy_Authorization": "Bearer secret"}
    assert proxy.through(origin.url + "/") == 403 and proxy.through(origin.url + "/", **key) == 200
    proxy.write("another\n", "token")
    proxy.reload()  # the same options, another content
    assert proxy.through(origin.url + "/", **key) == 403
    assert proxy.through(origin.url + "/", Proxy_Authorization="Bearer another") == 200
    proxy.reload(BASE)
    assert proxy.through(origin.url + "/") == 200
    return origin, proxy


@test
def the_last_rule_does_not_go_unnoticed():
    proxy = Configured(BASE + 'rule = ["deny"]\n')
    none = "warning there are no rules any more: everyone whom --allow-client admits may use the proxy"
    assert none not in proxy.reload(BASE + 'rule = ["allow"]\n')
    assert none in proxy.reload(BASE) and none not in proxy.reload()
    return proxy,


@test
def limits_and_logs_change():
    origin = Origin(lambda request: fresh(b"x"))
    proxy = Configured(BASE)
    first, second = proxy.path("first.log"), proxy.path("second.log")

    def lines(path):
        with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
            return file.read().splitlines()
        return []

    proxy.reload(BASE + f'access-log = "{first}"\n')
    proxy.through(origin.url + "/one")
    proxy.reload(BASE + f'access-log = "{second}"\nlog-format = "json"\n')
    assert len(lines(first)) == 1 and "/one" in lines(first)[0]
    proxy.through(origin.url + "/two")
    until(lambda: len(lines(second)) == 1)
    assert lines(second)[0].startswith("{") and len(lines(first)) == 1
    proxy.reload(BASE + "max-per-address = 2\n")
    with socket.create_connection(("127.0.0.1", proxy.port)), socket.create_connection(("127.0.0.1", proxy.port)):
        assert exchange(proxy.port, b"GET /healthz HTTP/1.0\r\n\r\n")[0].startswith(b"HTTP/1.1 429")
    wrong = BASE + 'log-level = "none"\n'
    proxy.reload(wrong)
    proxy.write(BASE + 'log-level = "error"\n')
    proxy.process.send_signal(signal.SIGHUP)  # which is then not told
    until(lambda: proxy.metric("posy_last_reload_ok") == 1)
    proxy.reload(wrong)  # an error still is
    before = len(proxy.log)
    assert b" 400 " in exchange(proxy.port, b"nonsense\r\n\r\n")[0]
    proxy.reload(wrong)
    assert len(proxy.log) == before + 1, proxy.log[before:]
    return origin, proxy


@test
def certificates_and_peers_change():
    def served():
        with socket.create_connection(("127.0.0.1", tls)) as plain, anyone.wrap_socket(plain) as secure:
            return ssl.DER_cert_to_PEM_cert(secure.getpeercert(True))

    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname, anyone.verify_mode = False, ssl.CERT_NONE
    tls = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        old, new = certificate(folder, "old"), certificate(folder, "new")
        text = lambda pem: BASE + f'tls-cert = "{pem}"\ntls-key = "{pem}.key"\n'
        proxy = Configured(text(old), "--listen-tls", f"127.0.0.1:{tls}")
        with open(old, encoding="utf-8") as file:
            assert served() == file.read()
        assert "not the key of the certificate" in proxy.reload(BASE + f'tls-cert = "{new}"\ntls-key = "{old}.key"\n')
        proxy.reload(text(new))
        with open(new, encoding="utf-8") as file:
            wanted = file.read()
        until(lambda: served() == wanted)
        node = Node(POSY)
        proxy.reload(text(new) + f'peer = ["b={node.url}"]\n')
        until(lambda: proxy.metric('posy_peer_up{peer="b"}') == 1)
        proxy.reload(text(new))
        until(lambda: proxy.metric('posy_peer_up{peer="b"}') is None)
        node.kill(signal.SIGTERM)
    return None, proxy


@test
def the_documents_list_what_changes():
    """The table of docs/proxy.md: each of these is taken by a reload, and no warning says otherwise."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "proxy.md"), encoding="utf-8") as file:
        table = file.read().split("**Reloading.**")[1].split("For every other setting")[0].split("|---|---|")[1]
    listed = set(re.findall(r"`([a-z-]+)`", table))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pem = certificate(folder, "px")
        for name, text in (("token", "secret\n"), ("peers.json", '{"peers": []}'), ("groups", "staff: alice\n"),
                           ("tokens", f"alice:{'1' * 64}\n"), ("users", f"alice:$6$salt${'.' * 86}\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        values = {
            "allow-admin": ["loopback"], "allow-client": ["loopback"], "allow-peer": ["loopback"], "token-file": f"{folder}/token", "host-name": ["x.example"],
            "peer": ["b=http://127.0.0.1:1"], "peers": f"{folder}/peers.json", "max-connections": 100, "max-per-address": 50, "max-rate": 10, "head-time": 5,
            "idle-time": 5, "tls-cert": pem, "tls-key": pem + ".key", "tls-ca": pem, "log-level": "info", "quiet": False, "access-log": f"{folder}/log",
            "log-format": "json", "connect-port": [8443], "allow-destination": ["private"], "origin": ["x=http://127.0.0.1:1"], "backend-host": True,
            "forwarded-by": ["private"], "also-forward": True, "parent": ["http://127.0.0.1:1"], "direct": True, "keep-siblings": True,
            "rule": ["allow user *"], "users": f"{folder}/users", "user-tokens": f"{folder}/tokens", "groups": f"{folder}/groups"}
        assert set(values) == listed, set(values) ^ listed
        proxy = Configured("")
        said = proxy.reload("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
        assert "reloaded" in said and "has changed" not in said, said
        others = {"change": 0.1, "disk": f"{folder}/disk", "disk-bytes": "1GiB", "dns": ["127.0.0.1"], "fpr": 0.1, "hint": True, "interval": 10, "items": 5000, "max-head": "64KiB",
                  "max-object": "1MiB", "memory": "16MiB", "name": "x", "poll": 5, "sharing": "full", "state": folder, "wait": 30}
        said = proxy.reload("".join(f"{name} = {json.dumps(value)}\n" for name, value in others.items()))
        assert set(re.findall(r"posy.toml:\d+:\d+: (\S+) has changed", said)) == set(others), said
        proxy.close()
    return ()


@test
def a_node_reloads_too():
    node = Configured('items = "1k"\n', command="node")
    assert ask(node.port, "/metrics")[0] == 200
    said = node.reload('items = "2k"\nallow-admin = ["10.9.9.9"]\n')
    assert "posy.toml:1:9: items has changed" in said, said
    assert ask(node.port, "/metrics")[0] == 403
    for wrong in ('check-list = "nope.posy"\n', 'data = "/proc/x"\n', 'state = "/proc/x"\n', 'items = "x"\n', 'parent = ["http://127.0.0.1:1"]\n', "sync = true\n"):
        assert "settings stay" in node.reload(wrong), wrong
    assert ask(node.port, "/metrics")[0] == 403
    node.close()
    node = Configured('overlay = "attenuated"\nbeat = 1\n', command="node")
    said = node.reload('overlay = "attenuated"\nbeat = 1\npeer = ["http://127.0.0.1:1"]\nmax-rate = 100\n')
    assert "posy.toml:3:8: peer has changed" in said and "max-rate" not in said, said
    return None, node


run()
