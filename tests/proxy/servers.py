"""What the tests of the proxy start: origins, proxies, Squids; and how they ask them."""
import atexit
import contextlib
import email.utils
import http.client
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, seconds=20, pause=0.05):
    """Waits until what() is true, and returns what it said."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value or time.monotonic() > end:
            assert value, f"waited {seconds} s in vain for {what.__name__}"
            return value
        time.sleep(pause)


class Origin:
    """An origin whose answers a test writes: a function from handler to (status, fields, body)."""

    def __init__(self, answer):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def reply(self):
                length = int(self.headers.get("Content-Length", 0))
                self.body = self.rfile.read(length)
                outer.requests.append((self.command, self.path, dict(self.headers)))
                status, fields, body = answer(self)
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


class Proxy:
    """`posy proxy` (or node) on a free port; the origins of the tests are on this machine."""

    def __init__(self, tool, *options, name=None, port=None, command="proxy", destinations=("loopback",)):
        allowed = [option for each in destinations if command == "proxy" for option in ("--allow-destination", each)]
        self.tool, self.options, self.command = tool, [*allowed, *options], command
        self.port = port or free_port()
        self.name = name or f"px{self.port}"
        self.address = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [self.tool, self.command, "--listen", f"127.0.0.1:{self.port}", "--name", self.name, *self.options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # whatever becomes of the test
        line = self.process.stderr.readline()
        assert "listens on" in line, line + self.process.stderr.read()
        self.log = [line]
        threading.Thread(target=lambda p: self.log.extend(p.stderr), args=(self.process,), daemon=True).start()

    def get(self, url, method="GET", body=None, **fields):
        """A request through the proxy: (status, fields, body)."""
        return ask(self.port, url, method, body, fields)

    def local(self, path, method="GET", body=None, **fields):
        return ask(self.port, path, method, body, fields)

    def metrics(self):
        text = self.local("/metrics")[2].decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line and not line.startswith("#")}

    def result(self, name):
        return self.metrics()[f'posy_proxy_requests_total{{result="{name}"}}']

    def who(self, key):
        import json
        import urllib.parse
        return json.loads(self.local("/who?key=" + urllib.parse.quote(key, safe=""))[2])

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        return self.process.wait(20)

    def close(self):
        if self.process.poll() is None:
            status = self.kill(signal.SIGTERM)
            assert status == 0, f"{self.name} ended with {status}: {''.join(self.log)}"


def ask(port, target, method="GET", body=None, fields=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    host = re.match(r"https?://([^/]+)", target)
    connection.putheader("Host", host.group(1) if host else f"127.0.0.1:{port}")
    for name, value in (fields or {}).items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, response.headers, data


class Squid:
    """Debian's Squid with a cache on disk (only such a one publishes a digest) and one sibling."""

    def __init__(self, sibling_port=None):
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="posy-squid-")
        os.chmod(self.folder, 0o777)
        log = f"{self.folder}/access.log"
        hosts = f"{self.folder}/hosts"
        with open(hosts, "w") as file:
            file.write("127.0.0.1 localhost squidtest posysibling\n")
        peer = ""
        if sibling_port:
            peer = f"cache_peer posysibling sibling {sibling_port} 0 no-query proxy-only no-netdb-exchange\n"
        self.config = f"{self.folder}/squid.conf"
        with open(self.config, "w") as file:
            file.write(f"""
http_port 127.0.0.1:{self.port}
visible_hostname squidtest
hosts_file {hosts}
icp_port 0
pinger_enable off
minimum_direct_rtt 0
minimum_direct_hops 0
{peer}cache_dir ufs {self.folder}/cache 64 4 16
cache_mem 32 MB
digest_generation on
digest_rebuild_period 2 seconds
digest_rewrite_period 2 seconds
cache_effective_user proxy
access_log stdio:{log}
cache_log {self.folder}/cache.log
pid_filename {self.folder}/squid.pid
coredump_dir {self.folder}
http_access allow all
prefer_direct off
nonhierarchical_direct off
shutdown_lifetime 0 seconds
""")
        self.access_log = log
        name = f"posy{self.port}"
        self.arguments = ["-N", "-n", name, "-f", self.config]
        squid = shutil.which("squid") or "/usr/sbin/squid"
        subprocess.run([squid, "-z", *self.arguments], check=True, capture_output=True)
        self.process = subprocess.Popen([squid, *self.arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)

        def squid_answers():
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
        wait_for(squid_answers)

    def get(self, url):
        return ask(self.port, url)

    def codes(self):
        """What its log says of every request: TCP_MISS/200 and the like with the hierarchy's code."""
        with contextlib.suppress(FileNotFoundError):
            with open(self.access_log) as file:
                return [(line.split()[3], line.split()[6], line.split()[8]) for line in file]
        return []

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
