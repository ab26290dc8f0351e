#!/usr/bin/env python3
"""What a proxy writes down: the access log with refusals, tunnels and real bytes, opened again on a signal; times and levels on
standard error, and a peer's return.

Usage: logs_test.py POSY [TEST...]
"""
import base64
import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import POSY, origin_and_proxy, run, test  # noqa: E402
from daemons import Daemon, Node, Proxy, ask, exchange  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402


class Log:
    """An access log in a folder that goes with it."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = os.path.join(self.folder.name, "access.log")

    def options(self, form):
        return "--access-log", self.path, "--log-format", form

    def lines(self, path=None):
        with contextlib.suppress(FileNotFoundError), open(path or self.path, encoding="utf-8") as file:
            return file.read().splitlines()
        return []

    def await_lines(self, count):
        return until(lambda: (lines := self.lines()) and len(lines) >= count and lines, what=f"{count} lines in {self.lines()}")

    def close(self):
        self.folder.cleanup()


@test
def json_says_how_a_request_was_answered():
    log = Log()
    origin, proxy = origin_and_proxy({"/": fresh(b"12345"), "/no": (404, [], b"none")}, *log.options("json"), "--threads", "1")
    proxy.get(origin.url + "/", User_Agent="a \"tester\"", Referer="http://elsewhere/")
    proxy.get(origin.url + "/")
    proxy.get(origin.url + "/", method="HEAD")
    proxy.get(origin.url + "/no")
    ask(proxy.port, "/metrics")
    entries = [json.loads(line) for line in log.await_lines(5)]  # of one thread, in their order
    assert [e["result"] for e in entries] == ["origin", "hit", "hit", "origin", "node"], entries
    assert [e["status"] for e in entries] == [200, 200, 200, 404, 200]
    assert [e["bytes"] for e in entries[:4]] == [5, 5, 0, 4] and entries[4]["bytes"] > 1000
    assert entries[0]["agent"] == 'a "tester"' and entries[0]["referer"] == "http://elsewhere/"
    assert all(e["client"] == "127.0.0.1" and e["version"] == "1.1" and 0 <= e["seconds"] < 10 for e in entries)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", e["time"]) for e in entries)
    return origin, proxy, log


@test
def refusals_are_in_it():
    log = Log()
    proxy = Proxy(POSY, *log.options("json"), "--max-per-address", "1", destinations=())
    requests = (
        b"GET http://127.0.0.1:1/ HTTP/1.0\r\n\r\n",  # 403: the loopback is no destination
        b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n",  # 403: nor is that a port
        b"GET nonsense HTTP/1.1\r\nHost: x\r\n\r\n",  # 400
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",  # 400
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # 400: TLS to a port without
    )
    for number, request in enumerate(requests, 1):
        exchange(proxy.port, request, half_close=True)
        log.await_lines(number)
    with socket.create_connection(("127.0.0.1", proxy.port)):
        until(lambda: exchange(proxy.port, requests[0])[0].startswith(b"HTTP/1.1 429"))
    entries = [json.loads(line) for line in log.await_lines(6)]
    assert [e["status"] for e in entries[:5]] == [403, 403, 400, 400, 400], entries
    assert entries[0]["version"] == "1.0" and entries[0]["url"] == "http://127.0.0.1:1/"
    assert "--connect-port" in entries[1]["reason"] and entries[1]["result"] == "denied" and entries[1]["bytes"] > 20
    assert entries[2]["url"] == "nonsense" and "method" not in entries[4]
    turned_away = [e for e in entries if e["status"] == 429]
    assert turned_away and "url" not in turned_away[0] and "--max-per-address" in turned_away[0]["reason"]
    return None, proxy, log


@test
def a_tunnel_is_logged_at_its_end():
    log = Log()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    proxy = Proxy(POSY, *log.options("cache"), "--connect-port", str(port))
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n" % port)
        server = listener.accept()[0]
        client.recv(4096)
        server.sendall(b"x" * 1000)
        got = b""
        while len(got) < 1000:
            got += client.recv(4096)
        proxy.get("http://127.0.0.1:1/")  # a line of another request, while the tunnel is open
        log.await_lines(1)
        assert "CONNECT" not in "".join(log.lines())
    server.close()
    line = log.await_lines(2)[1]
    assert re.fullmatch(rf'127\.0\.0\.1 - - \[[^]]+\] "CONNECT 127\.0\.0\.1:{port} HTTP/1\.1" 200 1000 "-" "-" tunnel \d+\.\d+', line), line
    listener.close()
    return None, proxy, log


@test
def bytes_are_those_that_were_sent():
    size = 64 << 20
    log = Log()
    origin, proxy = origin_and_proxy({"/": fresh(b"x" * size)}, *log.options("common"))
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        client.sendall(f"GET {origin.url}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        client.recv(4096)
    sent = int(log.await_lines(1)[0].split()[-1].replace("-", "0"))
    assert sent < size, sent
    return origin, proxy, log


@test
def signals_open_it_again():
    log = Log()
    origin, proxy = origin_and_proxy({"/": fresh(b"12345")}, *log.options("common"))
    for number, how in enumerate((signal.SIGHUP, signal.SIGUSR1)):
        proxy.get(origin.url + "/")
        old = f"{log.path}.{number}"
        log.await_lines(1)
        os.rename(log.path, old)
        proxy.process.send_signal(how)
        until(lambda: os.path.exists(log.path), what=f"a new file after {how}")
        if how == signal.SIGHUP:  # which first opens all files, and then uses them
            until(lambda: any("reloaded" in line for line in proxy.log), what="reloaded")
        assert len(log.lines(old)) == 1
    proxy.get(origin.url + "/")
    log.await_lines(1)
    node = Node(POSY)
    node.process.send_signal(signal.SIGUSR1)  # it has no access log, and stays
    assert node.get("/healthz").status == 200
    node.kill(signal.SIGTERM)
    return origin, proxy, log


@test
def a_full_disk_is_told_once_and_counted():
    origin, proxy = origin_and_proxy({"/": fresh(b"12345")}, "--access-log", "/dev/full")
    for lost in (1, 2):
        proxy.get(origin.url + "/")
        until(lambda: proxy.metric("posy_proxy_access_log_lost_total") >= lost)
    assert sum("/dev/full: No space left on device" in line for line in proxy.log) == 1, proxy.log
    return origin, proxy


@test
def lines_on_standard_error_have_times_and_levels():
    port = free_port()
    proxy = Proxy(POSY, "--peer", f"px=http://127.0.0.1:{port}")
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    until(lambda: any(re.match(rf"{time} warning peer px: ", line) for line in list(proxy.log)), what=f"the loss in {proxy.log}")
    assert re.match(rf"{time} info posy \d+\.\d+\.\d+, without a configuration file$", proxy.log[0]), proxy.log
    assert re.match(rf"{time} info {proxy.name} listens on 127\.0\.0\.1:\d+$", proxy.log[1]), proxy.log
    peer = Proxy(POSY, "--allow-peer", "loopback", port=port)
    until(lambda: any(re.match(rf"{time} info peer px is back$", line) for line in list(proxy.log)), what=f"the return in {proxy.log}")
    return peer, proxy


def told(daemon, pattern, count=1):
    """The first so many lines on standard error in which that is found, when they are there."""
    return until(lambda: (found := [line for line in list(daemon.log) if re.search(pattern, line)]) and len(found) >= count and found,
                 what=f"{count} of {pattern} in {daemon.log}")


@test
def the_first_line_says_what_runs_on_what():
    origin = Origin(lambda request: fresh(b"12345"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        disk, config = os.path.join(folder, "disk"), os.path.join(folder, "posy.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("[node]\n[proxy]\n")
        proxy = Proxy(POSY, "--disk", disk, "--config", config)
        assert f"configured by {config}; 0 objects, 0 bytes on disk" in proxy.log[0], proxy.log
        proxy.get(origin.url + "/")
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 1)
        proxy.kill(signal.SIGTERM)
        assert re.search(r"; 1 objects, \d{3,} bytes on disk$", proxy.start().log[0]), proxy.log
        proxy.close()
    return (origin,)


@test
def a_start_says_that_descriptors_are_few():
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    proxy = Daemon([POSY, "proxy", "--listen", "127.0.0.1:0"], preexec_fn=few)
    assert "may have 200 descriptors, too few for --max-connections 8192" in told(proxy, " warning ")[0], proxy.log
    proxy.kill()
    proxy = Daemon([POSY, "proxy", "--listen", "127.0.0.1:0", "--max-connections", "100"], preexec_fn=few)
    assert not any("warning" in line for line in proxy.log), proxy.log
    proxy.kill()
    return ()


@test
def why_an_answer_failed_is_written_down():
    log, dead = Log(), free_port()
    proxy = Proxy(POSY, *log.options("json"), "--origin", f"www.example=http://127.0.0.1:{dead}", "--also-forward")
    ask(proxy.port, "/", fields={"Host": "www.example"})
    log.await_lines(1)
    proxy.get(f"http://127.0.0.1:{dead}/")
    log.await_lines(2)
    proxy.get("http://none.invalid/")
    entries = [json.loads(line) for line in log.await_lines(3)]
    assert [(e["status"], e["result"]) for e in entries] == [(502, "failed")] * 3, entries
    assert all("refused" in e["reason"] and str(dead) in e["reason"] for e in entries[:2]) and "none.invalid" in entries[2]["reason"], entries
    assert f"the backend 127.0.0.1:{dead} cannot be asked: " in told(proxy, " warning http://www.example/: ")[0], proxy.log
    assert "refused" in told(proxy, f" info origin 127.0.0.1:{dead} cannot be asked: ")[0]
    return None, proxy, log


@test
def a_closed_network_is_denied():
    log = Log()
    proxy = Proxy(POSY, *log.options("json"), "--connect-port", "22", destinations=())
    assert proxy.get("http://127.0.0.1:1/")[0] == 403
    log.await_lines(1)
    assert exchange(proxy.port, b"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n", half_close=True)[0].startswith(b"HTTP/1.1 403")
    entries = [json.loads(line) for line in log.await_lines(2)]
    assert [e["result"] for e in entries] == ["denied"] * 2 and all("--allow-destination" in e["reason"] for e in entries), entries
    assert proxy.result("denied") == 2 and proxy.result("failed") == 0
    assert proxy.metric('posy_refused_total{why="forbidden"}') == 2
    told(proxy, r" info 127\.0\.0\.1: 403 this proxy does not connect to ", 2)
    return None, proxy, log


@test
def refusals_have_their_reasons():
    proxy = Proxy(POSY, "--origin", "www.example=http://127.0.0.1:1", "--rule", "deny")
    reasons = lambda: {name[24:-2]: n for name, n in proxy.metrics().items() if name.startswith("posy_refused_total{") and n > 0}
    assert ask(proxy.port, "/", fields={"Host": "unknown.example"})[0] == 421
    assert reasons() == {"forbidden": 1}
    assert ask(proxy.port, "/", fields={"Host": "www.example"})[0] == 403
    assert reasons() == {"forbidden": 1, "rule": 1} and proxy.metric('posy_proxy_rule_total{rule="1",decision="deny"}') == 1
    return None, proxy


@test
def a_crowd_of_failures_is_a_line_per_second():
    dead = free_port()
    proxy = Proxy(POSY, "--origin", f"www.example=http://127.0.0.1:{dead}")
    for _ in range(100):
        assert ask(proxy.port, "/", fields={"Host": "www.example"})[0] == 502
    for _ in range(100):
        assert ask(proxy.port, "/", fields={"Host": "unknown.example"})[0] == 421
    for pattern in ("the backend .* cannot be asked", r": 421 "):
        left_out = lambda pattern=pattern: [line for line in list(proxy.log) if re.search(pattern, line)]
        counted = lambda: sum(1 + int((re.search(r"\((\d+) more like it since 2.*Z\)$", line) or [0, 0])[1]) for line in left_out())
        until(lambda: counted() == 100, what=f"100 of {pattern} in {proxy.log}")
        assert len(left_out()) < 30, proxy.log
    return None, proxy


@test
def wrong_passwords_name_address_and_user():
    log = Log()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        users = os.path.join(folder, "users")
        with open(users, "w", encoding="utf-8") as file:
            file.write("alice:$6$rounds=1000$salt$" + "." * 86 + "\n")
        proxy = Proxy(POSY, *log.options("common"), "--rule", "allow user *", "--users", users)
        for name, field in (("al ice\"\r\n", r"al_ice\x22\x0d\x0a"), ("x" * 1000, "x" * 64)):
            before = len(log.lines())
            secret = base64.b64encode(f"{name}:wrong".encode()).decode()
            assert proxy.get("http://x.invalid/", Proxy_Authorization="Basic " + secret)[0] == 407
            assert log.await_lines(before + 1)[-1].startswith(f"127.0.0.1 - {field} ["), log.lines()
        assert told(proxy, r"Z info 127\.0\.0\.1: wrong password for user 'al ice\"\\x0d\\x0a'$"), proxy.log
        assert proxy.get("http://x.invalid/")[0] == 407  # the beginning of every visit
        assert log.await_lines(3)[-1].startswith("127.0.0.1 - - ["), log.lines()
        assert len(told(proxy, "wrong password")) == 2
        proxy.get("http://x.invalid/", Proxy_Authorization="Bearer x")
        told(proxy, r" info 127\.0\.0\.1: wrong token$")
        proxy.close()
    return (log,)


@test
def what_is_no_tls_is_counted_and_told():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pem = os.path.join(folder, "pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=x", "-keyout", pem + ".key",
                        "-out", pem], check=True, capture_output=True, timeout=60)
        tls = free_port()
        proxy = Proxy(POSY, "--listen-tls", f"127.0.0.1:{tls}", "--tls-cert", pem, "--tls-key", pem + ".key")
    count = lambda: proxy.metric('posy_refused_total{why="tls"}')
    socket.create_connection(("127.0.0.1", tls)).close()  # a health check
    exchange(tls, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", half_close=True)
    told(proxy, r" info 127\.0\.0\.1: plain HTTP on a port for TLS; ask for https$")
    until(lambda: count() == 1)
    exchange(tls, b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00", half_close=True)
    until(lambda: count() == 2)
    told(proxy, r" info 127\.0\.0\.1: no TLS: ")
    assert b"a TLS handshake on a port without TLS" in exchange(proxy.port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", half_close=True)[0]
    return None, proxy


@test
def damage_on_disk_is_counted_and_named():
    origin = Origin(lambda request: fresh(b"12345" * 100))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        proxy = Proxy(POSY, "--disk", folder)
        for path in ("/a", "/b"):
            proxy.get(origin.url + path)
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 2)
        proxy.kill(signal.SIGTERM)
        files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if len(name) == 32]
        assert len(files) == 2
        for file, at in zip(files, (10, 400)):  # a head, which is found at the start, and a body
            with open(file, "r+b") as stored:
                stored.seek(at)
                stored.write(b"\0" * 50)
        proxy.start()
        until(lambda: proxy.metric('posy_proxy_disk_errors_total{operation="read"}') == 1)
        assert files[0] in told(proxy, f" warning --disk {folder}: 1 files were damaged, and removed; the last of them was ")[0]
        for path in ("/a", "/b"):
            assert proxy.get(origin.url + path)[2] == b"12345" * 100
        assert proxy.metric('posy_proxy_disk_errors_total{operation="read"}') == 2
        proxy.close()
    return (origin,)


@test
def less_is_told_on_request():
    quiet = Proxy.__new__(Proxy)  # it does not say where it listens
    port = free_port()
    quiet.process = subprocess.Popen([POSY, "proxy", "--listen", f"127.0.0.1:{port}", "--log-level", "warning"],
                                     stderr=subprocess.PIPE, text=True)

    def listens():
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", port)) == 0
    until(listens)
    exchange(port, b"nonsense\r\n\r\n")
    quiet.process.send_signal(signal.SIGTERM)
    said = quiet.process.communicate(timeout=30)[1]
    assert said == "" and quiet.process.returncode == 0, said
    return None, None


@test
def priorities_for_systemd():
    """Where standard error is the journal, which knows the time itself."""
    ours, theirs = socket.socketpair()
    at = os.fstat(theirs.fileno())
    process = subprocess.Popen([POSY, "proxy", "--listen", "127.0.0.1:0"], stderr=theirs,
                               env={**os.environ, "JOURNAL_STREAM": f"{at.st_dev}:{at.st_ino}"})
    theirs.close()
    said = ""
    while "listens on" not in said:
        said += ours.recv(4096).decode()
    assert re.match(r"<6>posy .*\n<6>\S+ listens on ", said), said
    process.terminate()
    assert process.wait(30) == 0
    ours.close()
    return None, None


run()
