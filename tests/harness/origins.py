"""Servers whose answers a test writes: origins behind proxies, peers of nodes, of plain HTTP or of any bytes."""
import contextlib
import http.server
import select
import socket
import threading
import time


class Origin:
    """An origin whose answers a test writes: a function from handler to (status, fields, body)."""

    def __init__(self, answer):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a head and its body are two writes

            def reply(self):
                length = int(self.headers.get("Content-Length", 0))
                self.body = self.rfile.read(length)
                outer.requests.append((self.command, self.path, dict(self.headers)))
                status, fields, body = answer(self)
                if any(name == "Date" for name, _ in fields):
                    self.send_response_only(status)
                else:
                    self.send_response(status)
                for name, value in fields:
                    self.send_header(name, value)
                if status != 304 and not any(n.lower() == "transfer-encoding" for n, _ in fields):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = reply

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def count(self, path):
        return sum(p == path for _, p, _ in self.requests)

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def fresh(body, *fields):
    return 200, [("Cache-Control", "max-age=3600"), *fields], body


class RawServer:
    """A thread per connection, in which serve(connection) sends whatever bytes it likes."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection:
            self.serve(connection)

    def close(self):
        self.listener.close()


def heads(connection):
    """The heads of requests without bodies, each as a list of its lines."""
    with connection.makefile("rb") as lines:
        while True:
            head = []
            while (line := lines.readline()) != b"\r\n":
                if not line:
                    return
                head.append(line.decode())
            yield head


def drip(connection, piece, seconds):
    """Sends it again and again, so far apart, until the other side has had enough."""
    while True:
        connection.sendall(piece)
        if select.select([connection], [], [], seconds)[0]:
            return


class RawOrigin(RawServer):
    """An origin that sends the parts that `answer` gives for a path or URL."""

    def __init__(self, answer):
        self.answer = answer
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            for part in self.answer(head[0].split(" ", 2)[1]):
                connection.sendall(part)


class FakePeer(RawServer):
    """A server that answers /summary with whatever is wanted: a function of the lines of the request's head to bytes, or to
    None, which ends the connection."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            self.asked.append((time.monotonic(), head))
            said = self.answer(head)
            if said is None:
                return
            connection.sendall(said)


def response(body, status="200 OK", **headers):
    fields = "".join(f"{n.replace('_', '-')}: {v}\r\n" for n, v in {"Content_Length": len(body), **headers}.items())
    return f"HTTP/1.1 {status}\r\n{fields}\r\n".encode() + body
