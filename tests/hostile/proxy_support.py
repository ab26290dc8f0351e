"""What the hostile tests of the proxy share: clients that read as they like, and the memory that a proxy may have."""
import os
import socket
import sys

from daemons import resident

BOUNDED = "--unbounded" not in sys.argv  # a sanitizer multiplies memory
LONG = os.environ.get("POSY_LONG_TESTS") == "1"
# What docs/proxy.md says of a proxy's memory: the program, the memory of --memory, and so much per connection.
PROGRAM, CONNECTION = 28 << 20, 64 << 10


def within_budget(proxy, memory, connections, what):
    used, most = resident(proxy.process), PROGRAM + memory + connections * CONNECTION
    print(f"  {what}: {used / 1e6:.0f} MB resident with --memory {memory / 1e6:.0f} MB and {connections} connections")
    assert not BOUNDED or used <= most, f"{what}: {used:,} bytes resident, {most:,} promised"


def request(port, url, fields=""):
    """A connection on which the URL was asked for, and nothing of the answer read."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.connect(("127.0.0.1", port))
    s.sendall(f"GET {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n{fields}\r\n".encode())
    return s


def read_some(connections, count):
    """`count` bytes of each, from all of them in turn."""
    left = {s: count for s in connections}
    while left:
        for s in list(left):
            got = s.recv(min(left[s], 1 << 18))
            assert got, "an answer broke off"
            left[s] -= len(got)
            if left[s] <= 0:
                del left[s]
