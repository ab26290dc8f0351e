"""How long the proxy waits for others, and what is written down when it waits no more.

Usage: times_test.py POSY [test …]
"""
import json
import os
import signal
import socket
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import RawServer, heads  # noqa: E402
from waiting import until  # noqa: E402


class Silent(RawServer):
    """Answers with these bytes, and says nothing more until the other side hangs up."""

    def __init__(self, said=b""):
        self.said, self.ended = said, 0
        super().__init__()

    def serve(self, connection):
        for _ in heads(connection):
            connection.sendall(self.said)
        self.ended += 1


def connected(proxy, request):
    client = socket.create_connection(("127.0.0.1", proxy.port))
    client.settimeout(20)
    client.sendall(request.encode())
    return client


def read_to_end(client):
    got = b""
    try:
        while piece := client.recv(65536):
            got += piece
    except ConnectionResetError:
        got += b"(reset)"
    return got


@test
def head():
    origin = Silent()
    proxy = Proxy(POSY, "--origin-time", "0.3")
    status, _, body = proxy.get(f"{origin.url}/late")
    assert status == 504 and b"did not answer in time" in body, (status, body)
    proxy.close()
    return origin, None


@test
def silence():
    """An answer that stands still is cut off, whoever else may read it, and the log says why."""
    origin = Silent(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 100\r\n\r\nhalf")
    shared = Silent(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 100\r\n\r\nhalf")
    proxy = Proxy(POSY, "--silence-time", "0.3")
    for each in origin, shared:
        with connected(proxy, f"GET {each.url}/still HTTP/1.1\r\nHost: x\r\n\r\n") as client:
            got = read_to_end(client)
        assert got.endswith((b"half", b"half(reset)")), got
        until(lambda each=each: any(f"{each.url}/still: cut off after 0.3 seconds" in line for line in proxy.log), what="a line of the log")
        until(lambda each=each: each.ended == 1, what="the end of the origin's connection")
    proxy.close()
    return origin, shared


@test
def tunnels():
    origin = Silent(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello")
    port = origin.url.rpartition(":")[2]
    proxy = Proxy(POSY, "--tunnel-time", "0.3", "--connect-port", port)
    for request in (f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
                    f"GET {origin.url}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"):
        with connected(proxy, request) as client:
            assert read_to_end(client).startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 101 "))
    until(lambda: origin.ended == 2, what="the end of both")
    proxy.close()
    return origin, None


@test
def refused():
    for name in ("origin-time", "silence-time", "tunnel-time"):
        try:
            Proxy(POSY, f"--{name}", "0").close()
        except (AssertionError, RuntimeError):
            continue
        raise AssertionError(f"--{name} 0 was taken")


@test
def end_of_the_process():
    """What is under way when the process ends is in the access log: a tunnel, a stream, a request without an answer."""
    stream = Silent(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    silent = Silent()
    port = silent.url.rpartition(":")[2]
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    log = os.path.join(folder.name, "log")
    proxy = Proxy(POSY, "--access-log", log, "--log-format", "json", "--connect-port", port)
    clients = [connected(proxy, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
               connected(proxy, f"GET {stream.url}/stream HTTP/1.1\r\nHost: x\r\n\r\n"),
               connected(proxy, f"GET {silent.url}/late HTTP/1.1\r\nHost: x\r\n\r\n")]
    for client in clients[:2]:
        assert client.recv(65536)
    until(lambda: proxy.metric("posy_connections") == 4, what="all connections")
    proxy.process.send_signal(signal.SIGTERM)
    assert proxy.process.wait(20) == 0
    with open(log) as lines:
        ended = {entry["url"]: entry for entry in map(json.loads, lines) if entry.get("result") != "node"}
    assert ended[f"127.0.0.1:{port}"]["result"] == "tunnel", ended
    assert ended[f"{stream.url}/stream"]["status"] == 200 and ended[f"{stream.url}/stream"]["bytes"] >= 5, ended
    assert ended[f"{silent.url}/late"]["status"] in (499, 502, 504), ended
    for client in clients:
        client.close()
    folder.cleanup()
    return stream, silent


run()
