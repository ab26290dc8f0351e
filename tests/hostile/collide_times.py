"""Ten thousand colliding URLs and as many plain ones: times of proxy and node as they are, and of the tool with its keyed hash.

Prints the table of docs/security.md and ends with 1 if colliding ones take more than twice as long. Part of the longer
run, since it needs a quiet machine: each time is the best of five, and the two kinds take turns.

Usage: collide_times.py POSY
"""
import os
import subprocess
import sys
import tempfile
import time

from collide_test import MANY, POSY, QuickOrigin, ask_all, plain_keys
from colliding_keys import CollidingKeys
from daemons import Node, Proxy

ROUNDS, MOST = 5, 2.0


def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def proxy_times(urls):
    proxy = Proxy(POSY)
    try:
        return {name: timed(lambda: ask_all(proxy.port, urls)) for name in ("proxy, misses", "proxy, hits")}
    finally:
        proxy.close()


def node_times(keys):
    node = Node(POSY, "--interval", "0.1")
    try:
        lines = "".join(f"-{key}\n" for key in keys).encode()
        return {"node, keys added": timed(lambda: node.add(keys)),
                "node, keys removed": timed(lambda: node.ask("POST", "/keys", lines))}
    finally:
        node.kill()


def tool_times(keys, folder):
    files = {"a": keys[:MANY], "b": keys[500:]}
    for name, lines in files.items():
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.writelines(key + "\n" for key in lines)
    keyed = ["--hash", "siphash"]
    return {" ".join(command[:3]): timed(lambda command=command: subprocess.run(
        [POSY, *command], cwd=folder, capture_output=True, check=True))
        for command in (["build", *keyed, "--fpr", "1e-9", "a", "-o", "f"], ["count", *keyed, "--top", "100", "a"],
                        ["reconcile", *keyed, "a", "b"])}


def main():
    origin = QuickOrigin()
    kinds = {"plain": plain_keys, "colliding": lambda count, prefix: CollidingKeys(prefix).first(count)}
    best = {kind: {} for kind in kinds}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for _ in range(ROUNDS):
            for kind, make in kinds.items():
                urls = make(MANY + 500, origin.url)
                for name, seconds in {**proxy_times(urls[:MANY]), **node_times(urls[:MANY]), **tool_times(urls, folder)}.items():
                    best[kind][name] = min(seconds, best[kind].get(name, seconds))
    print("| 10,000 URLs of 300 bytes | plain, s | colliding, s | ratio |\n|---|---:|---:|---:|")
    ratios = []
    for name, plain in best["plain"].items():
        ratios.append(best["colliding"][name] / plain)
        print(f"| {name} | {plain:.3f} | {best['colliding'][name]:.3f} | {ratios[-1]:.2f} |")
    return max(ratios) > MOST


if __name__ == "__main__":
    sys.exit(main())
