"""Runs docs/recipes.md as transcripts_test.py does, on a machine where `ssh other` leads to a real sshd and all ports are free.

Usage: recipes_test.py [--update] POSY SOURCE
"""
import os
import pwd
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

update = "--update" in sys.argv
posy, source = (os.path.abspath(p) for p in sys.argv[1:] if p != "--update")
DOCUMENT = os.path.join(source, "docs", "recipes.md")


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as f:
        f.write(textwrap.dedent(text))
    os.chmod(path, mode)


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


class Sshd:
    """A server that lets this user in by a key made for it, and a command `ssh` that knows it as `other`."""

    def __init__(self, folder):
        port, user = free_port(), pwd.getpwuid(os.getuid()).pw_name
        for name in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{name}"], check=True)
        write(f"{folder}/sshd_config", f"""\
            ListenAddress 127.0.0.1:{port}
            HostKey {folder}/host
            AuthorizedKeysFile {folder}/client.pub
            PidFile none
            StrictModes no
            UsePAM no
            PasswordAuthentication no
            SetEnv PATH={os.path.dirname(posy)}:{os.environ["PATH"]}
            """)
        write(f"{folder}/ssh_config", f"""\
            Host other
                HostName 127.0.0.1
                Port {port}
                User {user}
                IdentityFile {folder}/client
                IdentitiesOnly yes
                StrictHostKeyChecking no
                UserKnownHostsFile /dev/null
                LogLevel ERROR
            """)
        self.bin = os.path.join(folder, "bin")
        os.mkdir(self.bin)
        write(os.path.join(self.bin, "ssh"), f'#!/bin/sh\nexec /usr/bin/ssh -F {folder}/ssh_config "$@"\n', 0o700)
        if os.getuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        self.process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-q", "-f", f"{folder}/sshd_config"])
        until(lambda: listens(port), what="sshd listens")

    def close(self):
        self.process.terminate()
        self.process.wait(10)


def replayed(folder, sshd):
    """The document with free ports in place of those it names, run in a session of its own; what it became."""
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read()
    ports = {each: str(free_port()) for each in ("8000", "8001", "8002")}
    for each, free in ports.items():
        text = re.sub(rf"\b{each}\b", free, text)
    copy = os.path.join(folder, "recipes.md")
    write(copy, text)
    command = [sys.executable, os.path.join(HERE, "transcripts_test.py"), *(["--update"] if update else []), posy, source, copy]
    environment = {**os.environ, "PATH": sshd.bin + ":" + os.environ["PATH"]}
    run = subprocess.Popen(command, env=environment, start_new_session=True)
    status = run.wait()
    try:
        os.killpg(run.pid, signal.SIGTERM)  # the servers that the recipes started
    except ProcessLookupError:
        pass
    with open(copy, encoding="utf-8") as f:
        text = f.read()
    for each, free in ports.items():
        text = re.sub(rf"\b{free}\b", each, text)
    return status, text


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    sshd = Sshd(folder)
    try:
        status, text = replayed(folder, sshd)
    finally:
        sshd.close()
if update:
    with open(DOCUMENT, "w", encoding="utf-8") as f:
        f.write(text)
sys.exit(status)
