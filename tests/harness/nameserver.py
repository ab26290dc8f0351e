"""A name server of a few lines, over UDP and TCP on one port of the loopback, which says what a test writes."""
import collections
import socket
import socketserver
import struct
import threading

A, AAAA, SOA = 1, 28, 6
NXDOMAIN, SERVFAIL = 3, 2
SILENCE = "no answer"


def question_of(message):
    """(name, type, end of the question)"""
    at, labels = 12, []
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode())
        at += 1 + message[at]
    return ".".join(labels).lower(), struct.unpack_from("!H", message, at + 1)[0], at + 5


class NameServer:
    """Zone: {name: [address, …], or NXDOMAIN, SERVFAIL, SILENCE, or a function of the type that gives one of these}. A name that is
    not in it does not exist. `asked` counts questions by name and type, `by_tcp` those that came by TCP."""

    def __init__(self, zone, ttl=300, negative_ttl=30, truncated=()):
        self.zone, self.ttl, self.negative_ttl, self.truncated = zone, ttl, negative_ttl, set(truncated)
        self.asked, self.by_tcp = collections.Counter(), collections.Counter()
        outer = self

        class Datagram(socketserver.BaseRequestHandler):
            def handle(self):
                message, back = self.request
                answer = outer.answer(message, False)
                if answer:
                    back.sendto(answer, self.client_address)

        class Stream(socketserver.StreamRequestHandler):
            def handle(self):
                while length := self.rfile.read(2):
                    answer = outer.answer(self.rfile.read(struct.unpack("!H", length)[0]), True)
                    if answer:
                        self.wfile.write(struct.pack("!H", len(answer)) + answer)

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self.tcp = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Stream)
        self.port = self.tcp.server_address[1]
        self.udp = socketserver.UDPServer(("127.0.0.1", self.port), Datagram)
        self.udp.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.tcp.daemon_threads = True
        self.address = f"127.0.0.1:{self.port}"
        for each in (self.tcp, self.udp):
            threading.Thread(target=each.serve_forever, daemon=True).start()

    def answer(self, message, tcp):
        name, kind, end = question_of(message)
        self.asked[name, kind] += 1
        self.by_tcp[name, kind] += tcp
        said = self.zone.get(name, NXDOMAIN)
        said = said(kind) if callable(said) else said
        if said == SILENCE:
            return None
        code = said if isinstance(said, int) else 0
        cut = name in self.truncated and not tcp
        wanted = [] if code or cut else [a for a in said if (":" in a) == (kind == AAAA)]
        records = b"".join(struct.pack("!HHHIH", 0xC00C, kind, 1, self.ttl, 16 if ":" in a else 4)
                           + socket.inet_pton(socket.AF_INET6 if ":" in a else socket.AF_INET, a) for a in wanted)
        none = not wanted and not cut and code != SERVFAIL
        if none:
            numbers = struct.pack("!5I", 1, 1, 1, 1, self.negative_ttl)
            records = struct.pack("!HHHIH", 0xC00C, SOA, 1, 3600, 4 + len(numbers)) + b"\xc0\x0c\xc0\x0c" + numbers
        head = message[:2] + struct.pack("!HHHHH", 0x8180 | 0x0200 * cut | code, 1, len(wanted), int(none), 0)
        return head + message[12:end] + records

    def count(self, name):
        return self.asked[name, A]

    def close(self):
        for each in (self.tcp, self.udp):
            each.shutdown()
            each.server_close()
