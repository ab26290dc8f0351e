"""Real nodes and proxies: started on free ports, spoken to over plain sockets, ended with the test."""
import atexit
import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import urllib.parse

from ports import free_port


def samples(text):
    """The figures of /metrics by name, labels and all."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if line and line[0] != "#"}


def resident(process):
    """Bytes of memory of a process, now."""
    with open(f"/proc/{process.pid}/status") as status:
        return int(status.read().split("VmRSS:")[1].split()[0]) << 10


def ask(port, target, method="GET", body=None, fields=None):
    """One exchange with the fields as they are written: (status, fields, body)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    host = re.match(r"https?://([^/]+)", target)
    fields = dict(fields or {})
    connection.putheader("Host", fields.pop("Host", host.group(1) if host else f"127.0.0.1:{port}"))
    for name, value in fields.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, response.headers, data


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


def statuses_at_once(port, request, count):
    """Those of the answers to one request on so many connections."""
    with contextlib.ExitStack() as opened:
        connections = [opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in range(count)]
        for each in connections:
            each.sendall(request)
        return [int(each.recv(1000)[9:12]) for each in connections]


def head_of(port, request, seconds=20):
    """The head that comes back for bytes, whatever follows it."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as s:
        s.sendall(request)
        with s.makefile("rb") as lines:
            return b"".join(iter(lambda: lines.readline().rstrip(b"\r\n"), b""))


class Daemon:
    """A process of posy that says on standard error where it listens. It can be killed and started again."""

    def __init__(self, arguments, **how):
        self.arguments, self.how, self.process, self.port, self.log = arguments, how, None, None, []
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", **self.how)
        atexit.register(self.process.kill)  # whatever becomes of the test
        self.port, self.log = None, []
        ready = threading.Event()
        self.reading = threading.Thread(target=self._read, args=(self.process, ready), daemon=True)
        self.reading.start()
        if not ready.wait(30) or self.port is None:
            self.kill()
            raise AssertionError(f"{self.arguments} does not listen: " + "".join(self.log))
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

    def metrics(self):
        return samples(ask(self.port, "/metrics")[2].decode())

    def metric(self, name):
        return self.metrics().get(name)

    def who(self, key):
        return json.loads(ask(self.port, "/who?key=" + urllib.parse.quote(key, safe=""))[2])


class Node(Daemon):
    """posy node, or with command="proxy" a proxy that is spoken to like one."""

    def __init__(self, posy, *options, listen="127.0.0.1:0", command="node", threads=2):
        super().__init__([posy, command, *(["--listen", listen] if listen else []), "--threads", str(threads), *options])

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


class Proxy(Daemon):
    """posy proxy on a port that it keeps when it is started again; the origins of the tests are on this machine."""

    def __init__(self, posy, *options, name=None, port=None, destinations=("loopback",)):
        port = port or free_port()
        self.name = name or f"px{port}"
        allowed = [option for each in destinations for option in ("--allow-destination", each)]
        super().__init__([posy, "proxy", "--listen", f"127.0.0.1:{port}", "--name", self.name, *allowed, *options])

    def get(self, url, method="GET", body=None, **fields):
        """A request through the proxy: (status, fields, body)."""
        return ask(self.port, url, method, body, fields)

    def result(self, name):
        return self.metric(f'posy_proxy_requests_total{{result="{name}"}}')

    def close(self):
        if self.process.poll() is None:
            status = self.kill(signal.SIGTERM)
            assert status == 0, f"{self.name} ended with {status}: {''.join(self.log)}"
