"""Requests that go on as another protocol: a real WebSocket, one of our own, and those that stay what they are.

Usage: upgrade_test.py POSY [test …]
"""
import asyncio
import contextlib
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
sys.path.append("/usr/lib/python3/dist-packages")  # python3-websockets of Debian, whichever Python this is
import websockets  # noqa: E402
import websockets.legacy.client  # noqa: E402

from cases import POSY, origin_and_proxy, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import RawServer, fresh, heads  # noqa: E402


def read_to(connection, end):
    got = b""
    while not got.endswith(end):
        piece = connection.recv(1)
        assert piece, got
        got += piece
    return got


def ask(proxy, url, *fields, version="HTTP/1.1"):
    s = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    s.sendall("\r\n".join([f"GET {url} {version}", "Host: x", *fields, "", ""]).encode())
    return s


@test
def nothing_is_fetched_for_a_sibling():
    """A peer that wants only what is stored, as another protocol: rules and networks hold for it, and no origin is asked."""
    origin, proxy = origin_and_proxy(lambda r: fresh(b"x"), "--rule", "deny")
    for fields in ([], ["Connection: Upgrade", "Upgrade: websocket"]):
        with ask(proxy, origin.url + "/", "Cache-Control: only-if-cached", *fields) as s:
            assert read_to(s, b"\r\n\r\n").split()[1] in (b"403", b"504")
    assert not origin.requests
    return origin, proxy


@test
def a_websocket():
    """A client and a server of the library `websockets`: texts, large binaries, pings and a close with a reason."""
    class ThroughProxy(websockets.legacy.client.WebSocketClientProtocol):
        def write_http_request(self, path, headers):
            super().write_http_request(f"http://{headers['Host']}{path}", headers)

    async def echo(connection):
        seen.append(connection.request_headers)
        with contextlib.suppress(websockets.ConnectionClosedError):  # by a code of the client's own
            async for message in connection:
                await connection.send(message)

    async def talk():
        async with websockets.serve(echo, "127.0.0.1", 0, max_size=None) as server:
            origin = server.sockets[0].getsockname()[1]
            for _ in range(2):
                to_proxy = socket.create_connection(("127.0.0.1", proxy.port))
                async with websockets.connect(f"ws://127.0.0.1:{origin}/chat", sock=to_proxy, create_protocol=ThroughProxy,
                                              max_size=None) as client:
                    for message in ("hello", "grüße", b"\x00" * 3_000_000, ""):
                        await client.send(message)
                        assert await client.recv() == message
                    await (await client.ping())
                    await client.close(4000, "enough")
                    assert (client.close_code, client.close_reason) == (4000, "enough")
    seen, proxy = [], Proxy(POSY)
    asyncio.run(asyncio.wait_for(talk(), 60))
    assert all(head["Via"] == f"1.1 {proxy.name}" and head["Upgrade"] == "websocket" for head in seen) and len(seen) == 2
    assert proxy.result("tunnel") == 2
    return None, proxy


class Shouter(RawServer):
    """Speaks a protocol of one line each way, if it is asked to."""

    def __init__(self):
        self.heads = []
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            self.heads.append(head)
            if "Upgrade: shout\r\n" not in head:
                connection.sendall(b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: shout\r\nConnection: Upgrade\r\nContent-Length: 3\r\n\r\nno\n")
                continue
            connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: shout\r\n\r\nFIRST\n")
            while line := read_line(connection):
                connection.sendall(line.upper())
            connection.sendall(b"BYE\n")
            return


def read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(1)
        if not piece:
            return line
        line += piece
    return line


@test
def another_protocol():
    origin, proxy = Shouter(), Proxy(POSY)
    with ask(proxy, origin.url + "/", "Connection: Upgrade, X-Hop", "X-Hop: 1", "Upgrade: shout") as s:
        s.sendall(b"early\n")  # it does not wait for the 101
        head = read_to(s, b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 Switching Protocols\r\n"), head
        assert b"\r\nConnection: Upgrade\r\n" in head and b"\r\nUpgrade: shout\r\n" in head, head
        assert [read_line(s) for _ in range(2)] == [b"FIRST\n", b"EARLY\n"]
        s.sendall(b"hello\n")
        assert read_line(s) == b"HELLO\n"
        s.shutdown(socket.SHUT_WR)  # each way ends on its own
        assert read_line(s) == b"BYE\n" and s.recv(1) == b""
    assert "X-Hop: 1\r\n" not in origin.heads[0] and "Connection: Upgrade\r\n" in origin.heads[0]
    return origin, proxy


@test
def any_other_answer_is_an_answer():
    origin, proxy = Shouter(), Proxy(POSY)
    with ask(proxy, origin.url + "/", "Connection: Upgrade", "Upgrade: whisper") as s:
        assert read_to(s, b"\r\n\r\nno\n").startswith(b"HTTP/1.1 426 ")
        s.sendall(f"GET {origin.url}/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: whisper\r\n\r\n".encode())
        assert read_to(s, b"\r\n\r\nno\n").startswith(b"HTTP/1.1 426 ")  # the connection goes on
    # Without Connection, or in HTTP/1.0, it is no request for another protocol.
    for fields, version in ((["Upgrade: shout"], "HTTP/1.1"), (["Connection: Upgrade", "Upgrade: shout"], "HTTP/1.0")):
        with ask(proxy, origin.url + "/", *fields, version=version) as s:
            assert read_to(s, b"\r\n\r\nno\n").startswith(b"HTTP/1.1 426 ")
        assert not any(line.startswith("Upgrade") for line in origin.heads[-1]), origin.heads[-1]
    return origin, proxy


@test
def http_2_ends_here():
    """Some clients offer it with every request; these are answered from the store like all others."""
    origin, proxy = origin_and_proxy({"/a": fresh(b"a")})
    offer = {"Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABk"}
    assert proxy.get(origin.url + "/a", **offer)[2] == b"a"
    assert "; hit" in status_of(proxy.get(origin.url + "/a", **offer)[1])
    sent = origin.requests[0][2]
    assert "Upgrade" not in sent and "HTTP2-Settings" not in sent and "Connection" not in sent, sent
    return origin, proxy


run()
