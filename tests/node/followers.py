"""What tests of published filters share: a process of posy follow, filters built and served."""
import os
import re
import signal
import socket
import subprocess
import sys
import threading

from cases import POSY, ScratchTest, posy
from origins import FakePeer
from ports import free_port
from waiting import until


class Follower:
    """posy follow as a process: its lines of standard error, and with --query a conversation."""

    def __init__(self, *args):
        self.process = subprocess.Popen([POSY, "follow", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.log = []
        self.reading = threading.Thread(target=lambda: self.log.extend(iter(self.process.stderr.readline, "")), daemon=True)
        self.reading.start()

    def says(self, pattern, times=1):
        """Waits until so many lines of the log have it."""
        until(lambda: sum(bool(re.search(pattern, line)) for line in list(self.log)) >= times, what=f"{pattern} in {self.log}")

    def ask(self, key):
        self.process.stdin.write(key + "\n")
        self.process.stdin.flush()
        answer, _, same = self.process.stdout.readline().rstrip("\n").partition("\t")
        assert same == key, (answer, same)
        return answer

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        status = self.process.wait(20)
        self.reading.join(20)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()
        return status


class FollowTest(ScratchTest):
    def build(self, name, keys, *options):
        posy("build", *options, "-o", self.path("new"), input="".join(f"{k}\n" for k in keys))
        os.rename(self.path("new"), self.path(name))
        return self.path(name)

    def server(self, answer):
        return self.closing(FakePeer(answer))

    def follow(self, *args):
        follower = Follower(*args)
        self.addCleanup(follower.end)
        return follower

    def summary_of(self, node):
        return self.info(node.url + "/summary")

    def same_bits(self, name, node):
        return os.path.exists(self.path(name)) and self.info(name)["bits_checksum"] == self.summary_of(node)["bits_checksum"]

    def web_server(self):
        """A plain one: no tags, no deltas, HTTP/1.0."""
        port = free_port()
        web = subprocess.Popen([sys.executable, "-u", "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", self.dir],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        log = []
        reading = threading.Thread(target=lambda: log.extend(iter(web.stderr.readline, "")), daemon=True)
        reading.start()

        def close():
            web.kill()
            web.wait()
            reading.join()
            web.stderr.close()
        self.addCleanup(close)

        def listens():
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", port)) == 0
        until(listens)
        return f"http://127.0.0.1:{port}", log
