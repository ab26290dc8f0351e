"""One fetch and all who read it: each at its own pace, from the head on; and what cannot be shared.

Usage: sharing_test.py POSY [test …]
"""
import concurrent.futures
import http.client
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, posy, run, status_of, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import RawServer, heads, response  # noqa: E402
from waiting import until  # noqa: E402

FRESH = {"Cache_Control": "max-age=3600"}
LIMIT = 30  # seconds until a test gives up on an event


class Script(RawServer):
    """An origin whose answers are written piece by piece: a generator from the lines of a request's head to bytes."""

    def __init__(self, answer):
        self.answer, self.requests = answer, []
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            self.requests.append(head)
            for part in self.answer(head):
                connection.sendall(part)


class Reader:
    """A client that reads when it is told to."""

    def __init__(self, proxy, url, buffer=None, **fields):
        self.connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=LIMIT)
        if buffer:
            self.connection.sock = socket.socket()
            self.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            self.connection.sock.settimeout(LIMIT)
            self.connection.sock.connect(("127.0.0.1", proxy.port))
        self.connection.request("GET", url, headers={name.replace("_", "-"): value for name, value in fields.items()})
        self.response = None

    def head(self):
        self.response = self.connection.getresponse()
        return self.response

    def status(self):
        return status_of(self.head().headers)

    def read(self, size=None):
        return self.response.read(size)

    def close(self):
        if self.response:
            self.response.close()
        self.connection.close()


class Arrivals:
    """How many requests a proxy has read since this was made; looking is a request, too."""

    def __init__(self, proxy):
        self.proxy, self.looks = proxy, 0
        self.start = proxy.metric("posy_requests_total")

    def here(self, count):
        self.looks += 1
        return self.proxy.metric("posy_requests_total") - self.start - self.looks >= count


def wait(event):
    assert event.wait(LIMIT), "an event that did not come"


def stop_and_go(body, at, go, **fields):
    """An answer that stops behind so many bytes until it may go on."""
    all_of_it = response(body, **{**FRESH, **fields})
    start = all_of_it.index(b"\r\n\r\n") + 4 + at
    yield all_of_it[:start]
    wait(go)
    yield all_of_it[start:]


def chunk(text):
    return b"%x\r\n%s\r\n" % (len(text), text)


def chunked(*parts, **fields):
    """The head, then each part as a chunk; an event among them is waited for."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    yield f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n{lines}\r\n".encode()
    for part in parts:
        if isinstance(part, threading.Event):
            wait(part)
        else:
            yield chunk(part)
    yield b"0\r\n\r\n"


@test
def a_slow_reader_holds_up_nobody():
    body, go = os.urandom(2_000_000), threading.Event()
    origin = Script(lambda head: stop_and_go(body, 1_000_000, go))
    proxy = Proxy(POSY, "--threads", "2")
    slow = Reader(proxy, origin.url + "/x", buffer=4096)
    slow.head()
    others = [Reader(proxy, origin.url + "/x") for _ in range(3)]
    for each in others:  # half of it, while the origin holds back the rest and the first client does not read
        assert "collapsed" in each.status() and each.response.headers["Age"]
        assert each.read(1_000_000) == body[:1_000_000]
    go.set()
    for each in others:
        assert each.read() == body[1_000_000:]
        each.close()
    status = Reader(proxy, origin.url + "/x")
    assert "; hit" in status.status() and status.read() == body
    status.close()
    assert slow.read() == body and len(origin.requests) == 1
    slow.close()
    return origin, proxy


@test
def fifty_read_one_fetch():
    body = os.urandom(300_000)

    def answer(head):
        until(lambda: arrivals.here(50))
        yield response(body, **FRESH)
    origin = Script(answer)
    proxy = Proxy(POSY, "--threads", "2")
    arrivals = Arrivals(proxy)
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        bodies = list(pool.map(lambda _: proxy.get(origin.url + "/x")[2], range(50)))
    assert all(each == body for each in bodies) and len(origin.requests) == 1
    assert proxy.metric("posy_proxy_collapsed_total") == 49
    return origin, proxy


@test
def the_first_client_may_leave():
    body, go = os.urandom(500_000), threading.Event()
    origin = Script(lambda head: stop_and_go(body, 100_000, go))
    proxy = Proxy(POSY)
    first = Reader(proxy, origin.url + "/x")
    first.head()
    second = Reader(proxy, origin.url + "/x")
    second.head()
    first.close()
    assert second.read(100_000) == body[:100_000]
    go.set()
    assert second.read() == body[100_000:]
    second.close()
    # All of them may.
    go.clear()
    only = Reader(proxy, origin.url + "/y")
    only.head()
    only.close()
    go.set()
    until(lambda: "; hit" in status_of(proxy.get(origin.url + "/y", Cache_Control="only-if-cached")[1]))
    assert len(origin.requests) == 2
    return origin, proxy


@test
def what_cannot_be_shared_is_not_waited_for():
    released, together, asked = threading.Event(), [], threading.Lock()

    def answer(head):
        with asked:
            together.append(head)
            first = len(together) == 1
        if first:
            until(lambda: arrivals.here(20))
            yield b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 4\r\n\r\n"
            wait(released)  # the others are let go by the head alone, and are all here at the same time
            yield b"body"
        else:
            until(lambda: len(together) % 20 == 0, what="all at the origin")
            released.set()
            yield response(b"body", Cache_Control="no-store")
    origin = Script(answer)
    proxy = Proxy(POSY)
    arrivals = Arrivals(proxy)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        for _ in range(3):  # from the second time on, nobody waits for a first one
            assert {body for _, _, body in pool.map(lambda _: proxy.get(origin.url + "/x"), range(20))} == {b"body"}
    assert len(origin.requests) == 60
    return origin, proxy


@test
def answers_to_be_validated_are_not_waited_for():
    together, lock = [], threading.Lock()

    def answer(head):
        with lock:
            together.append(head)
        if len(together) > 1:
            until(lambda: (len(together) - 1) % 10 == 0, what="all at the origin")
        yield response(b"body", Cache_Control="no-cache", ETag='"1"')
    origin = Script(answer)
    proxy = Proxy(POSY)
    proxy.get(origin.url + "/x")
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        for _ in range(2):
            assert {body for _, _, body in pool.map(lambda _: proxy.get(origin.url + "/x"), range(10))} == {b"body"}
    assert len(origin.requests) == 21 and all(any("If-None-Match" in line for line in head) for head in together[1:])
    return origin, proxy


@test
def streams():
    """The head before the first event, and each event when it comes."""
    for control in ("no-store", "max-age=60"):
        went = [threading.Event() for _ in range(3)]
        origin = Script(lambda head: chunked(went[0], b"data: 1\n\n", went[1], b"data: 2\n\n", went[2],
                                             Content_Type="text/event-stream", Cache_Control=control))
        proxy = Proxy(POSY)
        client = Reader(proxy, origin.url + "/events")
        assert client.head().headers["Content-Type"] == "text/event-stream"
        for event, text in zip(went, (b"data: 1\n\n", b"data: 2\n\n")):
            event.set()
            assert client.read(9) == text
        went[2].set()
        assert client.read() == b""
        client.close()
        for used in (proxy, origin):
            used.close()
    return None, None


@test
def stored_is_said_of_what_is_stored():
    go = threading.Event()

    def answer(head):
        path = head[0].split()[1]
        if path == "/stream":
            return chunked(b"a" * 1000, go, b"b" * 1000, **FRESH)
        if path == "/endless":
            return chunked(b"a" * 60_000, b"b" * 60_000, **FRESH)
        return [response(b"x" * int(path[1:]), **FRESH)]
    origin = Script(answer)
    proxy = Proxy(POSY, "--max-object", "100k")
    client = Reader(proxy, origin.url + "/stream")
    assert "stored" not in client.status()  # it may still turn out to be too large
    go.set()
    assert client.read() == b"a" * 1000 + b"b" * 1000
    for path, claimed, stored in (("/stream", False, True), ("/endless", False, False),
                                  ("/90000", True, True), ("/100001", False, False)):
        if path != "/stream":
            assert ("stored" in status_of(proxy.get(origin.url + path)[1])) == claimed, path
        found = proxy.get(origin.url + path, Cache_Control="only-if-cached")[0]
        assert (found == 200) == stored, path
    client.close()
    return origin, proxy


@test
def max_object_means_what_it_says():
    origin = Script(lambda head: [response(b"x" * int(head[0].split()[1][1:]), **FRESH)])
    said = posy("proxy", "--listen", "127.0.0.1:0", "--memory", "8MiB", "--max-object", "1MiB", status=2)
    assert "--max-object 1048576" in said and "--memory" in said, said
    proxy = Proxy(POSY, "--memory", "16MiB", "--max-object", "1536KiB")
    assert "stored" in status_of(proxy.get(f"{origin.url}/{3 << 19}")[1])
    assert "; hit" in status_of(proxy.get(f"{origin.url}/{3 << 19}")[1])
    assert "stored" not in status_of(proxy.get(f"{origin.url}/{(3 << 19) + 1}")[1])
    return origin, proxy


@test
def what_turns_out_too_large_goes_to_all_who_began():
    pieces, go = [os.urandom(30_000) for _ in range(20)], threading.Event()
    origin = Script(lambda head: chunked(pieces[0], go, *pieces[1:], **FRESH))
    proxy = Proxy(POSY, "--max-object", "100k")
    readers = [Reader(proxy, origin.url + "/x") for _ in range(3)]
    for each in readers:
        each.head()
    go.set()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        assert all(each == b"".join(pieces) for each in pool.map(lambda r: r.read(), readers))
    for each in readers:
        each.close()
    assert len(origin.requests) == 1
    assert proxy.get(origin.url + "/x", Cache_Control="only-if-cached")[0] == 504
    assert proxy.metric("posy_cache_objects_bytes") == 0 and proxy.metric("posy_proxy_unkept_total") == 1
    return origin, proxy


@test
def only_those_whom_it_answers():
    go = threading.Event()

    def answer(head):
        language = next(line.split(": ")[1].strip() for line in head if line.startswith("Accept-Language"))
        if language == "fr":
            return [response(b"fr", Vary="Accept-Language", **FRESH)]
        return stop_and_go(b"de" * 500, 500, go, Vary="Accept-Language", ETag='"de"')
    origin = Script(answer)
    proxy = Proxy(POSY)
    first = Reader(proxy, origin.url + "/x", Accept_Language="de")
    first.head()
    assert proxy.get(origin.url + "/x", Accept_Language="fr")[2] == b"fr"
    status, fields, _ = proxy.get(origin.url + "/x", Accept_Language="de", If_None_Match='"de"')
    assert status == 304 and fields["ETag"] == '"de"'
    go.set()
    assert first.read() == b"de" * 500 and len(origin.requests) == 2
    first.close()
    return origin, proxy


@test
def what_breaks_off_breaks_off_for_all():
    go = threading.Event()

    class Breaking(Script):
        def serve(self, connection):
            for head in heads(connection):
                self.requests.append(head)
                connection.sendall(response(b"x" * 1000, **FRESH)[:-500])
                wait(go)
                return
    origin = Breaking(None)
    proxy = Proxy(POSY)
    readers = [Reader(proxy, origin.url + "/x") for _ in range(3)]
    for each in readers:
        each.head()
    go.set()
    for each in readers:
        try:
            each.read()
            raise AssertionError("a broken answer was passed off as whole")
        except (http.client.IncompleteRead, ConnectionResetError):
            each.close()
    assert len(origin.requests) == 1 and proxy.get(origin.url + "/x", Cache_Control="only-if-cached")[0] == 504
    return origin, proxy


@test
def what_is_outdated_is_not_joined():
    go, versions = threading.Event(), iter((b"old" * 1000, b"new" * 1000))

    def answer(head):
        if head[0].startswith("POST"):
            return [response(b"")]
        body = next(versions)
        return stop_and_go(body, 500, go) if body.startswith(b"old") else [response(body, **FRESH)]
    origin = Script(answer)
    proxy = Proxy(POSY)
    first = Reader(proxy, origin.url + "/x")
    first.head()
    assert proxy.get(origin.url + "/x", "POST", b"")[0] == 200
    assert proxy.get(origin.url + "/x")[2] == b"new" * 1000
    go.set()
    assert first.read() == b"old" * 1000
    first.close()
    return origin, proxy


@test
def a_renewal_asks_the_same_host():
    def answer(head):
        yield response(b"body", Cache_Control="max-age=1, stale-while-revalidate=300", Age="5", ETag='"1"')
    origin = Script(answer)
    proxy = Proxy(POSY)
    for host in ("localhost", "127.0.0.1"):
        before = len(origin.requests)
        url = origin.url.replace("127.0.0.1", host) + "/" + host
        proxy.get(url)
        proxy.get(url)
        until(lambda: len(origin.requests) == before + 2)
        asked = [next(line for line in head if line.startswith("Host:")) for head in origin.requests[before:]]
        assert asked[0] == asked[1] == f"Host: {url.split('/')[2]}\r\n", asked
    return origin, proxy


run()
