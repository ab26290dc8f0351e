#!/usr/bin/env python3
"""Five proxies with disk stores under load, while everything goes wrong that can: one of them is killed with -9 and restarted again and again;
one in twenty questions to siblings is broken on purpose; the origin cuts answers off, fails and closes without a word; disks fill up and
are emptied; clocks are set forward and back.

At the end: no wrong body, nothing older than its lifetime allows, no crash but those we caused, bounded memory, and every proxy knows the
newest summary of every other.

  tests/proxy/chaos.py POSY [seconds, by default 600] [seconds between kills, by default 20] [MB a process may have, 72]

Each answer of the origin tells when it was made, by a clock that nobody sets; an object that lives for LIFETIME seconds must not come later than
that. It says must-revalidate, because a cache may serve others stale when the origin does not answer. A clock that was set back is right again
after a restart: a proxy cannot know how long it was gone if its clock does not.
"""
import hashlib
import http.client
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY  # noqa: E402
from daemons import Proxy, resident  # noqa: E402
from origins import RawServer, heads  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 600
PAUSE = float(sys.argv[3]) if len(sys.argv) > 3 else 20
LARGEST = int(sys.argv[4] if len(sys.argv) > 4 else 72) << 20
PROXIES, OBJECTS, INTERVAL, MEMORY = 5, 20_000, 2, 8 << 20
DISK, BALLAST = 8 << 20, 6 << 20
# Of objects that change. Ages are whole seconds, rounded down at each of two hops, and the machine is busy.
LIFETIME, SLACK = 10, 4
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


def changes(path):
    return int(path[2:]) % 3 == 0


def body_of(path, made):
    """The body of an object as it was made at a time; it tells that time."""
    seed = hashlib.sha256(f"{path} {made}".encode()).hexdigest()
    return (f"{path} {made} " + seed * 150)[: 200 + int(path[2:]) * 7919 % 8000].encode()


class Origin(RawServer):
    """One answer in fifty is cut off, fails or does not come."""

    def __init__(self):
        self.rng = random.Random(7)
        super().__init__()

    def serve(self, connection):
        for head in heads(connection):
            path, luck = head[0].split(" ")[1], self.rng.random()
            body = body_of(path, int(time.monotonic() * 1000) if changes(path) else 0)
            lifetime = f"{LIFETIME}, must-revalidate" if changes(path) else "3600"
            if luck < 0.005:
                return
            if luck < 0.01:
                connection.sendall(b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno")
                continue
            connection.sendall(f"HTTP/1.1 200 OK\r\nCache-Control: max-age={lifetime}\r\nContent-Length: {len(body)}\r\n"
                               f"Date: {time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime())}\r\n\r\n".encode() + (body[: len(body) // 2] if luck < 0.02 else body))
            if luck < 0.02:
                return


class Place:
    """Where a proxy lives: a disk of its own that fills up, and a clock that can be set, if this machine allows either."""

    def __init__(self, root, name):
        self.disk, self.clock = os.path.join(root, name), os.path.join(root, name + ".clock")
        os.mkdir(self.disk)
        self.small = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "posy", self.disk], capture_output=True).returncode == 0
        os.mkdir(os.path.join(self.disk, "store"))
        self.set_clock(0)

    def settable(self):
        return os.path.exists(FAKETIME) and b"asan" not in subprocess.run(["ldd", POSY], capture_output=True).stdout

    def set_clock(self, seconds):
        with open(self.clock + "~", "w") as file:
            file.write(f"{seconds:+d}s\n")
        os.rename(self.clock + "~", self.clock)

    def environment(self):
        if not self.settable():
            return []
        return ["env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME_TIMESTAMP_FILE={self.clock}", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"]

    def fill(self):
        if self.small:
            try:
                with open(os.path.join(self.disk, "ballast"), "wb") as file:
                    file.write(bytes(BALLAST))
            except OSError:  # as full as it can be
                pass

    def empty(self):
        if os.path.exists(os.path.join(self.disk, "ballast")):
            os.remove(os.path.join(self.disk, "ballast"))

    def close(self):
        if self.small:
            subprocess.run(["umount", self.disk], check=True)


class Tally:
    """What clients saw, all together."""

    def __init__(self):
        self.wrong, self.old, self.answered, self.refused, self.failed, self.oldest = [], [], 0, 0, 0, 0.0

    def judge(self, proxy, path, status, body, sent):
        if status in (502, 503, 504):
            self.failed += 1
            return
        made = int(body.split(b" ", 2)[1]) if status == 200 and body.count(b" ") >= 2 else -1
        if status != 200 or body != body_of(path, made):
            self.wrong.append((proxy, path, status, len(body)))
        elif changes(path):
            age = sent - made / 1000
            self.oldest = max(self.oldest, age)
            if age > LIFETIME + SLACK:
                self.old.append((proxy, path, age))
        self.answered += 1


def load(seed, tally, over, ports, origin):
    rng = random.Random(seed)
    connections = {}
    while not over.is_set():
        proxy = rng.randrange(PROXIES)
        path = f"/o{int(OBJECTS ** rng.random())}"
        try:
            if proxy not in connections:
                connections[proxy] = http.client.HTTPConnection("127.0.0.1", ports[proxy], timeout=20)
            sent = time.monotonic()
            connections[proxy].request("GET", origin.url + path)
            response = connections[proxy].getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):  # it was killed in the middle, or the origin cut the answer off
            tally.refused += 1
            connections.pop(proxy, None)
            over.wait(0.05)
            continue
        tally.judge(proxy, path, response.status, body, sent)


def disturb(rng, proxies, places, done):
    """One thing goes wrong, or one that did is put right."""
    what = rng.choice(["kill", "kill", "fill", "fill", "clock", "clock"])
    i = rng.randrange(PROXIES)
    if what == "kill":
        proxies[i].kill()
        places[i].set_clock(0)
        proxies[i].start()
    elif what == "fill":
        places[i].fill()
        places[(i + 1) % PROXIES].empty()
    elif places[i].settable():
        places[i].set_clock(rng.choice([-86400, -3600, -30, -5, 2, 3, 5]))
    done[what] += 1


def observe(proxies):
    """The largest memory of any process; all are there."""
    for p in proxies:
        assert p.process.poll() is None, f"{p.name} ended by itself: {''.join(p.log)}"
    return max(resident(p.process) for p in proxies)


def connected(proxies):
    return all(p.metrics().get(f'posy_peer_up{{peer="{q.name}"}}') == 1 for p in proxies for q in proxies if p is not q)


def converged(proxies):
    generations = {p.name: p.metrics()["posy_set_generation"] for p in proxies}
    return all(p.metrics().get(f'posy_peer_summary_generation{{peer="{q.name}"}}') == generations[q.name]
               for p in proxies for q in proxies if p is not q)


def totals(proxies):
    found = {}
    for p in proxies:
        for name, value in p.metrics().items():
            if name.startswith("posy_proxy_requests_total") or any(word in name for word in ("false_hits", "failures", "disk")):
                found[name] = found.get(name, 0) + value
    return {name: value for name, value in found.items() if value}


def main(root):
    origin, tally, over = Origin(), Tally(), threading.Event()
    ports = [free_port() for _ in range(PROXIES)]
    places = [Place(root, f"px{i}") for i in range(PROXIES)]
    proxies = []
    for i, place in enumerate(places):
        peers = [option for j in range(PROXIES) if j != i for option in ("--peer", f"px{j}=http://127.0.0.1:{ports[j]}")]
        proxies.append(Chaotic(place, "--memory", str(MEMORY), "--items", "1500", "--change", "0.05", "--interval", str(INTERVAL), "--break-siblings", "0.05",
                               "--disk", os.path.join(place.disk, "store"), "--disk-bytes", "64MiB", *peers, name=f"px{i}", port=ports[i]))
    threads = [threading.Thread(target=load, args=(seed, tally, over, ports, origin), daemon=True) for seed in range(8)]
    for thread in threads:
        thread.start()
    start, largest, rng, done = time.monotonic(), 0, random.Random(1), {"kill": 0, "fill": 0, "clock": 0}
    while time.monotonic() - start < SECONDS:
        over.wait(min(PAUSE / 3, max(SECONDS - (time.monotonic() - start), 0)))  # of load
        largest = max(largest, observe(proxies))
        if time.monotonic() - start < SECONDS:
            disturb(rng, proxies, places, done)
    over.set()
    for thread in threads:
        thread.join(30)
    for place in places:
        place.empty()
    until(lambda: connected(proxies), 40)  # 16 s: the longest back-off
    ended = time.monotonic()
    until(lambda: converged(proxies), 2 * INTERVAL + 17)
    took = time.monotonic() - ended
    print(f"{tally.answered:,} answers, {len(tally.wrong)} wrong, {len(tally.old)} too old (the oldest {tally.oldest:.1f} s of {LIFETIME}), {tally.failed} failures of the origin, "
          f"{tally.refused} cut off; {done}, disks {'fill up' if places[0].small else 'do not fill up here'}, clocks {'are set' if places[0].settable() else 'cannot be set here'}; "
          f"largest process {largest / 1e6:.0f} MB; converged after {took:.1f} s")
    print(totals(proxies))
    assert not tally.wrong, tally.wrong[:10]
    assert not tally.old, tally.old[:10]
    assert tally.answered > 100 * SECONDS / 10 and done["kill"] >= 1
    assert largest < LARGEST, largest
    assert took <= 2 * INTERVAL, f"converged only after {took:.1f} s, two intervals are {2 * INTERVAL}"
    for p, place in zip(proxies, places):
        p.close()
        place.close()


class Chaotic(Proxy):
    """A proxy in its place."""

    def __init__(self, place, *options, **how):
        self.place = place
        super().__init__(POSY, *options, **how)

    def start(self):
        if self.arguments[0] != "env":
            self.arguments = self.place.environment() + self.arguments
        return super().start()

    def kill(self, *how):
        status = super().kill(*how)
        for kind in ("shm", "sem"):  # what the settable clock shares with nobody now; its number may come again
            path = f"/dev/shm/{'sem.' if kind == 'sem' else ''}faketime_{kind}_{self.process.pid}"
            if os.path.exists(path):
                os.remove(path)
        return status


if __name__ == "__main__":
    scratch = tempfile.mkdtemp()
    try:
        main(scratch)
    finally:
        for each in os.listdir(scratch):
            subprocess.run(["umount", "-q", os.path.join(scratch, each)], capture_output=True)
        shutil.rmtree(scratch, ignore_errors=True)
