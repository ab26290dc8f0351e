"""A proxy whose disk is full: it makes room among its own files, and says so; what cannot be written is counted and not served later.

Needs root for a file system of its own. Usage: full_disk_test.py POSY [test …]
"""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

SIZE = 2 << 20
BODY = 100_000


@contextlib.contextmanager
def small_disk():
    """A folder on a file system of 2 MiB, or None where none can be made."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "posy", folder], capture_output=True).returncode != 0:
            yield None
            return
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


def origin_of_versions():
    version = [1]
    return Origin(lambda request: fresh(b"%d" % version[0] + b" " * BODY)), version


def proxy_in(folder):
    os.makedirs(os.path.join(folder, "store"), exist_ok=True)
    return Proxy(POSY, "--disk", os.path.join(folder, "store"), "--disk-bytes", "1G", "--memory", "16MiB")


@test
def makes_room():
    origin, _ = origin_of_versions()
    with small_disk() as folder:
        if not folder:
            print("skipped: cannot mount a file system")
            return origin, None
        proxy = proxy_in(folder)
        for page in range(60):  # three times as much as there is room for
            assert proxy.get(f"{origin.url}/{page}")[0] == 200
        until(lambda: proxy.metric("posy_proxy_disk_full_evictions_total") >= 30, what="evictions")
        until(lambda: any(f"--disk {folder}/store: its file system is full" in line for line in proxy.log), what="a line of the log")
        assert sum("its file system is full" in line for line in proxy.log) == 1, proxy.log
        assert proxy.metric('posy_proxy_disk_errors_total{operation="write"}') == 0
        proxy.close()
        proxy.start()  # what was written last is there
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') >= 10, what="objects")
        assert "hit" in proxy.get(f"{origin.url}/59")[1]["Cache-Status"]
        proxy.close()
    return origin, None


@test
def counts_what_cannot_be_written():
    origin, _ = origin_of_versions()
    with small_disk() as folder:
        if not folder:
            print("skipped: cannot mount a file system")
            return origin, None
        proxy = proxy_in(folder)
        assert proxy.get(f"{origin.url}/page")[0] == 200
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 1, what="a file")
        with contextlib.suppress(OSError), open(os.path.join(folder, "ballast"), "wb", 0) as file:
            while True:
                file.write(bytes(4096))
        big = Origin(lambda request: fresh(b"2" + b" " * 5 * BODY))
        assert proxy.get(f"{big.url}/big")[0] == 200  # evicts the page, and has not enough even so
        errors = 'posy_proxy_disk_errors_total{operation="write"}'
        until(lambda: proxy.metric(errors) == 1, what="a failure that is counted")
        until(lambda: any("No space left on device; 1 objects could not be written" in line for line in proxy.log), what="a line of the log")
        assert proxy.metric('posy_cache_objects{tier="disk"}') == 0
        os.remove(os.path.join(folder, "ballast"))
        assert proxy.get(f"{big.url}/other")[0] == 200  # it is written again when there is room
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 1, what="a file")
        proxy.close()
    return origin, None


@test
def an_older_file_is_gone():
    """After a write that failed, and after a kill, nothing older than what was served comes back."""
    origin, version = origin_of_versions()
    with small_disk() as folder:
        if not folder:
            print("skipped: cannot mount a file system")
            return origin, None
        proxy = proxy_in(folder)
        body = [1000]
        changing = Origin(lambda request: fresh(b"%d" % version[0] + b" " * body[0]))
        assert proxy.get(f"{changing.url}/page")[2].strip() == b"1"
        until(lambda: proxy.metric('posy_cache_objects{tier="disk"}') == 1, what="a file")
        with contextlib.suppress(OSError), open(os.path.join(folder, "ballast"), "wb", 0) as file:
            while True:
                file.write(bytes(4096))
        version[0], body[0] = 2, 5 * BODY
        assert proxy.get(f"{changing.url}/page", Cache_Control="no-cache")[2].strip() == b"2"
        until(lambda: proxy.metric('posy_proxy_disk_errors_total{operation="write"}') == 1, what="a failure")
        proxy.kill(signal.SIGKILL)
        proxy.start()
        assert proxy.get(f"{changing.url}/page", Cache_Control="only-if-cached")[0] == 504
        proxy.close()
    return origin, None


run()
