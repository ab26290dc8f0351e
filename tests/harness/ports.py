"""Ports for servers that are told where to listen."""
import random
import socket

# Linux gives connections ports from 32768 on: one of those could be taken by another test before the server listens.
_ports = range(10_000, 32_768)


def free_port():
    """A port of the loopback that is free."""
    while True:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.choice(_ports)))
                return s.getsockname()[1]
            except OSError:
                pass
