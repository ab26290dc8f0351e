"""Bodies of requests and what is said before the answer: early refusals, expectations, interim answers.

Usage: uploads_test.py POSY [test …]
"""
import contextlib
import os
import select
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import RawServer  # noqa: E402
from waiting import until  # noqa: E402

REFUSAL = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\n\r\ntoo large"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Scripted(RawServer):
    """An origin that runs a script on each connection, after the head of a request: (connection, head)."""

    def __init__(self, script):
        self.script, self.heads = script, []
        super().__init__()

    def serve(self, connection):
        head = read_until(connection, b"\r\n\r\n")
        self.heads.append(head)
        self.script(connection, head)


def read_until(connection, end, seconds=10):
    """All bytes up to the first that end so; less when the connection ends before."""
    connection.settimeout(seconds)
    got = b""
    while not got.endswith(end):
        piece = connection.recv(1)
        if not piece:
            break
        got += piece
    return got


def read_all(connection, seconds=10):
    connection.settimeout(seconds)
    got = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            got += piece
    return got


def quiet(connection, seconds=0.3):
    return not select.select([connection], [], [], seconds)[0]


def ask(proxy, head, *fields):
    s = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    s.sendall("\r\n".join([head, *fields, "", ""]).encode())
    return s


def post(proxy, origin, *fields, version="HTTP/1.1"):
    return ask(proxy, f"POST {origin.url}/upload {version}", "Host: x", *fields)


@test
def an_early_refusal_reaches_the_client():
    """Without a byte of the body; the connection to the origin is not used again."""
    def refuse(connection, head):
        connection.sendall(REFUSAL)
        assert read_until(connection, b"never") == b""  # closed from the other side
        ended.set()
    ended = threading.Event()
    origin, proxy = Scripted(refuse), Proxy(POSY)
    with post(proxy, origin, "Content-Length: 1000000000") as s:
        got = read_until(s, b"too large")
        assert got.startswith(b"HTTP/1.1 413 ") and b"\r\nConnection: close\r\n" in got, got
        assert ended.wait(10)
        assert read_all(s) == b""
    assert proxy.result("passed") == 1
    return origin, proxy


@test
def a_client_that_sends_all_before_it_reads_sees_the_refusal():
    def refuse(connection, head):
        connection.sendall(REFUSAL)
        read_all(connection)
    origin, proxy = Scripted(refuse), Proxy(POSY)
    for size in (100_000, 20_000_000):
        with post(proxy, origin, f"Content-Length: {size}") as s:
            s.sendall(bytes(size))
            assert read_until(s, b"too large").startswith(b"HTTP/1.1 413 ")
    return origin, proxy


@test
def an_answer_goes_while_the_body_comes():
    """An origin that answers 200 at once and then repeats what it reads: nothing is lost, and nothing waits."""
    def echo(connection, head):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n")
        left = 10_000_000
        while left and (piece := connection.recv(65536)):
            connection.sendall(piece)
            left -= len(piece)
    origin, proxy = Scripted(echo), Proxy(POSY)
    body = bytes(range(250)) * 40_000
    with post(proxy, origin, "Content-Length: 10000000") as s:
        s.sendall(body[:100])
        assert read_until(s, b"\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert s.recv(100) == body[:100]
        sending = threading.Thread(target=s.sendall, args=(body[100:],))
        sending.start()
        got = bytearray(body[:100])
        while len(got) < len(body):
            piece = s.recv(1 << 20)
            assert piece
            got += piece
        sending.join()
        assert got == body
        s.sendall(f"OPTIONS {origin.url}/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n".encode())
        assert read_all(s).startswith(b"HTTP/1.1 200 ")  # the client's connection is as good as new
    return origin, proxy


@test
def a_body_is_sent_to_its_end_behind_a_whole_answer():
    def answer_first(connection, head):
        connection.sendall(OK)
        got.append(read_until(connection, b"end"))
    got = []
    origin, proxy = Scripted(answer_first), Proxy(POSY)
    with post(proxy, origin, "Content-Length: 6") as s:
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
        s.sendall(b"theend")
        until(lambda: got == [b"theend"], what="the body at the origin")
    return origin, proxy


@test
def the_origin_meets_the_expectation():
    def careful(connection, head):
        assert b"\r\nExpect: 100-continue\r\n" in head
        assert asked.wait(10)
        connection.sendall(b"HTTP/1.1 100 Continue\r\nX-Why: yes\r\n\r\n")
        assert read_until(connection, b"body") == b"body"
        connection.sendall(OK)
    asked = threading.Event()
    origin, proxy = Scripted(careful), Proxy(POSY)
    with post(proxy, origin, "Expect: 100-continue", "Content-Length: 4") as s:
        until(lambda: origin.heads)
        assert quiet(s)  # the proxy does not answer for the origin
        asked.set()
        interim = read_until(s, b"\r\n\r\n")
        assert interim.startswith(b"HTTP/1.1 100 Continue\r\n") and b"X-Why: yes\r\n" in interim, interim
        s.sendall(b"body")
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    return origin, proxy


@test
def an_expectation_that_fails_costs_no_body():
    def refuse(connection, head):
        connection.sendall(REFUSAL)
        got.append(read_all(connection))
    got = []
    origin, proxy = Scripted(refuse), Proxy(POSY)
    with post(proxy, origin, "Expect: 100-continue", "Content-Length: 4") as s:
        said = read_all(s)
        assert said.startswith(b"HTTP/1.1 413 ") and b"Connection: close\r\n" in said and said.count(b"HTTP/1.1") == 1, said
    until(lambda: got)
    assert got == [b""]
    return origin, proxy


@test
def an_origin_that_does_not_know_expectations():
    def simple(connection, head):
        assert read_until(connection, b"body") == b"body"
        connection.sendall(OK)
    origin, proxy = Scripted(simple), Proxy(POSY)
    with post(proxy, origin, "Expect: 100-continue", "Content-Length: 4") as s:
        assert read_until(s, b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(b"body")
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    with post(proxy, origin, "Expect: 100-continue", "Content-Length: 4", version="HTTP/1.0") as s:
        s.sendall(b"body")
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    assert [b"\r\nExpect: " in head for head in origin.heads] == [True, False]
    return origin, proxy


@test
def a_malformed_chunk_is_the_clients_fault():
    def wait(connection, head):
        got.append(read_all(connection))
    got = []
    origin, proxy = Scripted(wait), Proxy(POSY)
    for body, passed in ((b"2\r\nab\r\nzz\r\n", b"2\r\nab\r\n"), (b"2\r\nabc\r\n0\r\n\r\n", b"2\r\nab\r\n"), (b"-1\r\n", b"")):
        with post(proxy, origin, "Transfer-Encoding: chunked") as s:
            s.sendall(body)
            assert read_all(s).startswith(b"HTTP/1.1 400 ")
        until(lambda: got)
        assert passed.startswith(got.pop())
    return origin, proxy


@test
def trailers_of_a_request_reach_the_origin():
    def take(connection, head):
        got.append(read_until(connection, b"\r\n\r\n"))
        connection.sendall(OK)
    got = []
    origin, proxy = Scripted(take), Proxy(POSY)
    with post(proxy, origin, "Transfer-Encoding: chunked", "Trailer: X-Sum") as s:
        s.sendall(b"4\r\nbody\r\n0\r\nX-Sum: 7\r\nHost: other\r\nCache-Control: no-store\r\n\r\n")
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    assert got == [b"4\r\nbody\r\n0\r\nX-Sum: 7\r\n\r\n"], got
    assert b"\r\nTrailer: X-Sum\r\n" in origin.heads[0] and b"X-Sum: 7" not in origin.heads[0]
    return origin, proxy


@test
def trailers_of_an_answer_reach_the_client():
    def trail(connection, head):
        connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n"
                           b"2\r\nok\r\n0\r\nX-Sum: 7\r\nContent-Length: 9\r\nAge: 1\r\n\r\n")
    origin, proxy = Scripted(trail), Proxy(POSY)
    with ask(proxy, f"GET {origin.url}/ HTTP/1.1", "Host: x", "Connection: close") as s:
        head, _, body = read_all(s).partition(b"\r\n\r\n")
        assert body.startswith(b"2\r\nok\r\n") and body.endswith(b"0\r\nX-Sum: 7\r\n\r\n"), body
        assert b"X-Sum" not in head and b"Age" not in head, head
    with ask(proxy, f"GET {origin.url}/ HTTP/1.0", "Host: x") as s:
        assert read_all(s).endswith(b"\r\n\r\nok")
    return origin, proxy


@test
def interim_answers_reach_clients_that_know_them():
    def hint(connection, head):
        connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n"
                           b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n")
        assert heard.wait(10)
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" + OK)  # nobody waits for that one
    heard = threading.Event()
    origin, proxy = Scripted(hint), Proxy(POSY)
    with ask(proxy, f"GET {origin.url}/ HTTP/1.1", "Host: x") as s:
        assert read_until(s, b"\r\n\r\n").startswith(b"HTTP/1.1 102 ")
        said = read_until(s, b"\r\n\r\n")
        assert said == (b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nVia: 1.1 " + proxy.name.encode() + b"\r\n\r\n"), said
        heard.set()
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    with ask(proxy, f"GET {origin.url}/ HTTP/1.0", "Host: x") as s:
        assert read_until(s, b"\r\n\r\nok").startswith(b"HTTP/1.1 200 ")
    return origin, proxy


run()
