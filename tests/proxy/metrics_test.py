#!/usr/bin/env python3
"""The tables of metrics in docs/proxy.md and docs/node.md name what /metrics has: all of it, and of a proxy nothing else.

Usage: metrics_test.py POSY [TEST...]
"""
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import POSY, posy, run, test  # noqa: E402
from daemons import Node, Proxy  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from waiting import until  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def table_of(page):
    """Names and labels of its table of metrics; `_bytes` behind `posy_set_items` is posy_set_bytes."""
    text = (DOCS / page).read_text(encoding="utf-8").split("\n## Metrics\n")[1].split("\n## ")[0]
    named = {}
    for line in text.splitlines():
        if not line.startswith("| `"):
            continue
        whole = ""
        for name, labels in re.findall(r"`(\w+)(?:\{([\w,]*)\})?`", line.split("|")[1]):
            whole = name if name.startswith("posy_") else whole
            named[name if name is whole else whole.rpartition("_")[0] + name] = set(labels.split(",")) - {""}
    assert len(named) > 15, named
    return named


def shown(daemon):
    """Names and labels of /metrics; of a histogram those of the whole."""
    named = {}
    for sample in daemon.metrics():
        name, _, labels = sample.partition("{")
        if 'le="' in labels:
            name = name.removesuffix("_bucket")
        elif name.endswith(("_seconds_sum", "_seconds_count")):
            continue
        named.setdefault(name, set()).update(set(re.findall(r'(\w+)="', labels)) - {"le"})
    return named


@test
def the_tables_name_what_there_is():
    origin = Origin(lambda request: fresh(b"x"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = lambda name: os.path.join(folder, name)
        pathlib.Path(path("users")).write_text(f"alice:$6$salt${'.' * 86}\n", encoding="utf-8")
        pathlib.Path(path("keys")).write_text("a\nb\n", encoding="utf-8")
        posy("build", path("keys"), "-o", path("filter"))
        node = Node(POSY, "--overlay", "mesh", "--check-list", path("filter"))
        proxy = Proxy(POSY, "--peer", f"b={Proxy(POSY, name='other').url}", "--disk", path("disk"), "--rule", "deny user alice", "--rule", "allow", "--users",
                      path("users"))
        proxy.get(origin.url + "/")
        until(lambda: proxy.metric('posy_peer_summary_items{peer="b"}') is not None)
        of_proxy, documented = table_of("proxy.md"), table_of("proxy.md") | table_of("node.md")
        for daemon in (node, proxy):
            until(lambda daemon=daemon: "posy_request_duration_seconds" in shown(daemon))
            there = shown(daemon)
            assert not there.keys() - documented.keys(), there.keys() - documented.keys()
            wrong = {name: labels for name, labels in there.items() if name in of_proxy and labels != of_proxy[name]}
            assert not wrong, wrong
        assert not of_proxy.keys() - shown(proxy).keys(), of_proxy.keys() - shown(proxy).keys()
        gone = {name for name in table_of("node.md").keys() - shown(proxy).keys() - shown(node).keys() if not name.startswith("posy_overlay_")}
        assert not gone, gone  # overlays differ in theirs
        results = {re.search(r'result="(\w+)"', each)[1] for each in proxy.metrics() if each.startswith("posy_proxy_requests_total")}
        row = next(line for line in (DOCS / "proxy.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `posy_proxy_requests_total"))
        assert results <= set(re.findall(r"`(\w+)`", row)), results
        reasons = {re.search(r'why="(\w+)"', each)[1] for each in proxy.metrics() if each.startswith("posy_refused_total")}
        row = next(line for line in (DOCS / "node.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `posy_refused_total"))
        assert reasons == set(re.findall(r"`(\w+)`", row)), reasons
        node.kill()
        proxy.close()
    return (origin,)


run()
