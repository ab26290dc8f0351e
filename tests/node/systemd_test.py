#!/usr/bin/env python3
"""What a service manager and a daemon say to each other: sockets that are handed over, news of starts, reloads and ends, and the
units, which systemd checks.

Usage: systemd_test.py POSY [TEST...]
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import POSY, run, test  # noqa: E402
from daemons import Daemon, ask  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

UNITS = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "systemd"
# Hands over the sockets from descriptor 3 on, as systemd does: to the process that the shell becomes.
ACTIVATE = 'export LISTEN_PID=${PID:-$$}; exec "$@"'


def listening():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    return s


def started_with(sockets, *command, names=None, environment=None, **changes):
    """The arguments of Popen for a process that inherits these, in this order, from descriptor 3 on."""
    moves = " ".join(f"{number}<&{100 + i}" for i, number in enumerate(range(3, 3 + len(sockets))))
    kept = [os.dup2(each.fileno(), 100 + i) for i, each in enumerate(sockets)]
    variables = {"LISTEN_FDS": str(len(sockets)), **({"LISTEN_FDNAMES": names} if names is not None else {}), **changes}
    return {"args": ["bash", "-c", f"exec {moves}; {ACTIVATE}" if moves else ACTIVATE, "bash", *command], "pass_fds": kept,
            "env": {**os.environ, **(environment or {}), **variables}}


def refused(sockets, **how):
    done = subprocess.run(**started_with(sockets, POSY, "proxy", **how), capture_output=True, text=True, timeout=30)
    assert done.returncode == 2, done
    return done.stderr


class Activated(Daemon):
    def __init__(self, sockets, *command, **how):
        started = started_with(sockets, *command, **how)
        super().__init__(started.pop("args"), **started)

    def close(self):
        assert self.kill(signal.SIGTERM) == 0, self.log


class Manager:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, abstract=False):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.path = os.path.join(self.folder.name, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.path if abstract else self.path)
        self.socket.settimeout(20)
        self.variable = "@" + self.path if abstract else self.path

    def hears(self):
        return dict(line.split("=", 1) for line in self.socket.recv(4096).decode().splitlines())

    def close(self):
        self.socket.close()
        self.folder.cleanup()


@test
def sockets_are_taken_over():
    first, second = listening(), listening()
    proxy = Activated([first, second], POSY, "proxy", "--name", "px", names="http:more")
    for each in (first, second):
        port = each.getsockname()[1]
        assert f"127.0.0.1:{port}" in "".join(proxy.log) and ask(port, "/healthz")[0] == 200
    assert ":3128" not in "".join(proxy.log)  # the default is not used
    return None, proxy


@test
def an_address_of_the_options_may_be_among_them():
    one = listening()
    port = one.getsockname()[1]
    node = Activated([one], POSY, "node", "--listen", f"127.0.0.1:{port}", "--listen", "127.0.0.1:0")
    assert "".join(node.log).count(f"127.0.0.1:{port}") == 2  # as its name and its address
    assert ask(port, "/healthz")[0] == 200
    return None, node


@test
def what_cannot_be_used_is_refused():
    plain = socket.socket()
    plain.bind(("127.0.0.1", 0))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    local = socket.socket(socket.AF_UNIX)
    one = listening()
    with tempfile.TemporaryFile() as file:
        for sockets, how, wanted in (
                ([plain], {}, "descriptor 3 (without a name) of $LISTEN_FDS does not listen"), ([datagrams], {}, "is not a TCP socket"),
                ([local], {"names": "http"}, "descriptor 3 (named http) of $LISTEN_FDS is not a TCP socket"), ([file], {}, "is not a socket"),
                ([one], {"LISTEN_FDS": "2"}, "descriptor 4 (without a name) of $LISTEN_FDS is not open"),
                ([one], {"LISTEN_FDS": "x"}, "$LISTEN_FDS is 'x', not a number"), ([one], {"LISTEN_FDS": "1000"}, "at most 64"),
                ([one], {"PID": "1"}, "are for process 1 ($LISTEN_PID)"), ([one], {"names": "tls"}, "needs a certificate"),
                ([], {"NOTIFY_SOCKET": "nowhere"}, "$NOTIFY_SOCKET is 'nowhere'")):
            said = refused(sockets, **how)
            assert wanted in said, (wanted, said)
    return ()


@test
def news_are_told():
    for abstract in (False, True):
        manager = Manager(abstract)
        proxy = Activated([], POSY, "proxy", "--listen", "127.0.0.1:0", "--name", "px", environment={"NOTIFY_SOCKET": manager.variable})
        ready = manager.hears()
        assert ready["READY"] == "1" and ready["STATUS"] == f"px listens on 127.0.0.1:{proxy.port}", ready
        proxy.process.send_signal(signal.SIGHUP)
        reloading = manager.hears()
        assert reloading["RELOADING"] == "1" and int(reloading["MONOTONIC_USEC"]) > 0, reloading
        assert manager.hears()["READY"] == "1"
        proxy.close()
        assert manager.hears()["STOPPING"] == "1"
        manager.close()
    return ()


@test
def systemd_starts_it_with_the_first_client():
    port = free_port()
    activator = subprocess.Popen(["systemd-socket-activate", "-l", f"127.0.0.1:{port}", "--fdname=http", POSY, "proxy", "--name", "px"],
                                 stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: "Listening on" in activator.stderr.readline())
        assert ask(port, "/healthz")[0] == 200  # it waited in the queue of the socket
        activator.send_signal(signal.SIGTERM)
        said = activator.communicate(timeout=30)[1]
        assert activator.returncode == 0 and f"px listens on 127.0.0.1:{port}" in said, said
    finally:
        activator.kill()
    return ()


@test
def the_units_are_good():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for unit in UNITS.iterdir():
            text = unit.read_text(encoding="utf-8")
            # The program and its file are where this test has them.
            pathlib.Path(folder, unit.name).write_text(text.replace("/usr/bin/posy", POSY), encoding="utf-8")
        units = sorted(str(path) for path in pathlib.Path(folder).iterdir())
        assert len(units) == 4
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
        complaints = [line for line in done.stderr.splitlines() if folder in line or "posy-" in line]
        assert not complaints, complaints
        for unit in units:
            if not unit.endswith(".service"):
                continue
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", unit], capture_output=True, text=True, timeout=60)
            exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
            assert exposure and float(exposure[1]) < 2.5, done.stdout + done.stderr
            print(f"  {os.path.basename(unit)}: exposure {exposure[1]}")
    return ()


def calls_in(name):
    """The system calls of a set of systemd's."""
    text = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, capture_output=True, text=True, timeout=60).stdout
    lines = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return set().union(*(calls_in(line) if line.startswith("@") else {line} for line in lines))


@test
def the_units_allow_the_system_calls_that_are_made():
    allowed = set()
    for line in re.findall(r"^SystemCallFilter=(~?)(.*)", (UNITS / "posy-proxy.service").read_text(encoding="utf-8"), re.M):
        named = set().union(*(calls_in(word) if word.startswith("@") else {word} for word in line[1].split()))
        allowed = allowed - named if line[0] else allowed | named
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = lambda name: os.path.join(folder, name)
        proxy = Daemon(["strace", "-f", "-c", "-o", path("calls"), POSY, "proxy", "--listen", "127.0.0.1:0", "--disk", path("disk"), "--access-log", path("log")])
        for target in ("/metrics", "http://no.such.invalid/", "http://127.0.0.1:1/"):
            ask(proxy.port, target)
        traced = pathlib.Path(f"/proc/{proxy.process.pid}/task/{proxy.process.pid}/children").read_text().split()
        for how in (signal.SIGHUP, signal.SIGTERM):
            os.kill(int(traced[0]), how)
        proxy.process.wait(30)
        made = set(re.findall(r"(\w+)$", pathlib.Path(path("calls")).read_text(), re.M)) - {"syscall", "total"}
    assert len(made) > 30 and made <= allowed, made - allowed
    return ()


@test
def the_files_that_the_units_read_are_good():
    for unit in UNITS.glob("*.service"):
        command = re.search(r"^ExecStart=/usr/bin/posy (\w+) --config /etc/posy/(\S+)$", unit.read_text(encoding="utf-8"), re.M)
        file = UNITS.parent / "etc" / command[2]
        done = subprocess.run([POSY, command[1], "--config", file, "--check"], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0 and done.stdout == f"{file}: OK\n", done
        # And with all that is commented out, as somebody may use it.
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as whole:
            whole.write(re.sub(r"^#(?=[a-z-]+ =)", "", file.read_text(encoding="utf-8"), flags=re.M))
            whole.flush()
            done = subprocess.run([POSY, command[1], "--config", whole.name, "--check"], capture_output=True, text=True, timeout=30)
            assert done.returncode == 0, done
    return ()


assert shutil.which("systemd-analyze"), "install systemd"
run()
