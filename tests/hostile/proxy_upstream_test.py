"""Hostile clients and origins against what the proxy does upstream: renewals, confirmations, interim answers, siblings.

  tests/hostile/proxy_upstream_test.py POSY [test …]
"""
import contextlib
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, status_of, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from origins import Origin, RawOrigin, fresh  # noqa: E402
from proxy_support import request  # noqa: E402
from waiting import until  # noqa: E402

MOST_RENEWALS_OF_ONE = 8  # apps/proxy/renewals.hpp
MOST_INTERIM = 16         # apps/http/client.hpp


def descriptors(proxy):
    return len(os.listdir(f"/proc/{proxy.process.pid}/fd"))


class Stalling(RawOrigin):
    """An origin whose answers are stale at once and may be served so; revalidations are left without an end."""

    def __init__(self, to_revalidations):
        self.to_revalidations, self.asked, self.ended = to_revalidations, [], []
        super().__init__(answer=None)

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            while head := connection.recv(65536):
                if b"If-None-Match" in head:
                    self.asked.append(head.split(b" ")[1])
                    self.stall(connection)
                    self.ended.append(connection)
                    return
                connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=0, stale-while-revalidate=100000\r\n"
                                   b'ETag: "1"\r\nContent-Length: 2\r\n\r\nhi')

    def stall(self, connection):
        """A byte now and then, until the other side has had enough."""
        with contextlib.suppress(ConnectionError):
            connection.sendall(self.to_revalidations)
            connection.settimeout(0.5)
            while True:
                with contextlib.suppress(TimeoutError):
                    if not connection.recv(1):
                        return
                if self.to_revalidations:
                    connection.sendall(b"1\r\nx\r\n")


@test
def renewals_are_few():
    """60 stale URLs of one client, at an origin that never finishes a revalidation."""
    for says in (b"", b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"):
        origin = Stalling(says)
        proxy = Proxy(POSY, "--memory", "16MiB")
        before = descriptors(proxy)
        for i in range(60):
            for _ in range(3):
                assert proxy.get(f"{origin.url}/{i}")[2] == b"hi"
        most = MOST_RENEWALS_OF_ONE
        until(lambda: len(origin.asked) >= most)
        assert len(origin.asked) == len(set(origin.asked)) == most, "renewals beyond the limit, or two of one URL"
        # Each of them is a connection; a few more are kept for the next request.
        assert descriptors(proxy) <= before + most + 40, descriptors(proxy)
        assert proxy.result("stale") == 120

        def given_up():
            return len(origin.ended) == most
        if says:
            until(given_up, 120)  # 30 s for all of it, however steadily the bytes come
        origin.close()
        proxy.kill()
    return None, None


@test
def renewals_go_on_when_others_are_done():
    """The places are given back: more URLs than places are renewed, one after the other."""
    count = 3 * MOST_RENEWALS_OF_ONE
    origin = Origin(lambda r: (304, [("Cache-Control", "max-age=60"), ("ETag", '"1"')], b"")
                    if r.headers.get("If-None-Match") else
                    (200, [("Cache-Control", "max-age=0, stale-while-revalidate=1000"), ("ETag", '"1"')], b"hi"))
    proxy = Proxy(POSY)
    for i in range(count):
        proxy.get(f"{origin.url}/{i}")
        assert "; hit" in status_of(proxy.get(f"{origin.url}/{i}")[1])

        def renewed():
            return "ttl=-" not in status_of(proxy.get(f"{origin.url}/{i}")[1])
        until(renewed)
    return origin, proxy


@test
def a_304_to_one_client_is_not_for_others():
    """Fields of a 304 to a request with Authorization or cookies, foreground and behind the client's back."""
    def answer(r):
        way = r.path.split("/")[1]
        if not r.headers.get("If-None-Match"):
            return 200, [("ETag", '"1"'), ("X-Account", "nobody"),
                         ("Cache-Control", "max-age=0" + (", stale-while-revalidate=1000" if "behind" in r.path else ""))], b"hi"
        who = "alice" if r.headers.get("Authorization") or r.headers.get("Cookie") else "bob"
        says = {"plain": "max-age=60", "public": "public, max-age=60", "private": "private, max-age=60"}[way]
        return 304, [("ETag", '"1"'), ("X-Account", who), ("Set-Cookie", f"a={who}"), ("Set-Cookie2", f"b={who}"),
                     ("Cache-Control", says)], b""
    origin = Origin(answer)
    proxy = Proxy(POSY)
    alice = {"Authorization": "Basic YWxpY2U6eA=="}, {"Cookie": "user=alice"}
    for way in ("plain", "private"):
        for i, fields in enumerate(alice):
            url = f"{origin.url}/{way}/{i}"
            proxy.get(url)
            _, got, body = proxy.get(url, **fields)
            assert (body, got["X-Account"]) == (b"hi", "alice") and got["Set-Cookie"] == "a=alice", (way, i)
            _, got, body = proxy.get(url)
            assert body == b"hi" and got["X-Account"] != "alice", (way, i, "what Alice was told went to Bob")
            assert "alice" not in str(got), (way, i)
    # A 304 to a password confirms nothing for others; one to a cookie does.
    assert [origin.count(f"/plain/{i}") for i in range(2)] == [3, 2]
    # Whoever says public means everyone.
    url = f"{origin.url}/public/0"
    proxy.get(url)
    proxy.get(url, **alice[0])
    assert proxy.get(url)[1]["X-Account"] == "alice" and origin.count("/public/0") == 2
    # Behind the client's back.
    for i, fields in enumerate(alice):
        url = f"{origin.url}/plain/behind/{i}"
        proxy.get(url)
        assert "; hit" in status_of(proxy.get(url, **fields)[1])

        def asked():
            return origin.count(f"/plain/behind/{i}") == 2
        until(asked)
        for _ in range(5):
            got = proxy.get(url, Cache_Control="only-if-cached, max-stale")[1]
            assert got["X-Account"] == "nobody" and "alice" not in str(got), (i, str(got))
    return origin, proxy


@test
def interim_answers_end():
    """Without end, of another protocol, or of no status at all: 502, after a few."""
    taken = []

    def endless(path):
        first = {"/101": b"HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n", "/099": b"HTTP/1.1 099 S\r\n\r\n"}.get(path)
        if first:
            yield first
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
            return
        some = int(path[1:])
        for i in range(some):
            taken.append(i)
            yield b"HTTP/1.1 103 Early Hints\r\n\r\n"
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
    origin = RawOrigin(endless)
    proxy = Proxy(POSY)

    def statuses(path, version):
        got, _ = exchange(proxy.port, f"GET {origin.url}{path} HTTP/{version}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d{3}) ", got, re.M)]
    for path, status, heard in ((f"/{MOST_INTERIM}", 200, MOST_INTERIM), (f"/{MOST_INTERIM + 1}", 502, MOST_INTERIM),
                                ("/1000000", 502, MOST_INTERIM), ("/101", 502, 0), ("/099", 502, 0)):
        assert statuses(path, "1.1") == heard * [103] + [status], path
        assert statuses(path, "1.0") == [status], path
    return origin, proxy


@test
def a_slow_reader_holds_nobody_up():
    """What is stored is fetched at the origin's pace: whoever wants the same has it at once."""
    size = 7_000_000  # more than the kernel takes off our hands
    for framing in ("length", "chunked"):
        def answer(path):
            body = b"~" * size
            head = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n"
            if framing == "length":
                return [head + b"Content-Length: %d\r\n\r\n" % size, body]
            return [head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % size, body, b"\r\n0\r\n\r\n"]
        origin = RawOrigin(answer)
        proxy = Proxy(POSY, "--memory", "512MiB")
        slow = request(proxy.port, origin.url + "/popular")

        def stored():
            return proxy.metrics()['posy_cache_objects{tier="memory"}'] == 1
        until(stored)  # and the slow one has read nothing
        _, fields, body = proxy.get(origin.url + "/popular")
        assert len(body) == size and "; hit" in status_of(fields), status_of(fields)
        # The slow one gets all of it, too.
        count, last = 0, b""
        while count < size or not last.endswith(b"0\r\n\r\n" if framing == "chunked" else b"~"):
            part = slow.recv(1 << 20)
            assert part, "the answer of the slow reader broke off"
            count, last = count + part.count(b"~"), (last + part)[-10:]
        assert count == size
        slow.close()
        origin.close()
        proxy.close()
    return None, None


@test
def a_body_without_room_still_arrives():
    """Of unknown length, too large to be stored in the end: the client has every byte, and the next one, too."""
    pieces = [bytes([i % 251]) * 7001 for i in range(400)]

    def answer(path):
        yield b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n"
        for piece in pieces:
            yield b"%x\r\n%s\r\n" % (len(piece), piece)
        yield b"0\r\n\r\n"
    origin = RawOrigin(answer)
    proxy = Proxy(POSY, "--memory", "4MiB")
    for i in range(2):
        assert proxy.get(origin.url + "/large")[2] == b"".join(pieces)
        assert proxy.metrics()["posy_proxy_unkept_total"] == i + 1
    assert proxy.metrics()['posy_cache_objects{tier="memory"}'] == 0
    return origin, proxy


@test
def an_answer_that_breaks_off_is_not_whole():
    """While it is stored: the client sees the break, the store has nothing, and others are not kept waiting."""
    def answer(path):
        yield b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 500000\r\n\r\n" + b"x" * 100_000
        raise OSError("broken off")
    origin = RawOrigin(answer)
    proxy = Proxy(POSY)
    for _ in range(2):
        got = b""
        with contextlib.suppress(ConnectionResetError), request(proxy.port, origin.url + "/half") as s:
            while part := s.recv(1 << 20):
                got += part
        assert len(got) < 500_000
    assert proxy.metrics()['posy_cache_objects{tier="memory"}'] == 0
    return origin, proxy


@test
def clients_cannot_make_a_sibling_rest():
    origin = Origin(lambda r: fresh(r.path.encode()))
    b = Proxy(POSY, "--change", "0.0001", "--interval", "0.3", name="pb")
    a = Proxy(POSY, "--peer", f"pb={b.url}", "--change", "0.0001", "--interval", "0.3", name="pa")
    for i in range(30):
        b.get(f"{origin.url}/{i}")

    def known():
        return all(a.who(f"{origin.url}/{i}")["peers"] for i in range(30))
    until(known)
    hostile = [{"Via": "1.1 pb"}, {f"X{i}": "a" for i in range(97)}, {"Accept": "a" * 32_000},
               {"Cache_Control": "min-fresh=100000000"}, {"User_Agent": "a" * 30_000}]
    for i, fields in enumerate(hostile):
        status, _, body = a.get(f"{origin.url}/{i}", **fields)
        assert (status, body) == (200, f"/{i}".encode()), (fields, status)
        said = status_of(a.get(f"{origin.url}/{10 + i}")[1])
        assert "detail=pb" in said, (str(fields)[:40], said)
    assert a.metrics()["posy_proxy_sibling_failures_total"] == 0
    assert a.metrics()['posy_peer_false_hits_total{peer="pb"}'] == 0
    b.close()
    return origin, a


@test
def siblings_choose_no_variant_blindly():
    """What varies by a field that siblings are not told is taken from them only without that field."""
    origin = Origin(lambda r: fresh((r.headers.get("X-Kind") or "-").encode(), ("Vary", "X-Kind, Accept-Language")))
    sibling = Origin(lambda r: (204, [], b"") if r.path.startswith("/have") else
                     fresh(b"-", ("Vary", "X-Kind, Accept-Language"), ("Cache-Status", "b; hit")))
    proxy = Proxy(POSY, "--sharing", "ask", "--peer", f"b={sibling.url}")
    assert proxy.get(origin.url + "/1", X_Kind="mine")[2] == b"mine"
    _, fields, body = proxy.get(origin.url + "/2", Accept_Language="de")
    assert body == b"-" and "detail=b" in status_of(fields)
    asked = [sent for _, path, sent in sibling.requests if path.startswith("http")]
    assert len(asked) == 2 and all("X-Kind" not in sent for sent in asked) and asked[1]["Accept-Language"] == "de"
    assert all(sent["Via"] == f"1.1 {proxy.name}" for sent in asked)
    sibling.close()
    return origin, proxy


@test
def a_malformed_body_is_the_clients_fault():
    origin = Origin(lambda r: fresh(b"hi"))
    proxy = Proxy(POSY)
    for body in (b"0x3\r\nabc\r\n0\r\n\r\n", b"3\r\nabcd\r\n0\r\n\r\n", b"zz\r\n"):
        with socket.create_connection(("127.0.0.1", proxy.port), 30) as s:
            s.sendall(b"POST %s/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" % origin.url.encode() + body)
            assert re.match(rb"HTTP/1.1 400 ", s.recv(100)), body
    assert proxy.result("failed") == 0
    assert proxy.metrics()['posy_refused_total{why="malformed"}'] == 3
    return origin, proxy


@test
def only_if_cached_forwards_nothing():
    proxy = Proxy(POSY)
    status, fields, _ = proxy.get("http://127.0.0.1:9/", Cache_Control="only-if-cached")
    assert status == 504 and status_of(fields) == f"{proxy.name}; detail=age", status_of(fields)
    return None, proxy


run()
