"""Names of origins: a name server of the test, lifetimes, silence, truncation, many dead names at once.

Usage: names_test.py POSY [test …]
"""
import concurrent.futures
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from nameserver import A, AAAA, SERVFAIL, SILENCE, NameServer  # noqa: E402
from origins import Origin  # noqa: E402
from waiting import until  # noqa: E402


def world(zone, *options, **terms):
    """An origin, a name server and a proxy that asks it."""
    origin = Origin(lambda r: (200, [("Cache-Control", "no-store"), ("Connection", "close")], b"here"))
    server = NameServer(zone, **terms)
    return origin, server, Proxy(POSY, "--dns", server.address, *options)


def names(proxy, result):
    return proxy.metric(f'posy_names_total{{result="{result}"}}')


@test
def a_lifetime_is_kept_to():
    origin, server, proxy = world({"site.example": ["127.0.0.1"], "short.example": ["127.0.0.1"]})
    url = f"http://site.example:{origin.port}/"
    for _ in range(5):
        assert proxy.get(url)[0] == 200
    assert (server.asked["site.example", A], server.asked["site.example", AAAA]) == (1, 1)
    server.ttl = 0  # is once per second
    short = f"http://short.example:{origin.port}/"
    until(lambda: proxy.get(short) and proxy.get(short.replace("short", "ShOrT")) and server.count("short.example") >= 3)
    assert server.count("site.example") == 1
    assert names(proxy, "asked") >= 4 and names(proxy, "failed") == 0
    return origin, server, proxy


@test
def a_name_that_does_not_exist_is_remembered():
    origin, server, proxy = world({"broken.example": SERVFAIL, "empty.example": []})
    for name in ("gone.example", "empty.example", "broken.example"):
        for _ in range(3):
            status, _, body = proxy.get(f"http://{name}/")
            assert status == 502 and b"Host not found" in body, body
        assert server.count(name) == 1 or name == "broken.example", server.asked
    assert b"try again later" in body  # no server gave an answer
    assert names(proxy, "failed") == 1
    assert proxy.get("http://" + "a" * 70 + ".example/")[0] == 502  # no label is that long
    assert proxy.get("http://a..b.example/")[0] == 502
    return origin, server, proxy


@test
def a_truncated_answer_comes_by_tcp():
    many = ["127.0.0.1"] * 40
    origin, server, proxy = world({"long.example": many}, truncated=["long.example"])
    assert proxy.get(f"http://long.example:{origin.port}/")[2] == b"here"
    assert server.by_tcp["long.example", A] == 1
    return origin, server, proxy


@test
def one_kind_of_address_is_enough():
    def only(wanted, answer):
        return lambda kind: answer if kind == wanted else SILENCE
    half = lambda kind: ["127.0.0.1"] if kind == A else SERVFAIL  # noqa: E731
    origin, server, proxy = world({"four.example": only(A, ["127.0.0.1"]), "half.example": half})
    for name in ("four.example", "half.example"):
        started = time.monotonic()
        assert proxy.get(f"http://{name}:{origin.port}/")[2] == b"here"
        assert time.monotonic() - started < 5  # giving up takes 7 seconds
    return origin, server, proxy


@test
def many_ask_for_one_name_once():
    free = threading.Event()
    origin, server, proxy = world({"slow.example": lambda kind: free.wait(20) and ["127.0.0.1"]})
    url = f"http://slow.example:{origin.port}/"
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        asked = [pool.submit(proxy.get, f"{url}{i}") for i in range(20)]
        until(lambda: server.asked.total() >= 1 and proxy.metric("posy_connections") >= 20)
        free.set()
        assert all(each.result()[0] == 200 for each in asked)
    assert names(proxy, "asked") == 1
    return origin, server, proxy


@test
def dead_names_hold_up_nobody():
    dead = {f"dead{i}.example": SILENCE for i in range(10)}
    origin, server, proxy = world({**dead, "site.example": ["127.0.0.1"]})
    server.ttl = 0  # the others' name is looked up again and again

    def latencies(count):
        taken = []
        for i in range(count):
            started = time.monotonic()
            assert proxy.get(f"http://site.example:{origin.port}/{i}")[0] == 200
            taken.append(time.monotonic() - started)
        return sorted(taken)

    quiet = latencies(100)
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(proxy.get, f"http://{name}/") for name in dead]
        until(lambda: proxy.metric("posy_names_under_way") == 10)
        busy = latencies(30)
        assert proxy.metric("posy_names_under_way") == 10  # all that time
        assert proxy.get("http://new.example/")[0] == 502  # an answer at once, for a new name as well
        for each in waiting:
            status, _, body = each.result()
            assert status == 502 and b"try again" in body, (status, body)
    print(f"    median {quiet[50] * 1e3:.2f} ms quiet, {busy[15] * 1e3:.2f} ms beside ten dead names; "
          f"the slowest: {quiet[-1] * 1e3:.2f} and {busy[-1] * 1e3:.2f} ms")
    assert busy[-1] < 2.0, busy  # seconds; a dead name takes seven
    return origin, server, proxy


@test
def addresses_outlast_their_servers():
    origin, server, proxy = world({"site.example": ["127.0.0.1"]}, ttl=1)
    url = f"http://site.example:{origin.port}/"
    assert proxy.get(url)[0] == 200
    server.zone["site.example"] = SERVFAIL
    until(lambda: proxy.get(url)[0] == 200 and names(proxy, "failed") >= 1)
    assert proxy.get(url)[0] == 200
    return origin, server, proxy


@test
def the_hosts_file_comes_first():
    origin, server, proxy = world({})
    for name in ("localhost", "app.localhost"):
        assert proxy.get(f"http://{name}:{origin.port}/")[2] == b"here"
    with open("/etc/hosts") as hosts:
        lines = [line.split("#")[0].split() for line in hosts]
    if any(socket.gethostname() in line[1:] for line in lines):
        assert proxy.get(f"http://{socket.gethostname()}:9/")[0] == 502  # found; nobody listens there
    assert server.asked.total() == 0
    return origin, server, proxy


@test
def the_option_is_checked():
    for bad in ("server.example", "1.2.3.4:99999", "::1:x", "", "300.1.1.1"):
        done = subprocess.run([POSY, "proxy", "--dns", bad], capture_output=True, text=True)
        assert done.returncode != 0 and "--dns" in done.stderr, (bad, done.stderr)
    return ()


run()
