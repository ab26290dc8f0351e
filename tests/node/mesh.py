"""Real nodes for the tests: started on free ports, spoken to over plain sockets, ended with the test."""
import http.client
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest


def until(true, seconds=20, what="what was waited for"):
    """The first value of true() that is one. Tests wait for things to happen, never for time to pass."""
    end = time.monotonic() + seconds
    while True:
        value = true()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s: not {what}")
        time.sleep(0.02)


def samples(text):
    """The figures of /metrics by name, labels and all."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line and line[0] != "#"}


class Node:
    """A posy node; `listen` lines of its standard error say where it is."""

    def __init__(self, posy, *options, listen="127.0.0.1:0", command="node", threads=2):
        self.arguments = [posy, command, *(["--listen", listen] if listen else []), "--threads", str(threads), *options]
        self.process, self.log = None, []
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stderr=subprocess.PIPE, text=True, errors="replace")
        self.port = None
        self.log = []
        ready = threading.Event()
        self.reading = threading.Thread(target=self._read, args=(self.process, ready), daemon=True)
        self.reading.start()
        if not ready.wait(30) or self.port is None:
            self.kill()
            raise AssertionError("no node: " + "".join(self.log))
        return self

    def _read(self, process, ready):
        for line in process.stderr:
            self.log.append(line)
            where = re.search(r" listens on \S+:(\d+)", line)
            if where:
                self.port = int(where[1])
                ready.set()
        ready.set()
        process.stderr.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self, how=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(30)
        self.reading.join(30)
        return status

    def ask(self, method, path, body=None, headers=(), timeout=30):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers))
            answer = connection.getresponse()
            answer.body = answer.read()
            return answer
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def add(self, keys):
        return self.ask("POST", "/keys", "".join(f"+{key}\n" for key in keys).encode())

    def metrics(self):
        return samples(self.get("/metrics").body.decode())

    def metric(self, name):
        return self.metrics().get(name)


class NodeTest(unittest.TestCase):
    """A test that starts nodes; they are gone after it. POSY is set by the file that runs."""
    posy = None

    def node(self, *options, **how):
        node = Node(self.posy, *options, **how)
        self.addCleanup(self.end, node)
        return node

    def end(self, node):
        """A node that is still there, or was told to go: one that fell over on its own is a failure."""
        status = node.process.poll()
        node.kill()
        self.assertIn(status, (None, 0, -signal.SIGKILL), "".join(node.log[-40:]))


class ScratchTest(NodeTest):
    """With a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        """Replaced as a whole, as whoever publishes a file should."""
        with open(self.path(name + "~"), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())
        os.rename(self.path(name + "~"), self.path(name))
        return self.path(name)


class FakePeer:
    """A server that answers /summary with whatever is wanted: a function of the request's headers to bytes."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client):
        with client, client.makefile("rb") as lines:
            while True:
                try:
                    head = []
                    while (line := lines.readline()) != b"\r\n":
                        if not line:
                            return
                        head.append(line.decode())
                    self.asked.append((time.monotonic(), head))
                    if not self._reply(client, head):
                        return
                except OSError:
                    return

    def _reply(self, client, head):
        """False if that was the end."""
        answer = self.answer(head)
        if answer is not None:
            client.sendall(answer)
        return answer is not None

    def close(self):
        self.server.close()


def response(body, status="200 OK", **headers):
    fields = "".join(f"{n.replace('_', '-')}: {v}\r\n" for n, v in {"Content_Length": len(body), **headers}.items())
    return f"HTTP/1.1 {status}\r\n{fields}\r\n".encode() + body


def exchange(port, request, seconds=10, half_close=False):
    """What comes back for bytes, up to the end of the connection or until nothing came for so long."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as s:
        got = b""
        try:
            s.sendall(request)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            while piece := s.recv(65536):
                got += piece
            return got, True
        except (ConnectionResetError, BrokenPipeError):
            return got, True
        except socket.timeout:
            return got, False
