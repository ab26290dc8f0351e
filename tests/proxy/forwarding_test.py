"""What goes through the proxy: gateways, loops, tunnels, ranges, hop-by-hop fields; its log, and its end.

Usage: forwarding_test.py POSY [test …]
"""
import email
import concurrent.futures
import os
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, origin_and_proxy, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import RawServer, fresh, heads  # noqa: E402
from ports import free_port  # noqa: E402
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
def a_connection_that_somebody_logged_in_on_is_nobody_elses():
    """NTLM and Negotiate log a connection in; what comes on it next would be answered as that user."""
    came = {}

    def answer(request):
        came[request.path] = request.client_address
        says = [("WWW-Authenticate", "Basic realm=x, NTLM")] if request.path == "/asks" else []
        return (401 if says else 200), [("Cache-Control", "no-store"), *says], b"x"
    origin, proxy = origin_and_proxy(answer, "--threads", "1")
    for path, fields in (("/1", {}), ("/2", {}), ("/kept", {"Authorization": "Basic eDp5"}), ("/logged-in", {"Authorization": "NTLM TlRM"}), ("/3", {}),
                         ("/also", {"Authorization": "negotiate YII="}), ("/4", {}), ("/asks", {}), ("/5", {})):
        proxy.get(origin.url + path, **fields)
    assert came["/1"] == came["/2"] == came["/kept"] == came["/logged-in"], came
    assert came["/3"] not in (came["/logged-in"], came["/4"]) and came["/3"] == came["/also"] and came["/4"] == came["/asks"] != came["/5"], came
    return origin, proxy


@test
def ranges_pass_or_are_answered_from_the_store():
    whole = bytes(i % 251 for i in range(1000))

    def answer(request):
        if request.headers.get("Range"):
            return 206, [("Content-Range", "bytes 0-1/10"), ("Cache-Control", "max-age=60")], b"01"
        return fresh(whole, ("ETag", '"1"'), ("Content-Type", "text/plain"))
    origin, proxy = origin_and_proxy(answer, "--whole-object", "0")
    url = origin.url + "/r"
    for _ in range(2):
        assert proxy.get(url, Range="bytes=0-1")[::2] == (206, b"01")
    assert origin.count("/r") == 2
    assert proxy.get(url)[2] == whole
    status, fields, body = proxy.get(url, Range="bytes=10-19")
    assert (status, body, fields["Content-Range"], fields["Content-Length"]) == (206, whole[10:20], "bytes 10-19/1000", "10")
    assert fields["ETag"] == '"1"' and "; hit" in status_of(fields)
    assert proxy.get(url, Range="bytes=-5")[2] == whole[-5:] and proxy.get(url, Range="bytes=990-")[2] == whole[990:]
    # Several parts, which overlap or do not.
    status, fields, body = proxy.get(url, Range="bytes=0-9,500-509")
    assert status == 206 and int(fields["Content-Length"]) == len(body), fields.items()
    parts = email.message_from_bytes(b"Content-Type: " + fields["Content-Type"].encode() + b"\r\n\r\n" + body).get_payload()
    assert [(part["Content-Type"], part["Content-Range"]) for part in parts] == [
        ("text/plain", "bytes 0-9/1000"), ("text/plain", "bytes 500-509/1000")]
    assert proxy.get(url, Range="bytes=0-9,5-14")[2] == whole[:15]
    # None of it; and what does not apply.
    status, fields, body = proxy.get(url, Range="bytes=1000-")
    assert (status, body, fields["Content-Range"]) == (416, b"", "bytes */1000")
    assert proxy.get(url, Range="bytes=0-1", If_Range='"1"')[0] == 206
    for ignored in ({"Range": "bytes=0-1", "If-Range": '"2"'}, {"Range": "bytes=2-1"}, {"Range": "lines=0-1"}):
        assert proxy.get(url, **ignored)[::2] == (200, whole), ignored
    assert proxy.get(url, Range="bytes=0-1", If_None_Match='"1"')[0] == 304
    assert proxy.get(url, "HEAD", Range="bytes=0-1")[0] == 200
    assert origin.count("/r") == 3
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
def options_of_the_proxy_and_of_a_server():
    origin, proxy = origin_and_proxy(lambda r: fresh(r.path.encode()))
    status, fields, _ = proxy.get("*", method="OPTIONS")
    assert status == 200 and "CONNECT" in fields["Allow"]
    assert proxy.get(origin.url, method="OPTIONS")[2] == b"*"
    assert proxy.get(origin.url + "/", method="OPTIONS", Max_Forwards="1")[2] == b"/"
    assert origin.requests[-1][2]["Max-Forwards"] == "0"
    assert proxy.get(origin.url, method="OPTIONS", Max_Forwards="0")[1]["Allow"] and len(origin.requests) == 2
    return origin, proxy


@test
def only_what_may_come_twice_is_sent_twice():
    """On a kept connection that the origin closes when the next request comes (RFC 9110, 9.2.2)."""
    class Fickle(RawServer):
        seen = []

        def serve(self, connection):
            for number, head in enumerate(heads(connection)):
                self.seen.append(head[0].split(" ")[0])
                if number == 1:
                    return
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    origin, proxy = Fickle(), Proxy(POSY, "--threads", "1")
    for method, times in (("GET", 2), ("DELETE", 2), ("LOCK", 1), ("POST", 1)):
        assert proxy.get(origin.url + "/1")[0] == 200  # its connection is kept
        origin.seen.clear()
        status, _, body = proxy.get(origin.url + "/2", method=method)
        assert status == 200, (method, body)
        assert origin.seen == times * [method], (method, origin.seen)
        origin.seen.clear()
        proxy.get(origin.url + "/3")  # takes what was kept
        proxy.close()
        proxy = Proxy(POSY, "--threads", "1")
    return origin, proxy


@test
def the_access_log():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
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
        assert time.monotonic() - start < 15
        idle.close()
    return origin, None


run()
