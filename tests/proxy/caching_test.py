"""What a shared cache keeps, and for how long: RFC 9111, 5861 and 9211.

Usage: caching_test.py POSY [test …]
"""
import concurrent.futures
import email.utils
import http.server
import os
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, origin_and_proxy, run, status_of, test  # noqa: E402
from daemons import Proxy, ask  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402


def stamp(seconds=0):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@test
def hits_and_their_age():
    origin, proxy = origin_and_proxy({"/a": fresh(b"hello"), "/empty": fresh(b"")})
    status, fields, body = proxy.get(origin.url + "/a")
    assert (status, body) == (200, b"hello") and "fwd=uri-miss" in status_of(fields) and "stored" in status_of(fields)
    status, fields, body = proxy.get(origin.url + "/a")
    assert body == b"hello" and "; hit" in status_of(fields) and int(fields["Age"]) >= 0
    until(lambda: int(proxy.get(origin.url + "/a")[1]["Age"]) >= 1, what="an age")
    assert fields["Via"] == f"1.1 {proxy.name}"
    # The same resource, however it is written.
    upper = origin.url.replace("http", "HTTP") + "/a#part"
    assert "; hit" in status_of(proxy.get(upper)[1])
    assert origin.count("/a") == 1
    for _ in range(2):
        assert proxy.get(origin.url + "/empty")[2] == b""
    assert origin.count("/empty") == 1
    # HEAD is answered from a stored GET; conditions of the client are, too.
    status, fields, body = proxy.get(origin.url + "/a", "HEAD")
    assert (status, body, fields["Content-Length"]) == (200, b"", "5") and origin.count("/a") == 1
    return origin, proxy


@test
def what_may_not_be_kept():
    def vary_all(request):
        return 200, [("Cache-Control", "max-age=60"), ("Vary", "*")], b"v"
    answers = {"/no-store": (200, [("Cache-Control", "no-store")], b"1"),
               "/private": (200, [("Cache-Control", "private, max-age=60")], b"1"),
               "/error": (500, [("Cache-Control", "max-age=0")], b"1"),
               "/vary": vary_all,
               "/nothing-said": (200, [], b"1"),
               "/authorized": fresh(b"1")}
    origin, proxy = origin_and_proxy(answers)
    for path in answers:
        fields = {"Authorization": "Basic eDp5"} if path == "/authorized" else {}
        for _ in range(2):
            proxy.get(origin.url + path, **fields)
        assert origin.count(path) == 2, path
    return origin, proxy


@test
def shared_answers_to_authorized_requests():
    origin, proxy = origin_and_proxy({"/public": (200, [("Cache-Control", "public, max-age=60")], b"1")})
    for _ in range(2):
        proxy.get(origin.url + "/public", Authorization="Basic eDp5")
    assert origin.count("/public") == 1
    return origin, proxy


@test
def targeted_fields():
    """RFC 9213: CDN-Cache-Control stands in for Cache-Control and Expires; one that does not parse is ignored."""
    kept = {"/longer": ("max-age=3600", "no-store"), "/over-expires": ("max-age=3600", "max-age=0")}
    passed = {"/no-store": ("no-store", "max-age=3600"), "/private": ("private", "max-age=3600"),
              "/wrong": ("max-age=3600, &&&", "no-store"), "/wrong-type": ('max-age="3600"', "no-store")}
    answers = {path: (200, [("CDN-Cache-Control", targeted), ("Cache-Control", general), ("Expires", stamp(-10))], b"1")
               for path, (targeted, general) in {**kept, **passed}.items()}
    origin, proxy = origin_and_proxy(answers)
    for path in answers:
        for _ in range(2):
            assert proxy.get(origin.url + path)[1]["CDN-Cache-Control"]
        assert origin.count(path) == (1 if path in kept else 2), path
    return origin, proxy


@test
def validation():
    answers = {"/etag": lambda r: (304, [("ETag", '"1"'), ("Cache-Control", "max-age=0"), ("X-New", "yes")], b"")
               if r.headers.get("If-None-Match") == '"1"'
               else (200, [("ETag", '"1"'), ("Cache-Control", "max-age=0"), ("X-New", "no")], b"body"),
               "/dated": lambda r: (304, [], b"") if r.headers.get("If-Modified-Since")
               else (200, [("Last-Modified", stamp(-1000)), ("Cache-Control", "no-cache")], b"body")}
    origin, proxy = origin_and_proxy(answers)
    for path in answers:
        assert proxy.get(origin.url + path)[2] == b"body"
        status, fields, body = proxy.get(origin.url + path)
        assert (status, body) == (200, b"body"), path
        assert "fwd=stale" in status_of(fields) and "fwd-status=304" in status_of(fields), status_of(fields)
        assert origin.count(path) == 2
    assert proxy.get(origin.url + "/etag")[1]["X-New"] == "yes"
    # The client's own validator is answered by us.
    status, _, body = proxy.get(origin.url + "/etag", If_None_Match='W/"1"')
    assert (status, body) == (304, b"")
    assert proxy.result("revalidated") >= 3
    return origin, proxy


@test
def variants():
    origin, proxy = origin_and_proxy(lambda r: fresh((r.headers.get("Accept-Language") or "-").encode(), ("Vary", "Accept-Language")))
    for _ in range(2):
        for language in ("de", "fr"):
            assert proxy.get(origin.url + "/", Accept_Language=language)[2] == language.encode()
    assert origin.count("/") == 2
    return origin, proxy


@test
def requests_decide_too():
    origin, proxy = origin_and_proxy({"/a": fresh(b"1")})
    assert proxy.get(origin.url + "/a", Cache_Control="only-if-cached")[0] == 504
    assert origin.count("/a") == 0
    proxy.get(origin.url + "/a")
    assert proxy.get(origin.url + "/a", Cache_Control="only-if-cached")[0] == 200
    proxy.get(origin.url + "/a", Cache_Control="no-cache")
    proxy.get(origin.url + "/a", Pragma="no-cache")
    assert origin.count("/a") == 3
    until(lambda: int(proxy.get(origin.url + "/a")[1]["Age"]) >= 1, what="something older than 0 seconds")
    proxy.get(origin.url + "/a", Cache_Control="max-age=0")
    assert origin.count("/a") == 4
    return origin, proxy


@test
def stale_while_and_if():
    state = {"fail": False, "version": 1}

    def answer(request):
        if state["fail"]:
            return 503, [], b"down"
        return 200, [("Cache-Control", "max-age=1, stale-while-revalidate=300, stale-if-error=600"), ("Age", "2"),
                     ("ETag", f'"{state["version"]}"')], str(state["version"]).encode()
    origin, proxy = origin_and_proxy(lambda r: answer)
    assert proxy.get(origin.url + "/")[2] == b"1"
    state["version"] = 2
    assert proxy.get(origin.url + "/")[2] == b"1"  # stale, and renewed behind our back

    def renewed():
        return proxy.get(origin.url + "/")[2] == b"2"
    until(renewed)
    # The origin fails: stale answers, even after the origin is gone altogether.
    state["fail"] = True
    for _ in range(2):
        status, fields, body = proxy.get(origin.url + "/", Cache_Control="max-stale=0")
        assert (status, body) == (200, b"2"), (status, body)
    return origin, proxy


@test
def a_renewal_is_asked_for_as_one_user_and_changes_nothing_for_others():
    came = []

    def answer(request):
        came.append((request.path, request.client_address))
        says = [("Set-Cookie", "a=b")] if request.path == "/cookie" else []
        everyone = "public, " if request.path == "/login" else ""
        return 200, [("Cache-Control", everyone + "max-age=1, stale-while-revalidate=300"), ("Age", "2"), ("ETag", '"1"'), *says], b"x"
    origin, proxy = origin_and_proxy(answer, "--threads", "1")

    def of(path):
        return [address for each, address in came if each == path]
    for path, fields in (("/login", {"Authorization": "Negotiate YII="}), ("/cookie", {"Cookie": "a=b"})):
        proxy.get(origin.url + path)

        def renewed_again():
            known = len(of(path))
            assert "; hit" in status_of(proxy.get(origin.url + path, **fields)[1]), path  # the stale one stays
            proxy.get(origin.url + "/by-another")
            return len(of(path)) > known
        for _ in range(10):
            until(renewed_again)
    for i, (path, address) in enumerate(came):
        if path == "/login" and i:
            assert all(address != later for _, later in came[i + 1:]), "a connection that somebody logged in on"
    return origin, proxy


@test
def unsafe_methods_invalidate():
    origin, proxy = origin_and_proxy(lambda r: fresh(r.command.encode() + b" " + r.body, ("Location", "/b")))
    for path in ("/a", "/b"):
        proxy.get(origin.url + path)
    status, fields, body = proxy.get(origin.url + "/a", "POST", b"x" * 100_000)
    assert status == 200 and body == b"POST " + b"x" * 100_000 and "fwd=method" in status_of(fields)
    for path in ("/a", "/b"):
        proxy.get(origin.url + path)
        assert sum(m == "GET" and p == path for m, p, _ in origin.requests) == 2, path
    return origin, proxy


@test
def many_at_once_are_one():
    looks = []

    def all_here():
        """Each of the 20 has been read; looking is a request, too."""
        looks.append(1)
        return proxy.metric("posy_requests_total") - len(looks) >= 20

    def slow(request):
        until(all_here)
        return fresh(b"slow" * 1000)
    origin, proxy = origin_and_proxy(lambda r: slow)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        bodies = list(pool.map(lambda _: proxy.get(origin.url + "/one")[2], range(20)))
    assert set(bodies) == {b"slow" * 1000} and origin.count("/one") == 1
    assert proxy.metrics()["posy_proxy_collapsed_total"] == 19
    return origin, proxy


@test
def large_and_without_length():
    def chunked(request):
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.send_header("Cache-Control", "max-age=60")
        request.end_headers()
        for i in range(100):
            request.wfile.write(b"3e8\r\n" + b"%04d" % i * 250 + b"\r\n")
        request.wfile.write(b"0\r\n\r\n")
    big = b"0123456789" * 2_000_000
    origin = Origin(lambda r: fresh(big))
    proxy = Proxy(POSY, "--max-object", "1M")
    for _ in range(2):
        assert proxy.get(origin.url + "/big")[2] == big
    assert origin.count("/big") == 2  # too large to keep
    import http.server

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        count = 0

        def do_GET(self):
            Handler.count += 1
            chunked(self)

        def log_message(self, *args):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    expected = b"".join(b"%04d" % i * 250 for i in range(100))
    for _ in range(2):
        status, fields, body = proxy.get(f"http://127.0.0.1:{server.server_address[1]}/chunks")
        assert (status, body) == (200, expected)
    assert Handler.count == 1 and fields["Content-Length"] == str(len(expected))
    server.shutdown()
    return origin, proxy


@test
def what_breaks_off_is_not_kept():
    listener = socket.create_server(("127.0.0.1", 0))
    served = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.recv(65536)
            served.append(1)
            connection.sendall(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1000\r\n\r\nhalf")
            connection.close()
    threading.Thread(target=serve, daemon=True).start()
    origin, proxy = origin_and_proxy({})
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    for _ in range(2):
        try:
            ask(proxy.port, url)
            raise AssertionError("a broken answer was passed off as whole")
        except Exception as e:
            assert "IncompleteRead" in type(e).__name__ or "Reset" in type(e).__name__, e
    assert len(served) == 2
    listener.close()
    return origin, proxy


@test
def a_disk_survives():
    origin = Origin(lambda r: fresh(r.path.encode() * 10))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        proxy = Proxy(POSY, "--disk", folder, "--memory", "2M")
        urls = [f"{origin.url}/{i}" for i in range(100)]
        for url in urls:
            proxy.get(url)

        def written():
            return proxy.metrics()['posy_cache_objects{tier="disk"}'] == 100
        until(written)
        proxy.kill()
        proxy.start()
        assert proxy.metrics()["posy_set_items"] == 100
        for url in urls:
            assert "; hit" in status_of(proxy.get(url)[1])
        assert len(origin.requests) == 100
        proxy.close()
    return origin, None


run()
