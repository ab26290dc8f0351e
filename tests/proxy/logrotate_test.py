#!/usr/bin/env python3
"""logrotate with the example of packaging/ on a proxy under load: every request is in exactly one of the files.

Usage: logrotate_test.py POSY [TEST...]
"""
import collections
import glob
import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import origin_and_proxy, run, test  # noqa: E402
from origins import fresh  # noqa: E402
from waiting import until  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "logrotate" / "posy"
ROTATIONS = 4


def lines_of(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        return file.read().splitlines()


@test
def no_line_is_lost():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        log = os.path.join(folder, "access.log")
        origin, proxy = origin_and_proxy(lambda request: fresh(b"x"), "--access-log", log)
        text = EXAMPLE.read_text(encoding="utf-8").replace("/var/log/posy-proxy", folder)
        text, signals = re.subn(r"systemctl kill --signal=USR1 --kill-who=main posy-proxy.service", f"kill -USR1 {proxy.process.pid}", text)
        assert signals == 1, text
        configuration = os.path.join(folder, "rotate.conf")
        pathlib.Path(configuration).write_text(text, encoding="utf-8")
        stop, asked = threading.Event(), collections.Counter()

        def client(number):
            while not stop.is_set():
                path = f"/{number}/{asked[number]}"
                assert proxy.get(origin.url + path)[0] == 200
                asked[number] += 1

        threads = [threading.Thread(target=client, args=(i,)) for i in range(3)]
        for each in threads:
            each.start()
        for turn in range(ROTATIONS):
            before = sum(asked.values())
            until(lambda: os.path.exists(log) and os.path.getsize(log) and sum(asked.values()) > before + 100, what="a log and traffic")
            subprocess.run(["/usr/sbin/logrotate", "--force", "--state", os.path.join(folder, "state"), configuration], check=True, timeout=60)
        stop.set()
        for each in threads:
            each.join()
        proxy.close()  # the last lines are written
        files = sorted(glob.glob(log + "*"))
        assert len(files) == ROTATIONS + 1 and sum(name.endswith(".gz") for name in files) == ROTATIONS - 1, files
        seen = collections.Counter(re.search(r'"GET http://[^/]+(/\d+/\d+) ', line)[1] for name in files for line in lines_of(name))
        wanted = {f"/{number}/{i}" for number in range(3) for i in range(asked[number])}
        assert set(seen) == wanted and set(seen.values()) == {1}, (len(seen), len(wanted), seen.most_common(3))
        print(f"  {len(wanted)} requests in {len(files)} files")
    return (origin,)


run()
