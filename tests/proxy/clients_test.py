"""Programs that people have, through the proxy: curl, wget, git, apt, Chromium and WebSockets, each twice, so that the second time comes from the store.

Usage: clients_test.py POSY [--mode=forward|reverse] [unittest arguments]
"""
import asyncio
import contextlib
import email.utils
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
sys.path.append("/usr/lib/python3/dist-packages")  # python3-websockets of Debian, whichever Python this is
import websockets  # noqa: E402
import websockets.legacy.client  # noqa: E402

from cases import POSY  # noqa: E402
from daemons import Proxy  # noqa: E402

GIT_BACKEND = os.path.join(subprocess.run(["git", "--exec-path"], capture_output=True, text=True).stdout.strip(), "git-http-backend")
LARGE = bytes(i * i * 31 >> 5 & 255 for i in range(300_000))


class Site(http.server.BaseHTTPRequestHandler):
    """Files with validators and ranges, as any web server has them; repositories of git under /git/ by git's own CGI program."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append((self.command, self.path, self.headers.get("Range")))
        if self.path.startswith("/git/"):
            return self.cgi()
        path = os.path.join(self.server.folder, self.path.split("?")[0].lstrip("/"))
        if not os.path.isfile(path):
            return self.give(404, [], b"no such file")
        with open(path, "rb") as file:
            content = file.read()
        fields = [("ETag", f'"{hashlib.md5(content).hexdigest()}"'), ("Last-Modified", email.utils.formatdate(os.path.getmtime(path), usegmt=True)),
                  ("Cache-Control", "max-age=600"), ("Accept-Ranges", "bytes"),
                  ("Content-Type", {"html": "text/html", "js": "text/javascript", "svg": "image/svg+xml"}.get(path.rpartition(".")[2], "application/octet-stream"))]
        if self.headers.get("If-None-Match") == fields[0][1]:
            return self.give(304, fields, b"")
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if part and int(part[1]) < len(content):
            first, last = int(part[1]), min(int(part[2] or len(content)), len(content) - 1)
            return self.give(206, fields + [("Content-Range", f"bytes {first}-{last}/{len(content)}")], content[first:last + 1])
        return self.give(200, fields, content)

    do_HEAD = do_POST = do_GET

    def give(self, status, fields, body):
        self.send_response(status)
        for name, value in fields + ([("Content-Length", str(len(body)))] if status != 304 else []):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def cgi(self):
        path, _, query = self.path.partition("?")
        environment = {**os.environ, "GIT_PROJECT_ROOT": self.server.folder, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
                       "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "someone",
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        said = subprocess.run([GIT_BACKEND], input=self.body(), env=environment, capture_output=True).stdout
        head, _, body = said.partition(b"\r\n\r\n")
        fields = [tuple(line.split(": ", 1)) for line in head.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.give(status, [(name, value) for name, value in fields if name != "Status"], body)

    def log_message(self, *args):
        pass


class Echo:
    """A WebSocket that echoes, and a page that uses it. The page is not loaded before its picture is, which comes when the WebSocket is closed."""

    PAGE = b"""<!doctype html><p id=p>nothing</p><img src=over><script>
const said = [], socket = new WebSocket(location.href.replace('http:', 'ws:').replace('page', 'chat'));
socket.onopen = () => { socket.send('hello'); socket.send('x'.repeat(100000)); };
socket.onmessage = message => {
  document.getElementById('p').textContent = (said.push(message.data.length), said.join(' '));
  if (said.length == 2) socket.close();
};
</script>"""

    def __init__(self):
        self.via, started = [], threading.Event()

        async def run():
            self.loop, self.over, self.stop = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
            async with websockets.serve(self.echo, "127.0.0.1", 0, process_request=self.answer) as server:
                self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
                started.set()
                await self.stop.wait()
        self.thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
        self.thread.start()
        started.wait(10)

    async def echo(self, connection):
        self.via.append(connection.request_headers.get("Via"))
        with contextlib.suppress(websockets.ConnectionClosed):
            async for message in connection:
                await connection.send(message)
        self.over.set()

    async def answer(self, path, fields):
        if path == "/over":
            await asyncio.wait_for(self.over.wait(), 20)
            self.over.clear()
            return http.HTTPStatus.OK, [("Cache-Control", "no-store")], b"over"
        return (http.HTTPStatus.OK, [("Content-Type", "text/html")], self.PAGE) if path == "/page" else None

    def close(self):
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(10)


class Clients(unittest.TestCase):
    """In forward mode programs are told of the proxy; in reverse mode they see a web server."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder, self.site = folder.name, os.path.join(folder.name, "site")
        os.mkdir(self.site)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
        self.server.folder, self.server.asked, self.server.daemon_threads = self.site, [], True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def ways(self, origin=None, *options, modes=("forward", "reverse")):
        """Each mode with a proxy of its own: its name, the proxy, and the URL of the site."""
        origin = origin or f"http://127.0.0.1:{self.server.server_address[1]}"
        for name in (mode for mode in MODES if mode in modes):
            self.server.asked.clear()
            proxy = Proxy(POSY, *(["--origin", f"127.0.0.1={origin}"] if name == "reverse" else []), *options)
            self.environment = {**{k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}, "HOME": self.folder,
                                "GIT_CONFIG_NOSYSTEM": "1", **({"http_proxy": proxy.url} if name == "forward" else {})}
            yield name, proxy, proxy.url if name == "reverse" else origin
            proxy.close()

    def write(self, name, content):
        with open(os.path.join(self.site, name), "wb") as file:
            file.write(content)

    def read(self, *path):
        with open(os.path.join(self.folder, *path), "rb") as file:
            return file.read()

    def run_program(self, *arguments, status=0):
        done = subprocess.run(arguments, capture_output=True, env=self.environment, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, status, (arguments, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout

    def asked(self, path):
        return [each for each in self.server.asked if each[1] == path]

    def test_curl(self):
        self.write("large", LARGE)
        for _, _, url in self.ways():
            for _ in range(2):
                self.assertEqual(self.run_program("curl", "-sf", f"{url}/large"), LARGE)
            self.assertEqual(len(self.asked("/large")), 1)
            self.assertIn(b"\r\nCache-Status: ", self.run_program("curl", "-sfI", f"{url}/large"))
            both = self.run_program("curl", "-sf", f"{url}/large", f"{url}/large")  # one connection
            self.assertEqual(both, LARGE * 2)
            self.run_program("curl", "-sf", f"{url}/none", status=22)

    def test_wget_resumes_a_download(self):
        self.write("large", LARGE)
        for name, _, url in self.ways():
            part = os.path.join(self.folder, name)
            os.mkdir(part)
            for begun in (100_000, 299_999, 0):  # from the origin, then from the store, then all of it
                with open(os.path.join(part, "large"), "wb") as file:
                    file.write(LARGE[:begun])
                self.run_program("wget", "-q", "-c", "-P", part, f"{url}/large")
                self.assertEqual(self.read(name, "large"), LARGE)

    def test_git(self):
        self.environment = {**os.environ, "HOME": self.folder, "GIT_CONFIG_NOSYSTEM": "1"}
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
        self.run_program(*git, "init", "-q", "work")
        for commit in range(20):
            with open(os.path.join(self.folder, "work", "file"), "wb") as file:
                file.write(hashlib.sha512(str(commit).encode()).digest() * (1 + 500 * commit))
            self.run_program(*git, "-C", "work", "add", "file")
            self.run_program(*git, "-C", "work", "commit", "-qm", f"commit {commit}")
        head = self.run_program("git", "-C", "work", "rev-parse", "HEAD")
        for kind in ("plain", "git"):  # files alone, and git's own protocol
            os.makedirs(os.path.join(self.site, kind), exist_ok=True)
            self.run_program("git", "clone", "-q", "--bare", "work", os.path.join(self.site, kind, "a.git"))
            self.run_program("git", "-C", os.path.join(self.site, kind, "a.git"), "update-server-info")
        self.run_program("git", "-C", os.path.join(self.site, "git", "a.git"), "config", "http.receivepack", "true")
        for name, _, url in self.ways():
            for kind in ("plain", "git"):
                for again in range(2):
                    copy = f"{name}-{kind}-{again}"
                    self.run_program("git", "clone", "-q", f"{url}/{kind}/a.git", copy)
                    self.assertEqual(self.run_program("git", "-C", copy, "rev-parse", "HEAD"), head)
                    self.run_program("git", "-C", copy, "fsck", "--strict")
            self.run_program("git", "-C", f"{name}-git-0", "-c", "http.postBuffer=65536", "push", "-q", "origin", f"HEAD:refs/heads/{name}")  # in chunks
            self.assertEqual(self.run_program("git", "-C", os.path.join(self.site, "git", "a.git"), "rev-parse", name), head)

    def test_apt(self):
        package = os.path.join(self.folder, "package")
        os.makedirs(os.path.join(package, "DEBIAN"))
        with open(os.path.join(package, "DEBIAN", "control"), "w") as file:
            file.write("Package: posy-hello\nVersion: 1.0\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: hello\n")
        with open(os.path.join(package, "large"), "wb") as file:
            file.write(LARGE)
        self.environment = dict(os.environ)
        self.run_program("dpkg-deb", "-b", package, os.path.join(self.site, "posy-hello_1.0_all.deb"))
        listed = subprocess.run(["dpkg-scanpackages", "."], cwd=self.site, capture_output=True, check=True).stdout
        self.write("Packages", listed)
        for name, proxy, url in self.ways():
            root = os.path.join(self.folder, name)
            for each in ("etc/preferences.d", "state/lists/partial", "cache/archives/partial"):
                os.makedirs(os.path.join(root, each))
            with open(os.path.join(root, "etc", "sources.list"), "w") as file:
                file.write(f"deb [trusted=yes] {url}/ ./\n")
            with open(os.path.join(root, "status"), "w"):
                pass
            options = [f"Dir::Etc={root}/etc", "Dir::Etc::sourceparts=-", f"Dir::State={root}/state", f"Dir::State::status={root}/status", f"Dir::Cache={root}/cache",
                       "APT::Sandbox::User=root", "Acquire::Languages=none", *([f"Acquire::http::Proxy={proxy.url}"] if name == "forward" else ["Acquire::http::Proxy=false"])]
            apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
            for _ in range(2):
                self.run_program(*apt, "update")
                self.run_program(*apt, "download", "posy-hello")
                self.assertEqual(self.read("posy-hello_1.0_all.deb"), self.read("site", "posy-hello_1.0_all.deb"))
                os.remove(os.path.join(self.folder, "posy-hello_1.0_all.deb"))
            self.assertEqual(len([each for each in self.server.asked if each[1].endswith(".deb")]), 1)

    def chromium(self, name, proxy, url, profile, *options):
        told = [f"--proxy-server={proxy.url}", "--proxy-bypass-list=<-loopback>"] if name == "forward" else ["--no-proxy-server"]
        return self.run_program("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                                "--disable-sync", "--disable-dev-shm-usage", f"--user-data-dir={self.folder}/{profile}", "--timeout=100000", *options, *told,
                                "--dump-dom", url)

    def test_websocket(self):
        async def talk(name, proxy, url):
            how = {}
            if name == "forward":  # a client that asks the proxy for the URL, as for any other
                class ThroughProxy(websockets.legacy.client.WebSocketClientProtocol):
                    def write_http_request(self, path, headers):
                        super().write_http_request(url + path, headers)
                how = {"create_protocol": ThroughProxy, "host": "127.0.0.1", "port": proxy.port}
            async with websockets.connect(url.replace("http:", "ws:") + "/chat", **how) as client:
                for message in ("hello", "gr\u00fc\u00dfe", LARGE, ""):
                    await client.send(message)
                    self.assertEqual(await client.recv(), message)
                await (await client.ping())
        echo = Echo()
        self.addCleanup(echo.close)
        for name, proxy, url in self.ways(echo.url):
            for _ in range(2):
                asyncio.run(asyncio.wait_for(talk(name, proxy, url), 30))
            self.assertEqual(echo.via, 2 * [f"1.1 {proxy.name}"])
            echo.via.clear()

    @unittest.skipUnless(shutil.which("chromium"), "no chromium here")
    def test_websocket_of_chromium(self):
        echo = Echo()
        self.addCleanup(echo.close)
        for name, proxy, url in self.ways(echo.url, "--connect-port", echo.url.rpartition(":")[2]):  # it asks a proxy for a tunnel
            self.assertIn(b'<p id="p">5 100000</p>', self.chromium(name, proxy, f"{url}/page", name))
            self.assertEqual(echo.via.pop(), f"1.1 {proxy.name}" if name == "reverse" else None)  # nobody looks into a tunnel

    @unittest.skipUnless(shutil.which("chromium"), "no chromium here")
    def test_chromium(self):
        self.write("page.html", b"<!doctype html><title>a page</title><p id=p>nothing</p><img id=i src=picture.svg><script src=app.js></script>")
        self.write("picture.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="123" height="45"/>')
        self.write("data", LARGE)
        self.write("app.js", b"""
addEventListener('load', async () => {
  const data = await (await fetch('data')).arrayBuffer();
  const lost = (await fetch('none')).status;
  document.getElementById('p').textContent = [data.byteLength, lost, document.getElementById('i').naturalWidth].join(' ');
});""")
        for name, proxy, url in self.ways():
            for again in range(2):
                page = self.chromium(name, proxy, f"{url}/page.html", f"{name}-{again}", "--virtual-time-budget=10000")
                self.assertIn(b'<p id="p">300000 404 123</p>', page)
            for path in ("/page.html", "/picture.svg", "/app.js", "/data"):
                self.assertEqual(len(self.asked(path)), 1, path)


MODES = [word.removeprefix("--mode=") for word in sys.argv[2:] if word.startswith("--mode=")] or ["forward", "reverse"]

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(word for word in sys.argv[2:] if not word.startswith("--mode="))])
