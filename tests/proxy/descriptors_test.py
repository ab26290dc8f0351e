"""A proxy that is out of descriptors: it says so once, counts it, does not spin, and goes on when there are some again.

Usage: descriptors_test.py POSY [test …]
"""
import os
import resource
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limit(process, more):
    """As many descriptors as are open now, and some more."""
    used = max(int(each) for each in os.listdir(f"/proc/{process.pid}/fd")) + 1
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used + more, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def told(proxy, what):
    return sum(what in line and "ulimit -n" in line for line in proxy.log)


@test
def accepting():
    origin = Origin(lambda request: fresh(b"hello"))
    proxy = Proxy(POSY, "--threads", "1")
    limit(proxy.process, 3)
    before = processor_seconds(proxy.process)
    clients = []
    for _ in range(12):  # busy: in the middle of a request
        clients.append(socket.create_connection(("127.0.0.1", proxy.port)))
        clients[-1].sendall(b"GET /metrics HTTP/1.1\r\n")
    until(lambda: told(proxy, "cannot accept a connection: Too many open files"), what="a line of the log")
    for client in clients:
        client.close()
    until(lambda: proxy.metric('posy_out_of_descriptors_total{operation="accept"}'), what="a shortage that is counted")
    assert told(proxy, "cannot accept a connection") == 1, proxy.log
    assert processor_seconds(proxy.process) - before < 2
    assert proxy.get(f"{origin.url}/page")[2] == b"hello"
    proxy.close()
    return origin, None


@test
def connecting():
    origin = Origin(lambda request: fresh(b"hello"))
    proxy = Proxy(POSY, "--threads", "1")
    assert proxy.get(f"{origin.url}/first")[0] == 200
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(f"GET {proxy.url}/metrics HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        client.recv(65536)
        limit(proxy.process, 0)
        other = Origin(lambda request: fresh(b"hello"))
        client.sendall(f"GET {other.url}/page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    assert b" 502 " in answer and b"Too many open files" in answer, answer
    until(lambda: told(proxy, "cannot open a connection: Too many open files"), what="a line of the log")
    limit(proxy.process, 50)
    assert proxy.metric('posy_out_of_descriptors_total{operation="connect"}') == 1
    assert proxy.get(f"{other.url}/page")[2] == b"hello"
    proxy.close()
    return origin, None


run()
