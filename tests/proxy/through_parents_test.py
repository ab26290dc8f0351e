"""Misses and tunnels through parents: order, failure, --direct, what is checked.

Usage: through_parents_test.py POSY [test …]
"""
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from origins import Origin, RawServer, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


def origin():
    return Origin(lambda r: fresh(f"{r.command} {r.path}".encode()))


@test
def misses_go_to_the_parent():
    o, parent = origin(), Proxy(POSY, "--connect-port", "1")
    child = Proxy(POSY, "--parent", parent.url)
    assert child.get(o.url + "/a")[2] == b"GET /a"
    told = o.requests[-1][2]["Via"]
    assert child.name in told
    assert child.get(o.url + "/a")[2] == b"GET /a"  # from here
    assert parent.result("origin") == 1 and parent.result("hit") == 0 and child.result("hit") == 1
    assert child.get(o.url + "/post", "POST", b"body")[2] == b"POST /post" and o.count("/post") == 1
    assert child.get(o.url, "OPTIONS")[2] == b"OPTIONS *" and child.get(o.url + "/", "OPTIONS")[2] == b"OPTIONS /"
    # What the parent answers is the answer.
    closed = free_port()
    assert child.get(f"http://127.0.0.1:{closed}/")[0] == 502
    assert child.get(o.url + "/b")[0] == 200  # it was not the parent's fault
    parent.close()
    return o, child


@test
def parents_are_tried_in_order():
    o, second = origin(), Proxy(POSY)
    dead = free_port()
    child = Proxy(POSY, "--parent", f"http://127.0.0.1:{dead}", "--parent", second.url)
    for i in range(3):
        assert child.get(f"{o.url}/{i}")[0] == 200
    assert second.result("origin") == 3
    first = Proxy(POSY, port=dead)  # it is back, and rests
    assert child.get(o.url + "/3")[0] == 200 and second.result("origin") == 4
    second.close()
    assert child.get(o.url + "/4")[0] == 200 and first.result("origin") == 1  # rather than none
    assert child.get(o.url + "/5")[0] == 200 and first.result("origin") == 2
    first.close()
    return o, child


@test
def a_parent_that_wants_a_password_is_no_answer():
    """Its 407 would ask the client for credentials that never reach it."""
    parent = Origin(lambda r: (407, [("Proxy-Authenticate", "Basic")], b""))
    child = Proxy(POSY, "--parent", parent.url)
    status, fields, body = child.get("http://a.example/")
    assert status == 502 and b"the parent proxy wants credentials" in body and not fields["Proxy-Authenticate"], (status, body)
    return parent, child


@test
def one_that_begins_to_want_a_password_takes_nothing_away():
    says = ("Cache-Control", "max-age=1, stale-while-revalidate=300"), ("Age", "2")
    parent = Origin(lambda r: (407, [("Proxy-Authenticate", "Basic")], b"") if len(parent.requests) > 1 else (200, says, b"page"))
    child = Proxy(POSY, "--parent", parent.url)

    def renewed_again():
        known = len(parent.requests)
        assert child.get("http://a.example/")[2] == b"page"
        return len(parent.requests) > known
    for _ in range(5):
        until(renewed_again)
    return parent, child


@test
def without_a_parent():
    o, dead = origin(), f"http://127.0.0.1:{free_port()}"
    strict, lenient = Proxy(POSY, "--parent", dead), Proxy(POSY, "--parent", dead, "--direct", "--connect-port", str(free_port()))
    assert strict.get(o.url + "/")[0] == 502 and not o.requests
    assert lenient.get(o.url + "/")[2] == b"GET /" and lenient.get(o.url + "/p", "POST", b"x")[0] == 502
    strict.close()
    return o, lenient


@test
def the_loss_of_a_parent_is_told_to_the_log_alone():
    o, port = origin(), free_port()
    child = Proxy(POSY, "--parent", f"http://127.0.0.1:{port}", "--connect-port", str(o.port))
    for _ in range(3):
        status, _, body = child.get(o.url + "/")
        assert status == 502 and b"no parent proxy can be reached" in body and str(port).encode() not in body, body
    said = exchange(child.port, f"CONNECT 127.0.0.1:{o.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())[0]
    assert b"no parent proxy can be reached" in said and str(port).encode() not in said, said
    parent = Proxy(POSY, port=port)
    assert child.get(o.url + "/")[0] == child.get(o.url + "/b")[0] == 200
    until(lambda: any("is back" in line for line in child.log))
    lost, back = ([line for line in child.log if words in line] for words in (f"warning parent 127.0.0.1:{port}: ", f"info parent 127.0.0.1:{port} is back"))
    assert len(lost) == len(back) == 1, child.log
    parent.close()
    return o, child


@test
def tunnels_go_through_the_parent():
    class Greeter(RawServer):
        def serve(self, connection):  # speaks first, as mail servers do
            connection.sendall(b"220 hello\r\n")
            connection.sendall(connection.recv(1000).upper())
    server = Greeter()
    port = server.url.rpartition(":")[2]
    options = ("--connect-port", port)
    parent = Proxy(POSY, *options)
    child = Proxy(POSY, "--parent", parent.url, *options)
    with socket.create_connection(("127.0.0.1", child.port), 10) as s:
        s.sendall(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n\r\nquit\r\n".encode())
        got = b""
        while piece := s.recv(1000):
            got += piece
    assert got.startswith(b"HTTP/1.1 200 ") and got.endswith(b"\r\n\r\n220 hello\r\nQUIT\r\n"), got
    assert parent.result("tunnel") == child.result("tunnel") == 1
    narrow = Proxy(POSY, "--parent", child.url, "--connect-port", "9", "--connect-port", port)
    with socket.create_connection(("127.0.0.1", narrow.port), 10) as s:
        s.sendall(b"CONNECT 127.0.0.1:9 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 403 " in s.recv(1000)  # the parent's word
    for each in (narrow, parent, server):
        each.close()
    return child,


@test
def addresses_are_still_checked():
    o, parent = origin(), Proxy(POSY)
    child = Proxy(POSY, "--parent", parent.url, destinations=())
    for host in ("127.0.0.1", "127.0.0.1.", "127.1", "[::1]", "2130706433"):
        assert child.get(f"http://{host}:{o.port}/")[0] == 403, host
    assert not o.requests
    parent.close()
    return o, child


@test
def options_are_checked():
    for bad in ("proxy:x", "ftp://x", "http://x/path", ""):
        done = subprocess.run([POSY, "proxy", "--parent", bad], capture_output=True, text=True, timeout=20)
        assert done.returncode != 0 and "--parent" in done.stderr, (bad, done.stderr)
    return ()


run()
