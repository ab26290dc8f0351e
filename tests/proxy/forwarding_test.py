"""What goes through the proxy: gateways, loops, tunnels, ranges, hop-by-hop fields; its log, and its end.

Usage: forwarding_test.py POSY [test …]
"""
import concurrent.futures
import os
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, origin_and_proxy, run, test  # noqa: E402
from daemons import Proxy, free_port  # noqa: E402
from origins import fresh  # noqa: E402
from waiting import until  # noqa: E402


@test
def gateways_loops_and_tunnels():
    origin, proxy = origin_and_proxy({"/a": fresh(b"a")}, "--connect-port", "1")
    closed = free_port()
    status, fields, body = proxy.get(f"http://127.0.0.1:{closed}/")
    assert status == 502 and b"origin" in body
    assert proxy.get(origin.url + "/a", Via=f"1.1 other, 1.1 {proxy.name}")[0] == 508
    assert proxy.get("ftp://example.org/")[0] == 400
    with socket.create_connection(("127.0.0.1", proxy.port)) as s:
        s.sendall(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 403 " in s.recv(1000)
    proxy.close()
    tunneling = Proxy(POSY, "--connect-port", str(origin.port))
    with socket.create_connection(("127.0.0.1", tunneling.port)) as s:
        s.sendall(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n"
                  "GET /a HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n".encode())
        data = b""
        while part := s.recv(65536):
            data += part
    assert data.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK") and data.endswith(b"\r\n\r\na")
    assert tunneling.result("tunnel") == 1
    return origin, tunneling


@test
def ranges_pass_or_are_answered_whole():
    def answer(request):
        if request.headers.get("Range"):
            return 206, [("Content-Range", "bytes 0-1/10"), ("Cache-Control", "max-age=60")], b"01"
        return fresh(b"0123456789")
    origin, proxy = origin_and_proxy(lambda r: answer)
    for _ in range(2):
        assert proxy.get(origin.url + "/r", Range="bytes=0-1")[::2] == (206, b"01")
    assert origin.count("/r") == 2
    assert proxy.get(origin.url + "/r")[2] == b"0123456789"
    return origin, proxy


@test
def hop_by_hop_fields_stay():
    origin, proxy = origin_and_proxy(lambda r: fresh(b"a", ("Connection", "X-Hop"), ("X-Hop", "1"), ("X-End", "1")))
    _, fields, _ = proxy.get(origin.url + "/", Connection="X-Mine", X_Mine="1", TE="trailers", X_Yours="1")
    sent = origin.requests[0][2]
    assert "X-Mine" not in sent and "TE" not in sent and sent["X-Yours"] == "1" and sent["Via"] == f"1.1 {proxy.name}"
    assert "X-Hop" not in fields and fields["X-End"] == "1"
    return origin, proxy


@test
def the_access_log():
    with tempfile.TemporaryDirectory() as folder:
        origin, proxy = origin_and_proxy({'/a"b': fresh(b"12345")}, "--access-log", f"{folder}/log")
        proxy.get(origin.url + '/a"b')
        proxy.close()
        with open(f"{folder}/log") as file:
            line = file.read()
    assert line.startswith("127.0.0.1 - - [") and line.endswith(f'] "GET {origin.url}/a\\x22b HTTP/1.1" 200 5\n'), line
    return origin, None


@test
def a_graceful_end():
    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", proxy.port)) == 0

    def slow(request):
        until(lambda: not listens(), what="the proxy's end")
        return fresh(b"done")
    origin, proxy = origin_and_proxy(lambda r: slow)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        late = pool.submit(lambda: proxy.get(origin.url + "/"))
        idle = socket.create_connection(("127.0.0.1", proxy.port))
        until(lambda: origin.requests)
        start = time.monotonic()
        proxy.close()
        assert late.result()[2] == b"done"
        assert time.monotonic() - start < 4
        idle.close()
    return origin, None


run()
