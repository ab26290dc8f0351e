"""What the store gives back, through a proxy with a disk: never something older than what was served before.

Usage: store_test.py POSY [test …]
"""
import email.utils
import os
import random
import signal
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY, run, test  # noqa: E402
from daemons import Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402

PAGES = 10


class Versions:
    """Pages with numbered versions, and the least version of each that a client may see from now on."""

    def __init__(self):
        self.lock = threading.Condition()
        self.version, self.seen, self.served, self.older = [1] * PAGES, [0] * PAGES, 0, []

    def answer(self, request):
        page = int(request.path[1:])
        with self.lock:
            self.version[page] += request.command == "POST" or random.random() < 0.5
            version, date = self.version[page], email.utils.formatdate(usegmt=True)  # in one order: a Date that is too late misleads
            self.lock.notify_all()
            if random.random() < 0.2:
                self.lock.wait(0.2)  # for a younger answer to overtake this one
        if request.command == "POST":
            return 204, [], b""
        return fresh(b"%d" % version + b" " * random.choice((10, 3000, 60000)), ("ETag", f'"{version}"'), ("Date", date))

    def least(self, page):
        with self.lock:
            return self.seen[page]

    def saw(self, page, version, least):
        with self.lock:
            self.served += 1
            if version < least:
                self.older.append((page, version, least))
            self.seen[page] = max(self.seen[page], version)


def browse(versions, origin, proxy, seed, requests):
    chance = random.Random(seed)
    for _ in range(requests):
        page = chance.randrange(PAGES)
        least = versions.least(page)
        if chance.random() < 0.05:
            proxy.get(f"{origin.url}/{page}", "POST", b"change")
            continue
        reload = {"Cache-Control": "no-cache"} if chance.random() < 0.3 else {}
        status, _, body = proxy.get(f"{origin.url}/{page}", **reload)
        if status == 200:
            versions.saw(page, int(body), least)


@test
def newest_wins():
    versions = Versions()
    origin = Origin(versions.answer)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for round_ in range(4):
            proxy = Proxy(POSY, "--disk", folder, "--disk-bytes", "2M", "--memory", "1MiB", "--threads", "2")
            threads = [threading.Thread(target=browse, args=(versions, origin, proxy, 10 * round_ + i, 120)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert proxy.kill(signal.SIGTERM) == 0
        # And what a restart finds on disk.
        proxy = Proxy(POSY, "--disk", folder, "--disk-bytes", "2M", "--memory", "1MiB")
        for page in range(PAGES):
            least = versions.least(page)
            status, _, body = proxy.get(f"{origin.url}/{page}", Cache_Control="only-if-cached")
            if status == 200:
                versions.saw(page, int(body), least)
        proxy.close()
    assert not versions.older, versions.older
    assert versions.served > 1000, versions.served
    return origin, None


run()
