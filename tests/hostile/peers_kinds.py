"""The kinds of hostile peers: each is a server that answers a node's questions with the worst of its kind."""
import random
import time

from origins import FakePeer, RawServer, drip, heads, response
from peers_messages import ADAPTIVE, message, tag

KIB, MIB = 1024, 1 << 20


def summary(body, generation, status="200 OK", tagged=None):
    return response(body, status, ETag=tagged or f'"{generation:x}"')


class Streams(RawServer):
    """A peer that writes for as long as it likes: `reply` is called with the connection after each request."""

    def __init__(self, reply):
        self.reply, self.asked = reply, []
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            self.asked.append((time.monotonic(), head))
            self.reply(connection)


def generations():
    """Ever newer ones, so that each has to be decoded."""
    number = 1 << 40
    while True:
        number += 1
        yield number


def bomb():
    """A few bytes that stand for a large array, by a coding that goes bit by bit."""
    number = generations()

    def answer(head):
        g = next(number)
        return summary(message(1 << 29, b"\x01" + b"\0" * 8, g, ADAPTIVE), g)
    return FakePeer(answer)


def all_ones():
    number, payload = generations(), b"\xff" * (64 * KIB)

    def answer(head):
        g = next(number)
        return summary(message(8 * len(payload), payload, g), g)
    return FakePeer(answer)


def large():
    """The largest message that is allowed, with something new every time."""
    number, payload = generations(), bytearray(random.Random(1).randbytes(3 * MIB))

    def answer(head):
        g = next(number)
        payload[:8] = g.to_bytes(8, "little")
        return summary(message(8 * len(payload), bytes(payload), g), g)
    return FakePeer(answer)


def dripping():
    def serve(client):
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        drip(client, b"P", 0.5)
    return Streams(serve)


def endless():
    def serve(client):
        client.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"10000\r\n" + b"\xaa" * 65536 + b"\r\n"
        while True:
            client.sendall(piece)
    return Streams(serve)


def interim():
    def serve(client):
        while True:
            client.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100)
    return Streams(serve)


def lying_generation():
    """Back, far ahead, the last there is, one number for two sets."""
    draw = random.Random(2)

    def answer(head):
        g = draw.choice([0, 1, 7, 7, 7, draw.randrange(1 << 64), (1 << 64) - 1, (1 << 64) - 1])
        payload = draw.randbytes(128)
        return summary(message(1024, payload, g), g, tagged=tag(g, payload))
    return FakePeer(answer)


def same_again():
    whole = message(8 * MIB, b"\0" * MIB, 5)
    return FakePeer(lambda head: summary(whole, 5))


def wrong_checksum():
    number = generations()

    def answer(head):
        g = next(number)
        good = message(8 * MIB, b"\0" * MIB, g)
        return summary(good[:-1] + bytes([good[-1] ^ 1]), g)
    return FakePeer(answer)


KINDS = (bomb, all_ones, large, dripping, endless, interim, lying_generation, same_again, wrong_checksum)
