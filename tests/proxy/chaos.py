"""Five proxies under load while one of them is killed with -9 and restarted again and again, and one in twenty of the
questions to siblings is broken on purpose. At the end: no wrong body, no crash but those we caused, bounded memory,
and every proxy knows the newest summary of every other within two intervals.

  tests/proxy/chaos.py POSY [seconds, by default 600] [seconds between kills, by default 20] [MB a process may have, 72]
"""
import http.client
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import POSY  # noqa: E402
from daemons import Proxy, free_port, resident  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 600
PAUSE = float(sys.argv[3]) if len(sys.argv) > 3 else 20
LARGEST = int(sys.argv[4] if len(sys.argv) > 4 else 72) << 20
PROXIES, OBJECTS, INTERVAL, MEMORY = 5, 20_000, 2, 8 << 20


def body_of(path):
    return (path * 500)[: 200 + hash(path) % 8000].encode()


origin = Origin(lambda r: fresh(body_of(r.path)))
ports = [free_port() for _ in range(PROXIES)]
proxies = []
for i in range(PROXIES):
    peers = [option for j in range(PROXIES) if j != i for option in ("--peer", f"px{j}=http://127.0.0.1:{ports[j]}")]
    proxies.append(Proxy(POSY, "--memory", str(MEMORY), "--items", "1500", "--change", "0.05", "--interval",
                         str(INTERVAL), "--break-siblings", "0.05", *peers, name=f"px{i}", port=ports[i]))

wrong, answered, refused = [], [0], [0]
over = threading.Event()


def load(seed):
    rng = random.Random(seed)
    connections = {}
    while not over.is_set():
        proxy = rng.randrange(PROXIES)
        path = f"/o{int(OBJECTS ** rng.random())}"
        try:
            if proxy not in connections:
                connections[proxy] = http.client.HTTPConnection("127.0.0.1", ports[proxy], timeout=20)
            connections[proxy].request("GET", origin.url + path)
            response = connections[proxy].getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException):  # it was killed in the middle
            refused[0] += 1
            connections.pop(proxy, None)
            over.wait(0.05)
            continue
        if response.status != 200 or body != body_of(path):
            wrong.append((proxy, path, response.status, len(body)))
        answered[0] += 1


threads = [threading.Thread(target=load, args=(seed,), daemon=True) for seed in range(8)]
for thread in threads:
    thread.start()
start, kills, largest = time.monotonic(), 0, 0
rng = random.Random(1)
while time.monotonic() - start < SECONDS:
    over.wait(min(PAUSE, max(SECONDS - (time.monotonic() - start), 0)))  # of load
    for p in proxies:
        largest = max(largest, resident(p.process))
        assert p.process.poll() is None, f"{p.name} ended by itself: {''.join(p.log)}"
    if time.monotonic() - start < SECONDS:
        victim = rng.choice(proxies)
        victim.kill()
        victim.start()
        kills += 1
over.set()
for thread in threads:
    thread.join(30)


def converged():
    generations = {p.name: p.metrics()["posy_set_generation"] for p in proxies}
    return all(p.metrics().get(f'posy_peer_summary_generation{{peer="{q.name}"}}') == generations[q.name]
               for p in proxies for q in proxies if p is not q)


ended = time.monotonic()
until(converged, 2 * INTERVAL + 17)  # 16 s: the longest back-off
took = time.monotonic() - ended
totals = {}
for p in proxies:
    for name, value in p.metrics().items():
        if name.startswith("posy_proxy_requests_total") or "false_hits" in name or "failures" in name:
            totals[name] = totals.get(name, 0) + value
print(f"{answered[0]:,} answers, {len(wrong)} wrong, {refused[0]} cut off by {kills} kills; largest process "
      f"{largest / 1e6:.0f} MB; converged after {took:.1f} s")
print({name: value for name, value in totals.items() if value})
assert not wrong, wrong[:10]
assert answered[0] > 100 * SECONDS / 10 and kills >= 1
assert largest < LARGEST, largest
assert took <= 2 * INTERVAL, f"converged only after {took:.1f} s, two intervals are {2 * INTERVAL}"
for p in proxies:
    p.close()
origin.close()
