"""The proxy against origins and siblings of every kind: what RFC 9111, 9110, 5861 and 9211 ask of a shared cache."""
import concurrent.futures
import email.utils
import socket
import sys
import tempfile
import threading
import time

from servers import Origin, Proxy, ask, free_port, fresh, wait_for

TOOL = sys.argv[1]


def status_of(fields):
    """Our member of Cache-Status: the last one."""
    return fields["Cache-Status"].split(", ")[-1] if fields.get_all("Cache-Status") is None \
        else fields.get_all("Cache-Status")[-1]


def test(function):
    """Runs a test with an origin that answers from the table it returns, and a proxy."""
    TESTS.append(function)
    return function


TESTS = []


def setup(answers, *options):
    def answer(request):
        found = answers(request) if callable(answers) else answers[request.path]
        return found(request) if callable(found) else found
    origin = Origin(answer)
    return origin, Proxy(TOOL, *options)


def stamp(seconds=0):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


@test
def hits_and_their_age():
    origin, proxy = setup({"/a": fresh(b"hello"), "/empty": fresh(b"")})
    status, fields, body = proxy.get(origin.url + "/a")
    assert (status, body) == (200, b"hello") and "fwd=uri-miss" in status_of(fields) and "stored" in status_of(fields)
    time.sleep(1.1)
    status, fields, body = proxy.get(origin.url + "/a")
    assert body == b"hello" and "; hit" in status_of(fields) and int(fields["Age"]) in (1, 2)
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
    origin, proxy = setup(answers)
    for path in answers:
        fields = {"Authorization": "Basic eDp5"} if path == "/authorized" else {}
        for _ in range(2):
            proxy.get(origin.url + path, **fields)
        assert origin.count(path) == 2, path
    return origin, proxy


@test
def shared_answers_to_authorized_requests():
    origin, proxy = setup({"/public": (200, [("Cache-Control", "public, max-age=60")], b"1")})
    for _ in range(2):
        proxy.get(origin.url + "/public", Authorization="Basic eDp5")
    assert origin.count("/public") == 1
    return origin, proxy


@test
def validation():
    answers = {"/etag": lambda r: (304, [("ETag", '"1"'), ("Cache-Control", "max-age=0"), ("X-New", "yes")], b"")
               if r.headers.get("If-None-Match") == '"1"'
               else (200, [("ETag", '"1"'), ("Cache-Control", "max-age=0"), ("X-New", "no")], b"body"),
               "/dated": lambda r: (304, [], b"") if r.headers.get("If-Modified-Since")
               else (200, [("Last-Modified", stamp(-1000)), ("Cache-Control", "no-cache")], b"body")}
    origin, proxy = setup(answers)
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
    origin, proxy = setup(lambda r: fresh((r.headers.get("Accept-Language") or "-").encode(), ("Vary", "Accept-Language")))
    for _ in range(2):
        for language in ("de", "fr"):
            assert proxy.get(origin.url + "/", Accept_Language=language)[2] == language.encode()
    assert origin.count("/") == 2
    return origin, proxy


@test
def requests_decide_too():
    origin, proxy = setup({"/a": fresh(b"1")})
    assert proxy.get(origin.url + "/a", Cache_Control="only-if-cached")[0] == 504
    assert origin.count("/a") == 0
    proxy.get(origin.url + "/a")
    assert proxy.get(origin.url + "/a", Cache_Control="only-if-cached")[0] == 200
    proxy.get(origin.url + "/a", Cache_Control="no-cache")
    proxy.get(origin.url + "/a", Pragma="no-cache")
    assert origin.count("/a") == 3
    time.sleep(1.1)
    proxy.get(origin.url + "/a", Cache_Control="max-age=0")
    assert origin.count("/a") == 4
    return origin, proxy


@test
def stale_while_and_if():
    state = {"fail": False, "version": 1}

    def answer(request):
        if state["fail"]:
            return 503, [], b"down"
        return 200, [("Cache-Control", "max-age=1, stale-while-revalidate=30, stale-if-error=60"),
                     ("ETag", f'"{state["version"]}"')], str(state["version"]).encode()
    origin, proxy = setup(lambda r: answer)
    assert proxy.get(origin.url + "/")[2] == b"1"
    state["version"] = 2
    time.sleep(2.1)
    assert proxy.get(origin.url + "/")[2] == b"1"  # stale, and renewed behind our back

    def renewed():
        return proxy.get(origin.url + "/")[2] == b"2"
    wait_for(renewed)
    # The origin fails: stale answers, even after the origin is gone altogether.
    state["fail"] = True
    time.sleep(2.1)
    for _ in range(2):
        status, fields, body = proxy.get(origin.url + "/", Cache_Control="max-stale=0")
        assert (status, body) == (200, b"2"), (status, body)
    return origin, proxy


@test
def unsafe_methods_invalidate():
    origin, proxy = setup(lambda r: fresh(r.command.encode() + b" " + r.body, ("Location", "/b")))
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
    def slow(request):
        time.sleep(0.5)
        return fresh(b"slow" * 1000)
    origin, proxy = setup(lambda r: slow)
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
    proxy = Proxy(TOOL, "--max-object", "1M")
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
    origin, proxy = setup({})
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
def gateways_loops_and_tunnels():
    origin, proxy = setup({"/a": fresh(b"a")}, "--connect-port", "1")
    closed = free_port()
    status, fields, body = proxy.get(f"http://127.0.0.1:{closed}/")
    assert status == 502 and b"origin" in body
    assert proxy.get(origin.url + "/a", Via=f"1.1 other, 1.1 {proxy.name}")[0] == 508
    assert proxy.get("ftp://example.org/")[0] == 400
    with socket.create_connection(("127.0.0.1", proxy.port)) as s:
        s.sendall(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert b" 403 " in s.recv(1000)
    proxy.close()
    tunneling = Proxy(TOOL, "--connect-port", str(origin.port))
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
    origin, proxy = setup(lambda r: answer)
    for _ in range(2):
        assert proxy.get(origin.url + "/r", Range="bytes=0-1")[::2] == (206, b"01")
    assert origin.count("/r") == 2
    assert proxy.get(origin.url + "/r")[2] == b"0123456789"
    return origin, proxy


@test
def hop_by_hop_fields_stay():
    origin, proxy = setup(lambda r: fresh(b"a", ("Connection", "X-Hop"), ("X-Hop", "1"), ("X-End", "1")))
    _, fields, _ = proxy.get(origin.url + "/", Connection="X-Mine", X_Mine="1", TE="trailers", X_Yours="1")
    sent = origin.requests[0][2]
    assert "X-Mine" not in sent and "TE" not in sent and sent["X-Yours"] == "1" and sent["Via"] == f"1.1 {proxy.name}"
    assert "X-Hop" not in fields and fields["X-End"] == "1"
    return origin, proxy


@test
def siblings():
    origin = Origin(lambda r: fresh(r.path.encode() * 100))
    ports = [free_port(), free_port()]
    options = ["--items", "200", "--change", "0.01"]
    a = Proxy(TOOL, *options, "--peer", f"b=http://127.0.0.1:{ports[1]}", name="a", port=ports[0])
    b = Proxy(TOOL, *options, "--peer", f"a=http://127.0.0.1:{ports[0]}", name="b", port=ports[1])
    urls = [f"{origin.url}/{i}" for i in range(50)]
    for url in urls:
        a.get(url)

    def b_knows():
        return b.who(urls[-1])["peers"]
    wait_for(b_knows)
    for url in urls:
        status, fields, body = b.get(url)
        assert body == url[len(origin.url):].encode() * 100
        assert status_of(fields).endswith("detail=a") and "a; hit" in ", ".join(fields.get_all("Cache-Status"))
    assert len(origin.requests) == 50 and b.result("sibling") == 50
    assert b.metrics()['posy_cache_objects{tier="memory"}'] == 0  # proxy-only
    # A false hit: what a's summary still names is gone. The origin answers, and the object is kept.
    a.kill()
    a.start()
    status, fields, body = b.get(urls[0])
    assert status == 200 and "stored" in status_of(fields)
    assert "; hit" in status_of(b.get(urls[0])[1])
    b.close()
    # With duplicate copies.
    keeping = Proxy(TOOL, *options, "--keep-siblings", "--peer", f"a=http://127.0.0.1:{ports[0]}", name="c")
    a.get(urls[1])
    a.get(urls[2])
    a.get(urls[3])

    def c_knows():
        return keeping.who(urls[1])["peers"]
    wait_for(c_knows)
    keeping.get(urls[1])
    assert "; hit" in status_of(keeping.get(urls[1])[1])
    keeping.close()
    return origin, a


@test
def siblings_change_their_hashes():
    """Other hashes every second, published by a share of the bits: what a sibling has is found throughout."""
    origin = Origin(lambda r: fresh(r.path.encode()))
    a = Proxy(TOOL, "--items", "200", "--change-bits", "0.0001", "--hash", "siphash", "--rehash", "1s", name="a")
    b = Proxy(TOOL, "--items", "200", "--peer", f"a={a.address}", name="b")
    urls = [f"{origin.url}/{i}" for i in range(50)]
    for url in urls:
        a.get(url)

    def b_knows_all():
        return all(b.who(url)["peers"] for url in urls)
    wait_for(b_knows_all)

    def hashed_anew():
        assert b_knows_all()
        return a.metrics()["posy_set_rehashed_total"] >= 3
    wait_for(hashed_anew)
    for url in urls:
        assert status_of(b.get(url)[1]).endswith("detail=a")
    assert len(origin.requests) == 50 and b.metrics()['posy_peer_answers_total{peer="a",kind="whole"}'] >= 4
    b.close()
    return origin, a


@test
def asking_everyone():
    origin = Origin(lambda r: fresh(b"1"))
    a = Proxy(TOOL, "--sharing", "ask", name="a")
    b = Proxy(TOOL, "--sharing", "ask", "--peer", f"a={a.address}", name="b")
    a.get(origin.url + "/x?a=1&b=%20")
    assert status_of(b.get(origin.url + "/x?a=1&b=%20")[1]).endswith("detail=a")
    b.get(origin.url + "/y")
    assert b.result("sibling") == 1 and b.result("origin") == 1
    assert b.metrics()['posy_summary_sent_bytes_total{kind="question"}'] > 0
    a.close()
    return origin, b


@test
def a_disk_survives():
    origin = Origin(lambda r: fresh(r.path.encode() * 10))
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(TOOL, "--disk", folder, "--memory", "2M")
        urls = [f"{origin.url}/{i}" for i in range(100)]
        for url in urls:
            proxy.get(url)

        def written():
            return proxy.metrics()['posy_cache_objects{tier="disk"}'] == 100
        wait_for(written)
        proxy.kill()
        proxy.start()
        assert proxy.metrics()["posy_set_items"] == 100
        for url in urls:
            assert "; hit" in status_of(proxy.get(url)[1])
        assert len(origin.requests) == 100
        proxy.close()
    return origin, None


@test
def the_access_log():
    with tempfile.TemporaryDirectory() as folder:
        origin, proxy = setup({'/a"b': fresh(b"12345")}, "--access-log", f"{folder}/log")
        proxy.get(origin.url + '/a"b')
        proxy.close()
        with open(f"{folder}/log") as file:
            line = file.read()
    assert line.startswith("127.0.0.1 - - [") and line.endswith(f'] "GET {origin.url}/a\\x22b HTTP/1.1" 200 5\n'), line
    return origin, None


@test
def a_graceful_end():
    def slow(request):
        time.sleep(1)
        return fresh(b"done")
    origin, proxy = setup(lambda r: slow)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        late = pool.submit(lambda: proxy.get(origin.url + "/"))
        idle = socket.create_connection(("127.0.0.1", proxy.port))
        time.sleep(0.3)
        start = time.monotonic()
        proxy.close()
        assert late.result()[2] == b"done"
        assert time.monotonic() - start < 4
        idle.close()
    return origin, None


chosen = sys.argv[2:]
for function in TESTS:
    if chosen and function.__name__ not in chosen:
        continue
    start = time.monotonic()
    used_origin, used_proxy = function()
    if used_proxy:
        used_proxy.close()
    used_origin.close()
    print(f"{function.__name__}: {time.monotonic() - start:.1f} s", flush=True)
