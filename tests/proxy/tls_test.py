"""Origins that speak TLS: answers that end with the connection, and whether it was ended or cut.

Usage: tls_test.py POSY [test …]
"""
import os
import ssl
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy, exchange  # noqa: E402
from origins import RawServer, heads  # noqa: E402

PAGE = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nConnection: close\r\n\r\n" + b"x" * 1000


class SecureOrigin(RawServer):
    """Answers /ended with a page and the end of TLS, /cut with the page alone."""

    def __init__(self, certificate):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, certificate + ".key")
        self.asked = []
        super().__init__()

    def serve(self, connection):
        with self.context.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True) as secure:
            path = next(heads(secure))[0].split()[1]
            self.asked.append(path)
            secure.sendall(PAGE)
            if path == "/ended":
                secure.unwrap()


def certificate(folder):
    path = os.path.join(folder, "origin.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=o",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path + ".key", "-out", path], check=True, capture_output=True, timeout=60)
    return path


@test
def what_was_cut_is_not_whole():
    """Anybody on the way can end a TCP connection, and only the origin TLS (RFC 9112, 9.8)."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trusted = certificate(folder)
        origin = SecureOrigin(trusted)
        proxy = Proxy(POSY, "--origin", "a.example=" + origin.url.replace("http", "https"), "--tls-ca", trusted)

    def visit(path):
        got, _ = exchange(proxy.port, f"GET {path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n".encode())
        return got
    for _ in range(2):
        got = visit("/ended")
        assert got.startswith(b"HTTP/1.1 200 ") and got.count(b"x") >= 1000 and (got.endswith(b"x" * 1000) or got.endswith(b"\r\n0\r\n\r\n")), got[-50:]
    for _ in range(2):
        assert not visit("/cut").endswith(b"0\r\n\r\n")
    assert origin.asked == ["/ended", "/cut", "/cut"], origin.asked
    return origin, proxy


run()
