"""Hostile clients of a proxy with rules: guessers of passwords while others are served, credentials of every size, stolen places.

  tests/hostile/rules_test.py POSY [test …]
"""
import base64
import multiprocessing
import os
import random
import socket
import sys
import tempfile
import threading
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

with warnings.catch_warnings():  # gone with Python 3.13
    warnings.simplefilter("ignore")
    import crypt

FOLDER = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)


def hashed(password, cost=2 ** 9):
    return crypt.crypt(password, crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=cost))


def world(*rules):
    path = os.path.join(FOLDER.name, "users")
    with open(path, "w") as f:
        f.write(f"alice:{hashed('wonder')}\nbob:{hashed('builder')}\n")
    origin = Origin(lambda r: fresh(b"here"))
    return origin, Proxy(POSY, "--users", path, *[option for each in rules for option in ("--rule", each)])


class Client:
    """Requests from one address of the loopback, over one connection while that lasts."""

    def __init__(self, proxy, url, source="127.0.0.1"):
        self.proxy, self.url, self.source, self.socket = proxy, url, source, None

    def ask(self, name=None, password=None):
        """The status of an answer."""
        field = f"Proxy-Authorization: Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}\r\n" if name else ""
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.proxy.port), 30, (self.source, 0))
            self.lines = self.socket.makefile("rb")
        self.socket.sendall(f"GET {self.url}/ HTTP/1.1\r\nHost: x\r\n{field}\r\n".encode())
        status, length = int(self.lines.readline().split()[1]), 0
        while (line := self.lines.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        self.lines.read(length)
        return status

    def close(self):
        if self.socket:
            self.lines.close()
            self.socket.close()


def passwords(proxy, result):
    return proxy.metric(f'posy_proxy_passwords_total{{result="{result}"}}')


def browse(client, count):
    """Latencies of a known client, in order of size."""
    taken = []
    for _ in range(count):
        started = time.monotonic()
        assert client.ask("alice", "wonder") == 200
        taken.append(time.monotonic() - started)
    return sorted(taken)


def guess(proxy, url, sources, enough, counts):
    """Wrong passwords, as fast as they are answered."""
    clients = [Client(proxy, url, each) for each in sources]
    for i in range(10 ** 6):
        if enough.is_set():
            break
        status = clients[i % len(clients)].ask("alice", f"guess {random.random()}")
        with counts.get_lock():
            counts[status] += 1
    for each in clients:
        each.close()


def guess_together(proxy, url, groups, enough, counts):
    guessing = [threading.Thread(target=guess, args=(proxy, url, each, enough, counts)) for each in groups]
    for each in guessing:
        each.start()
    for each in guessing:
        each.join()


def guessed(proxy, origin, known, groups, most):
    """Latencies of a known client while these addresses guess, and what the guessers were answered.

    They guess in a process of their own: Python runs one thread at a time, and the known client would wait for theirs.
    """
    forked = multiprocessing.get_context("fork")
    enough, counts = forked.Event(), forked.Array("q", 600)
    guessing = forked.Process(target=guess_together, args=(proxy, origin.url, groups, enough, counts), daemon=True)
    guessing.start()
    try:
        until(lambda: sum(counts) > most // 4, 60)
        taken = browse(known, 300)
        until(lambda: sum(counts) > most, 60)
    finally:
        enough.set()
        guessing.join()
    assert guessing.exitcode == 0
    return taken, {status: count for status, count in enumerate(counts) if count}


@test
def a_guesser_holds_up_nobody():
    origin, proxy = world("allow user *")
    known = Client(proxy, origin.url)
    quiet = browse(known, 300)
    began = time.monotonic()
    taken, counts = guessed(proxy, origin, known, [["127.0.0.66"]] * 4, 2000)
    lasted = time.monotonic() - began
    assert set(counts) == {407, 429}, counts
    checked = passwords(proxy, "wrong")
    assert 10 <= checked <= 10 + 0.5 * lasted + 1, (checked, lasted)  # ten at once, then one per two seconds
    print(f"    {sum(counts.values())} wrong passwords in {lasted:.1f} s, {checked:.0f} of them hashed; a known client: median "
          f"{quiet[150] * 1e3:.2f} ms quiet, {taken[150] * 1e3:.2f} ms meanwhile; 99 %: {quiet[297] * 1e3:.2f} and {taken[297] * 1e3:.2f} ms")
    assert taken[297] < 1.0
    assert Client(proxy, origin.url, "127.0.0.67").ask("bob", "builder") == 200  # a new one, from elsewhere
    known.close()
    return origin, proxy


@test
def many_guessers_hold_up_no_known_client():
    origin, proxy = world("allow user *")
    known = Client(proxy, origin.url)
    quiet = browse(known, 300)
    taken, counts = guessed(proxy, origin, known, [[f"127.1.{i}.1", f"127.1.{i}.2"] for i in range(80)], 300)
    assert set(counts) <= {407, 429, 503} and counts.get(503, 0) > 10, counts
    print(f"    160 addresses were answered {counts}; a known client: median {quiet[150] * 1e3:.2f} ms quiet, {taken[150] * 1e3:.2f} ms meanwhile")
    assert taken[297] < 1.0
    new = Client(proxy, origin.url, "127.0.0.67")
    until(lambda: new.ask("bob", "builder") == 200)
    for each in (known, new):
        each.close()
    return origin, proxy


@test
def it_ends_while_passwords_are_checked():
    origin, proxy = world("allow user * rate 5")
    waiting = []
    for i in range(40):
        s = socket.create_connection(("127.0.0.1", proxy.port), 30, (f"127.0.2.{i + 1}", 0))
        s.sendall(f"GET {origin.url}/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {base64.b64encode(b'alice:no').decode()}\r\n\r\n".encode())
        waiting.append(s)
    until(lambda: passwords(proxy, "checked") >= 1)
    proxy.close()  # with status 0
    for s in waiting:
        s.close()
    return origin,


@test
def credentials_of_every_size():
    origin, proxy = world("allow user *")

    def status(value):
        got = exchange(proxy.port, b"GET " + origin.url.encode() + b"/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: "
                       + value + b"\r\n\r\n")[0]
        return int(got.split()[1])
    right = base64.b64encode(b"alice:wonder")
    assert status(b"Basic " + right) == 200
    random.seed(5)
    for value in (b"", b"Basic", b"Basic " + right + b"=", b"Basic " + right[:-1], b"Basic =" + right, b"Basic \xff\xff\xff\xff", b"Basic " + b"=" * 400,
                  b"Basic " + b"A" * 30_000, b"Basic " + base64.b64encode(b"alice:" + b"x" * 20_000), b"Bearer " + b"x" * 30_000,
                  b"Basic " + base64.b64encode(b"alice:wonder\0"), b"Basic " + base64.b64encode(b"alice\0:wonder"),
                  b"Basic " + right + b"\r\nProxy-Authorization: Basic " + right, b"Basic " + right + b", Basic " + right,
                  b"Negotiate " + right, b"basic" + right, *[bytes(random.choices(range(33, 127), k=random.randrange(1, 300))) for _ in range(200)]):
        assert status(value) in (407, 400, 429), value[:80]
    assert status(b"Basic " + b"A" * 40_000) == 431
    return origin, proxy


@test
def limits_hold_for_what_is_abandoned():
    """Places of a rule come back, however a request ends."""
    free = threading.Event()
    origin = Origin(lambda r: free.wait(20) and (200, [("Cache-Control", "no-store")], b"slow"))
    proxy = Proxy(POSY, "--rule", "allow connections 3")
    for _ in range(20):
        waiting = []
        for i in range(3):
            s = socket.create_connection(("127.0.0.1", proxy.port), 30)
            s.sendall(f"GET {origin.url}/{random.random()} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            waiting.append(s)
        for s in waiting:
            s.close()
        if not free.is_set():
            until(lambda: proxy.metric('posy_proxy_rule_total{rule="1",decision="allow"}') >= 3)
            free.set()
    until(lambda: proxy.get(origin.url + "/")[0] == 200)
    return origin, proxy


if __name__ == "__main__":
    run()
