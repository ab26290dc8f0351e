"""Answers of origins that are nearly HTTP: what RFC 9112 asks a proxy to mend is mended, the rest is 502.

Usage: lenient_test.py POSY [test …]
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, ask, exchange  # noqa: E402
from origins import RawOrigin  # noqa: E402

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: 2\r\n\r\nok"
MENDED = {
    "blanks before a colon": (b"HTTP/1.1 200 OK\r\nX-A \t : 1\r\nContent-Length : 2\r\n\r\nok", "1"),
    "no reason": (b"HTTP/1.1 200 \r\nX-A: 1\r\n" + LENGTH, "1"),
    "no reason and no space": (b"HTTP/1.1 200\r\nX-A: 1\r\n" + LENGTH, "1"),
    "a folded value": (b"HTTP/1.1 200 OK\r\nX-A: 1\r\n  2\r\n\t3\r\n" + LENGTH, "1 2 3"),
    "a long folded value": (b"HTTP/1.1 200 OK\r\nX-A: 1\r\n " + b"y" * 6000 + b"\r\n" + LENGTH, "1 " + "y" * 6000),
    "bare line feeds": (b"HTTP/1.1 200 OK\nX-A: 1\nContent-Length: 2\n\nok", "1"),
    "bare line feeds before a body with others": (b"HTTP/1.1 200 OK\nX-A: 1\nTransfer-Encoding: chunked\n\n2\r\nok\r\n0\r\n\r\n", "1"),
    "blanks behind the size of a chunk": (CHUNKED + b"2   \r\nok\r\n0  \r\n\r\n", None),
    "trailers that may not be": (CHUNKED + b"2\r\nok\r\n0\r\nX-B: 1\r\nContent-Length: 7\r\nX-A: 1\r\n\r\n", None),
}
BEYOND = {
    "line feeds of both kinds": b"HTTP/1.1 200 OK\nX-A: 1\r\nContent-Length: 2\r\n\r\nok",
    "a bare line feed in a value": b"HTTP/1.1 200 OK\r\nX-A: 1\nX-B: 2\r\n" + LENGTH,
    "a bare carriage return": b"HTTP/1.1 200 OK\r\nX-A: 1\r2\r\n" + LENGTH,
    "a fold of nothing": b"HTTP/1.1 200 OK\r\n X-A: 1\r\n" + LENGTH,
    "a blank inside a name": b"HTTP/1.1 200 OK\r\nX A: 1\r\n" + LENGTH,
    "no name": b"HTTP/1.1 200 OK\r\n : 1\r\n" + LENGTH,
    "lengths that disagree": b"HTTP/1.1 200 OK\r\nContent-Length : 3\r\n" + LENGTH,
    "both lengths": b"HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n" + LENGTH,
    "not HTTP": b"220 mail.example ESMTP\r\n",
}


@test
def what_is_nearly_http_is_mended():
    origin = RawOrigin(lambda path: [list(MENDED.values())[int(path[1:])][0]])
    proxy = Proxy(POSY)
    for number, (name, (_, value)) in enumerate(MENDED.items()):
        for _ in range(2):  # the connection to the origin is used again
            status, fields, body = proxy.get(f"{origin.url}/{number}")
            assert (status, fields.get("X-A"), body) == (200, value, b"ok"), (name, status, str(fields), body)
    # A byte at a time is as good as all at once.
    slow = RawOrigin(lambda path: [bytes([byte]) for byte in MENDED["blanks before a colon"][0]])
    assert proxy.get(slow.url + "/")[2] == b"ok"
    slow.close()
    return origin, proxy


@test
def what_is_not_http_is_refused():
    origin = RawOrigin(lambda path: [list(BEYOND.values())[int(path[1:])]])
    proxy = Proxy(POSY)
    for number, name in enumerate(BEYOND):
        assert proxy.get(f"{origin.url}/{number}")[0] == 502, name
    return origin, proxy


@test
def requests_are_not_mended():
    proxy = Proxy(POSY)
    for head in (b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-A : 1\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
                 b"POST http://x/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"):
        got, ended = exchange(proxy.port, head)
        assert ended and got.startswith(b"HTTP/1.1 400 "), got
    return None, proxy


@test
def larger_heads_by_option():
    def answer(path):
        lines = int(path[1:]) // 1000  # Python takes no line beyond 64 KiB, and no more than 100 of them
        return [b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-A: " + 10_000 * b"a" + b"\r\n" for _ in range(lines // 10)) + LENGTH]
    origin, small, large = RawOrigin(answer), Proxy(POSY), Proxy(POSY, "--max-head", "256KiB")
    for proxy, size, status in ((small, 30_000, 200), (small, 40_000, 502), (large, 200_000, 200), (large, 300_000, 502)):
        assert proxy.get(f"{origin.url}/{size}")[0] == status, size
    for proxy, size, status in ((small, 40_000, 431), (large, 200_000, 200), (large, 300_000, 431)):
        assert ask(proxy.port, f"{origin.url}/1", fields={"X-A": size * "a"})[0] == status, size
    many = {f"X-{i}": "1" for i in range(500)}
    assert ask(small.port, f"{origin.url}/1", fields=many)[0] == 431
    assert ask(large.port, f"{origin.url}/1", fields=many)[0] == 200
    small.close()
    return origin, large


run()
