"""A real Squid."""
import atexit
import contextlib
import hashlib
import os
import shutil
import socket
import struct
import subprocess
import tempfile

from daemons import ask
from ports import free_port
from waiting import until


def in_digest(digest, url):
    """May a cache digest, header and all, hold a URL that was fetched with GET?"""
    mask, words = digest[128:], struct.unpack(">4I", hashlib.md5(b"\1" + url.encode()).digest())
    return bool(mask) and all(mask[word % (8 * len(mask)) // 8] >> word % 8 & 1 for word in words)


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
        until(squid_answers, 60)

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
