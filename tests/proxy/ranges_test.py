"""Ranges through real proxies: parts that are kept, wholes that are fetched for them, memory, disk, purges, siblings.

Usage: ranges_test.py POSY [test …]
"""
import concurrent.futures
import functools
import hashlib
import http.client
import os
import random
import re
import socket
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, posy, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, RawOrigin, RawServer, heads  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


@functools.lru_cache(maxsize=8)
def content(path, size):
    """Bytes that no two places have in common."""
    seed = hashlib.sha256(path.encode()).digest()
    return (b"".join(hashlib.sha256(seed + i.to_bytes(4, "big")).digest() for i in range((size + 31) // 32)))[:size]


def ranged(*fields, whole=()):
    """An origin of objects as large as their paths say (/1000/x), which answers ranges; `whole` are fields of whole answers."""
    def answer(request):
        body = content(request.path, int(request.path.split("/")[1]))
        named = {name for name, _ in (*fields, *whole)}
        usual = [(n, v) for n, v in (("ETag", f'"{request.path}"'), ("Cache-Control", "max-age=3600")) if n not in named]
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        if not found:
            return 200, [*usual, *fields, *whole], body
        first, last = int(found[1]), min(int(found[2]), len(body) - 1)
        usual = [(n, v) for n, v in (("ETag", f'"{request.path}"'), ("Cache-Control", "max-age=3600")) if n not in dict(fields)]
        return 206, [*usual, *fields, ("Content-Range", f"bytes {first}-{last}/{len(body)}")], body[first:last + 1]
    return Origin(answer)


def wholes(origin):
    return sum("Range" not in fields for _, _, fields in origin.requests)


def part(proxy, url, first, last, **fields):
    """What comes for a range, which must be the right bytes; and whether it is from the store."""
    status, head, body = proxy.get(url, Range=f"bytes={first}-{last}", **fields)
    path = "/" + url.split("/", 3)[3]
    assert status == 206 and body == content(path, int(path.split("/")[1]))[first:last + 1], (status, len(body))
    return "; hit" in status_of(head)


def asked_for(origin, path):
    """The Range of each request for a path."""
    return [fields.get("Range") for _, p, fields in origin.requests if p == path]


def here(proxy, url, first, last):
    return proxy.get(url, Range=f"bytes={first}-{last}", Cache_Control="only-if-cached")[0] == 206


@test
def the_rest_of_what_is_not_kept_is_not_asked_for():
    origin, proxy = ranged(), Proxy(POSY, "--max-object", "10000", "--whole-object", "0")
    for path, fields in (("/20000/x", {}), ("/5000/x", {"Cache_Control": "no-store"})):
        part(proxy, origin.url + path, 0, 99)
        assert proxy.get(origin.url + path, **fields)[2] == content(path, int(path.split("/")[1]))
        assert asked_for(origin, path) == ["bytes=0-99", None]
    return origin, proxy


@test
def a_range_of_something_small_fetches_the_whole():
    origin, proxy = ranged(), Proxy(POSY)
    url = origin.url + "/100000/a"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(lambda i: part(proxy, url, i * 100, i * 100 + 99), range(8)))) == 8
    until(lambda: here(proxy, url, 0, 99_999))
    assert wholes(origin) == 1
    asked = len(origin.requests)
    status, fields, body = proxy.get(url)
    assert status == 200 and body == content("/100000/a", 100_000) and "; hit" in status_of(fields)
    assert part(proxy, url, 50_000, 60_000) and len(origin.requests) == asked
    return origin, proxy


@test
def without_a_validator_too():
    origin, proxy = ranged(("ETag", 'W/"weak"')), Proxy(POSY)
    url = origin.url + "/1000/a"
    assert not part(proxy, url, 0, 9)
    until(lambda: here(proxy, url, 990, 999))
    assert wholes(origin) == 1
    return origin, proxy


@test
def what_small_means_is_an_option():
    origin, proxy, other = ranged(), Proxy(POSY, "--whole-object", "10k"), Proxy(POSY, "--whole-object", "0")
    for each, size in ((proxy, 10_001), (other, 100)):
        url = origin.url + f"/{size}/a"
        assert not part(each, url, 0, 9) and part(each, url, 0, 9) and not here(each, url, 0, 99)
    assert wholes(origin) == 0
    part(proxy, origin.url + "/10000/a", 0, 9)
    until(lambda: here(proxy, origin.url + "/10000/a", 0, 9_999))
    other.close()
    assert "--whole-object" in posy("proxy", "--whole-object", "many", status=2)
    return origin, proxy


@test
def a_whole_that_may_not_be_stored_is_fetched_once():
    origin, proxy = ranged(whole=(("Cache-Control", "no-store"), )), Proxy(POSY)
    url = origin.url + "/1000/a"
    part(proxy, url, 0, 9)
    until(lambda: wholes(origin) == 1)
    until(lambda: proxy.get(url, Cache_Control="only-if-cached")[0] == 504)
    for i in range(1, 6):  # parts are not kept either: what forbids the whole has made them forgotten
        part(proxy, url, i * 10, i * 10 + 9)
    assert wholes(origin) == 1
    return origin, proxy


@test
def large_ones_come_in_parts():
    """Each byte is fetched once, and in the end there is a whole answer, on disk as well."""
    size, step = 3_000_000, 100_000
    origin = ranged()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        proxy = Proxy(POSY, "--disk", folder)
        url = origin.url + f"/{size}/film"
        order = list(range(0, size, step))
        random.Random(1).shuffle(order)
        for first in order:
            assert not part(proxy, url, first, first + step - 1)
            assert part(proxy, url, first + 10, first + step - 1)
        assert len(origin.requests) == len(order)
        until(lambda: proxy.get(url, Cache_Control="only-if-cached")[0] == 200)
        body = proxy.get(url)[2]
        assert body == content(f"/{size}/film", size) and len(origin.requests) == len(order)
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 1)
        part(proxy, origin.url + f"/{size}/other", 0, 99)
        proxy.close()
        proxy.start()
        assert here(proxy, url, 5, 5000) and not here(proxy, origin.url + f"/{size}/other", 0, 99)  # parts stay in memory
        return origin, proxy


@test
def what_came_before_the_client_left_is_kept():
    origin, proxy = ranged(), Proxy(POSY)
    url = origin.url + "/8000000/film"
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\nRange: bytes=1000-6000000\r\n\r\n".encode())
        got = 0
        while got < 200_000:
            got += len(client.recv(65536))
    until(lambda: here(proxy, url, 1000, 100_000))
    assert part(proxy, url, 1000, 100_000) and not here(proxy, url, 999, 1001) and len(origin.requests) == 1
    return origin, proxy


@test
def a_part_in_chunks():
    """Its length is that of Content-Range, or it is not kept."""
    head = b"HTTP/1.1 206 Partial\r\nCache-Control: max-age=60\r\nETag: \"a\"\r\nContent-Range: bytes 0-4/10\r\nTransfer-Encoding: chunked\r\n\r\n"
    bodies = {"/right": b"5\r\n01234\r\n0\r\n\r\n", "/short": b"4\r\n0123\r\n0\r\n\r\n", "/long": b"6\r\n012345\r\n0\r\n\r\n"}
    origin = RawOrigin(lambda target: (head, bodies[target]))
    proxy = Proxy(POSY, "--whole-object", "0")
    for path, kept in (("/right", True), ("/short", False), ("/long", False)):
        assert proxy.get(origin.url + path, Range="bytes=0-4")[0] == 206
        assert here(proxy, origin.url + path, 0, 3) == kept, path
    return origin, proxy


class Resumed(RawServer):
    """Breaks off a body of 1000 bytes after 100 of them, and sends this for the rest, which it says to be 900 bytes."""

    def __init__(self, rest, *fields):
        self.rest, self.fields, self.wholes = rest, "".join(field + "\r\n" for field in fields).encode(), 0
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            common = b'ETag: "v"\r\nCache-Control: max-age=100\r\n'
            if any(line.startswith("Range: bytes=100-") for line in head):
                connection.sendall(b"HTTP/1.1 206 Rest\r\n" + common + self.fields + b"Content-Range: bytes 100-999/1000\r\n" + self.rest)
            else:
                self.wholes += 1
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + common + b"Content-Length: 1000\r\n\r\n" + b"a" * 100)
            return


def in_chunks(body):
    return b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


@test
def a_rest_is_as_long_as_it_says():
    """Too much would be the answer to another request; too little, a whole that is none."""
    injected = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPWNED!"
    for rest in (in_chunks(b"b" * 900 + injected), in_chunks(b"b" * 500), b"\r\n" + b"b" * 200):
        origin, proxy = Resumed(rest), Proxy(POSY)
        for _ in range(3):  # the first keeps the beginning; no other is whole
            with socket.create_connection(("127.0.0.1", proxy.port), 20) as client:
                client.sendall(f"GET {origin.url}/x HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                got = b""
                try:
                    while piece := client.recv(65536):
                        got += piece
                except ConnectionResetError:
                    pass
            assert b"Content-Length: 1000\r\n" in got and len(got.split(b"\r\n\r\n", 1)[1]) < 1000 and b"PWNED" not in got, got
        assert proxy.get(origin.url + "/x", Cache_Control="only-if-cached")[0] == 504
        origin.close()
        proxy.close()
    origin, proxy = Resumed(in_chunks(b"b" * 900)), Proxy(POSY)
    assert broken_off(proxy, origin.url + "/x")
    assert proxy.get(origin.url + "/x")[2] == b"a" * 100 + b"b" * 900
    assert proxy.get(origin.url + "/x", Cache_Control="only-if-cached")[0] == 200
    return origin, proxy


def broken_off(proxy, url):
    try:
        proxy.get(url)
    except (http.client.IncompleteRead, ConnectionResetError):
        return True
    return False


@test
def a_rest_with_a_cookie_is_for_one_client():
    origin, proxy = Resumed(in_chunks(b"b" * 900), "Set-Cookie: who=alice"), Proxy(POSY)
    for _ in range(2):
        assert broken_off(proxy, origin.url + "/x")
    assert origin.wholes == 2  # the second asked for the rest, and then for all
    return origin, proxy


@test
def parts_count_against_the_memory():
    origin, proxy = ranged(), Proxy(POSY, "--memory", "4MiB", "--whole-object", "0")
    for i in range(60):
        for first in (0, 150_000, 50_000, 300_000):  # one of them overlaps
            assert not part(proxy, origin.url + f"/400000/{i}", first, first + 99_999)
    metrics = proxy.metrics()
    assert metrics["posy_cache_objects_bytes"] <= metrics["posy_cache_limit_bytes"]
    assert metrics['posy_cache_evictions_total{tier="memory"}'] > 10 and metrics['posy_cache_bytes{tier="memory"}'] > 1_000_000
    return origin, proxy


@test
def purged_like_whole_ones():
    origin, proxy = ranged(("Cache-Tag", "films")), Proxy(POSY, "--whole-object", "0")
    urls = [origin.url + f"/5000/{i}" for i in range(3)]
    for url in urls:
        part(proxy, url, 0, 9)
    assert b'"purged":1' in proxy.get(urls[0], "PURGE")[2]
    assert [here(proxy, url, 0, 9) for url in urls] == [False, True, True]
    assert b'"purged":2' in proxy.get("http://any.example/", "PURGE", Cache_Tag="films")[2]
    assert not any(here(proxy, url, 0, 9) for url in urls)
    return origin, proxy


@test
def siblings_hear_of_wholes_only():
    origin, port = ranged(), free_port()
    a = Proxy(POSY, "--whole-object", "0", "--interval", "1", name="a", port=port)
    b = Proxy(POSY, "--whole-object", "0", "--sharing", "ask", "--peer", f"a=http://127.0.0.1:{port}", name="b")
    url = origin.url + "/1000/a"
    part(a, url, 0, 499)
    assert a.metric("posy_set_items") == 0
    assert not part(b, url, 0, 499) and len(origin.requests) == 2  # not from a, which has it
    part(a, url, 500, 999)
    until(lambda: a.metric("posy_set_items") == 1)
    status, fields, body = b.get(url)
    assert status == 200 and body == content("/1000/a", 1000) and status_of(fields).endswith("detail=a"), fields
    b.close()
    return origin, a


@test
def parts_are_confirmed_in_the_background():
    """stale-while-revalidate: the part is given at once, and asked for with its range."""
    origin = ranged(("Cache-Control", "max-age=1, stale-while-revalidate=3600"), ("Age", "2"))
    proxy = Proxy(POSY, "--whole-object", "0")
    url = origin.url + "/1000/a"
    part(proxy, url, 0, 9)
    assert part(proxy, url, 0, 4)
    until(lambda: len(origin.requests) == 2)
    assert origin.requests[1][2]["If-None-Match"] == '"/1000/a"' and origin.requests[1][2]["Range"] == "bytes=0-4"
    return origin, proxy


run()
