"""What the hostile tests of the proxy share: origins that send any bytes, clients that read as they like, the memory of
a process, and the list of tests."""
import contextlib
import os
import pathlib
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "proxy"))

TOOL = sys.argv[1]
BOUNDED = "--unbounded" not in sys.argv  # a sanitizer multiplies memory
LONG = os.environ.get("POSY_LONG_TESTS") == "1"
# What docs/proxy.md says of a proxy's memory: the program, the memory of --memory, and so much a connection.
PROGRAM, CONNECTION = 24 << 20, 64 << 10
TESTS = []


def test(function):
    """A test returns what it used, to be closed: an origin and a proxy, or nothing in their places."""
    TESTS.append(function)
    return function


def status_of(fields):
    return fields.get_all("Cache-Status")[-1]


def resident(proxy):
    text = pathlib.Path(f"/proc/{proxy.process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) << 10


def within_budget(proxy, memory, connections, what):
    used, most = resident(proxy), PROGRAM + memory + connections * CONNECTION
    print(f"  {what}: {used / 1e6:.0f} MB resident with --memory {memory / 1e6:.0f} MB and {connections} connections")
    assert not BOUNDED or used <= most, f"{what}: {used:,} bytes resident, {most:,} promised"


class RawOrigin:
    """An origin that sends whatever bytes it is told to, with a thread a connection."""

    def __init__(self, answer):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.answer = answer
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=(self.listener.accept()[0],), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError), connection:
            waiting = b""
            while True:
                while b"\r\n\r\n" not in waiting:
                    got = connection.recv(65536)
                    if not got:
                        return
                    waiting += got
                head, waiting = waiting.split(b"\r\n\r\n", 1)
                for part in self.answer(head.split(b" ", 2)[1].decode()):
                    connection.sendall(part)

    def close(self):
        self.listener.close()


def request(port, url, fields=""):
    """A connection on which the URL was asked for, and nothing of the answer read."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", port))
    s.sendall(f"GET {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n{fields}\r\n".encode())
    return s


def read_some(connections, count):
    """So many bytes of each, from all of them in turn."""
    left = {s: count for s in connections}
    while left:
        for s in list(left):
            got = s.recv(min(left[s], 1 << 18))
            assert got, "an answer broke off"
            left[s] -= len(got)
            if left[s] <= 0:
                del left[s]


def run():
    chosen = [name for name in sys.argv[2:] if not name.startswith("--")]
    for function in TESTS:
        if chosen and function.__name__ not in chosen:
            continue
        began = time.monotonic()
        for used in reversed(function()):
            if used:
                used.close()
        print(f"{function.__name__}: {time.monotonic() - began:.1f} s", flush=True)
