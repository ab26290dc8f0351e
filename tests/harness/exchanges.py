"""HTTP messages over raw sockets for rules (behaviour.py): a strict reader, a client for any bytes, an origin that follows a script."""
import contextlib
import dataclasses
import email.utils
import re
import socket
import threading
import time


@dataclasses.dataclass
class Message:
    start: str
    fields: list
    body: bytes = b""
    trailers: list = dataclasses.field(default_factory=list)

    @property
    def status(self):
        return int(self.start.split(" ")[1])

    @property
    def version(self):
        return self.start.split(" ")[0]

    @property
    def method(self):
        return self.start.split(" ")[0]

    @property
    def target(self):
        return self.start.split(" ")[1]


def dated(text, now):
    """{ago:60} and {in:60} as dates of HTTP."""
    return re.sub(r"\{(ago|in):(\d+)\}", lambda m: email.utils.formatdate(now + int(m[2]) * (1 if m[1] == "in" else -1), usegmt=True), text)


class Ended(Exception):
    """The connection ended within a message."""


def line_of(stream):
    line = stream.readline(1 << 20)
    if not line.endswith(b"\r\n"):
        raise Ended(line)
    return line[:-2].decode("latin-1")


def fields_of(stream):
    fields = []
    while line := line_of(stream):
        name, _, value = line.partition(":")
        fields.append((name, value.strip(" \t")))
    return fields


def exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise Ended(data)
    return data


def read_message(stream, bodiless=lambda message: False, until_end=False):
    """The next message, or nothing at the end. What has no framing goes on to the end if `until_end`."""
    first = stream.readline(1 << 20)
    if not first:
        return None
    if not first.endswith(b"\r\n"):
        raise Ended(first)
    message = Message(first[:-2].decode("latin-1"), fields_of(stream))
    named = {name.lower(): value for name, value in message.fields}
    if bodiless(message):
        return message
    if "transfer-encoding" in named:
        while size := int(line_of(stream).split(";")[0], 16):
            message.body += exactly(stream, size)
            exactly(stream, 2)
        message.trailers = fields_of(stream)
    elif "content-length" in named:
        message.body = exactly(stream, int(named["content-length"]))
    elif until_end:
        message.body = stream.read()
    return message


def ask_raw(port, message, method, finish=True, watched=False):
    """All answers to these bytes, and whether the connection ended after them. A whole request has one final answer; for raw bytes, when
    `finish`, our side is closed and answers are read to the end."""
    answers = []
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rb") as stream:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(message)
            if method is None and finish:
                connection.shutdown(socket.SHUT_WR)
        asked = method or message.split(b" ")[0].decode("latin-1")
        bodiless = lambda m: m.status < 200 or m.status in (204, 304) or asked == "HEAD"  # noqa: E731
        try:
            while answer := read_message(stream, bodiless, until_end=True):
                answers.append(answer)
                if answer.status >= 200 and (method is not None or not finish):
                    return answers, watched and wants_end(connection, answer)
            return answers, True
        except (Ended, ConnectionResetError, socket.timeout) as error:
            return answers + [Message("HTTP/1.1 0 broken", [("Why", repr(error))])], True


def wants_end(connection, answer):
    """Whether the server closes: it says so, or has done it."""
    if any(n.lower() == "connection" and "close" in v for n, v in answer.fields):
        return True
    connection.settimeout(1)
    with contextlib.suppress(OSError):
        return connection.recv(1) == b""
    return False


@dataclasses.dataclass
class Answer:
    status: int
    fields: tuple
    body: bytes
    reason: str
    close: bool

    def bytes(self, number, fill, request):
        """The message and its body."""
        if self.status is None:
            return fill(self.body), fill(self.body)
        body = f"answer {number}".encode() if self.body is None else self.body
        fields = [fill(line) for line in self.fields]
        names = {line.partition(":")[0].lower() for line in fields}
        if self.status not in (204, 304) and not names & {"content-length", "transfer-encoding"}:
            fields.append(f"Content-Length: {len(body)}")
        if "date" not in names:
            fields.append(f"Date: {dated('{ago:0}', time.time())}")
        start = "\r\n".join([f"HTTP/1.1 {self.status} {self.reason}", *(line for line in fields if line != "Date:")])
        return start.encode("latin-1") + b"\r\n\r\n" + (b"" if self.status in (204, 304) or request.method == "HEAD" else body), body


class Script:
    """What the origin says under one path: the answers of a step one after another, the last of them again and again."""

    def __init__(self):
        self.received, self.said, self.answers, self.fill = [], [], [Answer(200, (), None, "Unscripted", False)], None

    def begin(self, says, fill):
        self.answers, self.fill = list(says) if says else self.answers[-1:], fill
        return len(self.received)

    def next(self, request):
        self.received.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        message, body = answer.bytes(len(self.received), self.fill, request)
        if answer.status != 304:
            self.said.append(body)
        return message, answer.close


class Origin:
    """A thread per connection; scripts by the first part of the path."""

    def __init__(self):
        self.scripts, self.lock = {}, threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def script(self, path):
        return self.scripts.setdefault(path, Script())

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError, Ended, ValueError, IndexError, OverflowError), connection, connection.makefile("rb") as stream:
            while request := read_message(stream):
                key = re.match(r"(?:https?://[^/]*)?(/\d+/)", request.target)
                with self.lock:
                    message, close = self.script(key[1] if key else request.target).next(request)
                connection.sendall(message)
                if close:
                    return

    def close(self):
        self.listener.close()
