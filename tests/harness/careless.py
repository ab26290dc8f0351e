"""Proxies that do it wrong, to show that rules (behaviour.py) can fail: each rule must be broken by one of them."""
import contextlib
import socket

from exchanges import Ended, read_message
from origins import RawServer


class Pipe(RawServer):
    """Passes bytes both ways and keeps nothing."""

    def __init__(self, origin):
        self.origin = origin
        super().__init__()

    def serve(self, connection):
        with socket.create_connection(("127.0.0.1", self.origin.port), timeout=5) as upstream:
            connection.settimeout(0.05)
            with contextlib.suppress(TimeoutError):  # whole requests and halves
                while piece := connection.recv(65536):
                    upstream.sendall(piece)
                    upstream.settimeout(0.05)
                    with contextlib.suppress(TimeoutError):
                        while said := upstream.recv(65536):
                            connection.sendall(said)


class Hoarder(RawServer):
    """Asks once per path, whatever the method, and gives that answer ever after."""

    def __init__(self, origin):
        self.origin, self.kept = origin, {}
        super().__init__()

    def serve(self, connection):
        with contextlib.suppress(Ended, ValueError), connection.makefile("rb") as stream:
            while request := read_message(stream):
                if request.target not in self.kept:
                    with socket.create_connection(("127.0.0.1", self.origin.port), timeout=5) as upstream:
                        fields = "".join(f"{name}: {value}\r\n" for name, value in request.fields if name.lower() != "transfer-encoding")
                        upstream.sendall(f"{request.start}\r\n{fields}\r\n".encode("latin-1") + request.body)
                        upstream.settimeout(0.05)
                        said = b""
                        with contextlib.suppress(TimeoutError):
                            while piece := upstream.recv(65536):
                                said += piece
                        self.kept[request.target] = said
                connection.sendall(self.kept[request.target])


class Refuser(RawServer):
    """Does not understand anything."""

    def __init__(self, origin):
        super().__init__()

    def serve(self, connection):
        if connection.recv(65536):
            connection.sendall(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


CARELESS = (Pipe, Hoarder, Refuser)
