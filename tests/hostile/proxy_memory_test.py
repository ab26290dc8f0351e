"""Hostile clients and origins against the memory of the proxy: it is what --memory says.

  tests/hostile/proxy_memory_test.py POSY [--unbounded] [test …]

POSY_LONG_TESTS=1 does it at full size (150 downloads of 8 MB; 64 MB of fields): the figures of the documents.
"""
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, resident  # noqa: E402
from origins import RawOrigin  # noqa: E402
from proxy_support import BOUNDED, LONG, read_some, request, within_budget  # noqa: E402
from waiting import until  # noqa: E402


@test
def slow_downloads_keep_the_memory():
    """150 downloads whose last part is long in coming, in every framing, at one proxy."""
    size, part = (8 << 20) - 65536 if LONG else 1 << 20, 65536
    go_on = threading.Event()

    def slow(path):
        chunked, length = path.startswith("/chunked"), 180_000 if path.startswith("/small") else size
        framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % length
        yield b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n" + framing + b"\r\n\r\n"
        for at in range(0, length, part):
            if at + part >= length:
                go_on.wait(60)
            piece = b"x" * min(part, length - at)
            yield b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece
        if chunked:
            yield b"0\r\n\r\n"

    origin = RawOrigin(slow)
    memory = 16 << 20
    proxy = Proxy(POSY, "--memory", str(memory), "--max-object", "200k")  # only the small ones are stored
    for kind, length in (("large", size), ("chunked", size), ("small", 180_000)):
        go_on.clear()
        clients = [request(proxy.port, f"{origin.url}/{kind}/{i}") for i in range(150)]
        read_some(clients, length - part)
        within_budget(proxy, memory, len(clients), f"150 slow downloads, {kind}")
        used = proxy.metrics()
        assert used["posy_cache_objects_bytes"] <= used["posy_cache_limit_bytes"] == memory
        go_on.set()
        read_some(clients, part)  # with the head: at least that much is left
        # What had room is stored.
        if kind == "small":
            assert used["posy_proxy_unkept_total"] > 0
            assert proxy.metrics()['posy_cache_objects{tier="memory"}'] >= 30
        for s in clients:
            s.close()

    def given_back():
        return proxy.metrics()["posy_cache_objects_bytes"] <= memory * 7 / 8
    until(given_back)
    return origin, proxy


@test
def one_flight_for_many_slow_clients():
    """What cannot be kept is relayed to each, at once, with bounded buffers."""
    size = 4 << 20

    def large(path):
        yield b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: %d\r\n\r\n" % size
        for _ in range(size >> 16):
            yield b"x" * 65536
    origin = RawOrigin(large)
    proxy = Proxy(POSY, "--memory", "16M")
    began = time.monotonic()
    clients = [request(proxy.port, f"{origin.url}/same") for _ in range(40)]
    read_some(clients, size // 2)  # nobody waits for the first to be done
    assert time.monotonic() - began < 25, "waited for a flight that brings nothing"
    within_budget(proxy, 16 << 20, len(clients), "40 slow downloads of one URL")
    for s in clients:
        s.close()
    return origin, proxy


@test
def small_fields_cost_what_they_cost():
    """Answers of 97 fields with a byte each: more memory in nodes than in texts."""
    memory, count = (64 << 20, 36_000) if LONG else (16 << 20, 5_000)
    fields = b"".join(b"%x: 1\r\n" % i for i in range(97))
    origin = RawOrigin(lambda path: [b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 1\r\n" + fields +
                                     b"\r\nx"])
    proxy = Proxy(POSY, "--memory", str(memory), "--threads", "2")

    def load(first):
        with socket.create_connection(("127.0.0.1", proxy.port)) as s:
            for start in range(first, count, 4 * 50):
                numbers = range(start, min(start + 200, count), 4)
                s.sendall(b"".join(b"GET %s/%d HTTP/1.1\r\nHost: x\r\n\r\n" % (origin.url.encode(), n) for n in numbers))
                waiting = b""
                while waiting.count(b"\r\n\r\nx") < len(numbers):
                    got = s.recv(1 << 20)
                    assert got
                    waiting += got
    threads = [threading.Thread(target=load, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    metrics = proxy.metrics()
    stored = metrics['posy_cache_objects{tier="memory"}']
    within_budget(proxy, memory, 10, f"{stored:.0f} answers of 97 fields")
    assert metrics['posy_cache_evictions_total{tier="memory"}'] > 0 and stored * 97 * 64 > memory / 2, stored
    return origin, proxy


@test
def large_heads_are_held_once():
    """Requests with heads near the limit, at an origin that does not answer them, or stalls after a head as large."""
    count, go_on = 300, threading.Event()
    lines = "".join(f"X{i}: {'a' * 330}\r\n" for i in range(90))

    def stall(path):
        if path.startswith("/answered"):
            yield b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 2\r\n" + lines.encode() + b"\r\nx"
        asked.append(path)
        go_on.wait(60)
    origin = RawOrigin(stall)
    for kind in ("silent", "answered"):
        asked = []
        proxy = Proxy(POSY, "--memory", "16MiB")
        before = resident(proxy.process)
        clients = [request(proxy.port, f"{origin.url}/{kind}/{i}", lines) for i in range(count)]

        def all_asked():
            return len(asked) == count
        until(all_asked, 60)
        if kind == "answered":
            read_some(clients, len(lines))
        each = (resident(proxy.process) - before) / count
        print(f"  heads of {len(lines)} bytes, {kind}: {each / 1024:.0f} KiB for each connection")
        assert not BOUNDED or each <= 112_000, each
        for s in clients:
            s.close()
        proxy.kill()
    go_on.set()
    return origin, None


@test
def limits_are_those_of_the_machine():
    out = subprocess.run([POSY, "proxy", "--memory", "900T"], capture_output=True, text=True, timeout=20)
    assert out.returncode == 2 and "--memory" in out.stderr and "control group" in out.stderr, out.stderr
    for little in ("0", "1", "100k", "1M"):  # of a thousand thousands, which is less than 1 MiB
        out = subprocess.run([POSY, "proxy", "--memory", little], capture_output=True, text=True, timeout=20)
        assert out.returncode == 2 and "--memory" in out.stderr and "1MiB" in out.stderr, out.stderr
    for text, size in (("1.5MiB", 3 << 19), ("2M", 2_000_000), ("4MiB", 4 << 20)):
        proxy = Proxy(POSY, "--memory", text)
        assert proxy.metrics()["posy_cache_limit_bytes"] == size
        proxy.close()
    return None, None


@test
def what_is_not_kept_is_counted():
    """Answers that are too large for the memory count as those do for which none is left."""
    origin = RawOrigin(lambda path: [b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 8388608\r\n\r\n" +
                                     b"x" * (1 << 23)])
    proxy = Proxy(POSY, "--memory", "16MiB")
    for i in range(3):
        assert len(proxy.get(f"{origin.url}/{i}")[2]) == 1 << 23
    assert proxy.metrics()["posy_proxy_unkept_total"] == 3
    return origin, proxy


run()
