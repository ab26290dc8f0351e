#!/usr/bin/env python3
"""A real Prometheus over proxies: the alerts and the dashboard of packaging/ name figures that exist, the alerts mean what they
say, and one of them fires when a peer is killed.

Usage: prometheus_test.py POSY [TEST...]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from cases import POSY, run, test  # noqa: E402
from daemons import Node, Proxy, ask  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
ALERTS = PACKAGING / "prometheus" / "alerts.yml"
# A filter is measured in bits, and what nodes send each other is a summary: Prometheus has other uses for both words.
MEANT = re.compile(r'posy_set_bits use base unit "bytes"|posy_\w*summary_\w+ metric name should not include type .summary.$')
DASHBOARD = PACKAGING / "grafana" / "posy.json"


class Prometheus:
    """On a free port, with a folder that goes with it, asking these addresses every second."""

    def __init__(self, targets):
        self.folder, self.port = tempfile.TemporaryDirectory(ignore_cleanup_errors=True), free_port()
        text = (PACKAGING / "prometheus" / "prometheus.yml").read_text(encoding="utf-8").replace("15s", "1s")
        text, places = re.subn(r"targets: \[\"10\..*\]", "targets: " + json.dumps(targets), text)
        assert places == 1, text
        # What fires after minutes fires at once.
        alerts = re.sub(r"for: \w+", "for: 1s", ALERTS.read_text(encoding="utf-8"))
        for name, content in (("prometheus.yml", text), ("alerts.yml", alerts)):
            pathlib.Path(self.folder.name, name).write_text(content, encoding="utf-8")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder.name}/prometheus.yml", f"--storage.tsdb.path={self.folder.name}/data",
             f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=error"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ask(self, path, **query):
        """The data of an answer; nothing while it starts."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            if refused.code == 503:
                return None
            raise AssertionError((query, refused.read())) from refused
        except OSError:
            return None

    def healthy(self, count):
        found = self.ask("targets")
        return found and sum(each["health"] == "up" for each in found["activeTargets"]) == count

    def states(self):
        return {(each["labels"]["alertname"], each["labels"].get("peer")): each["state"] for each in (self.ask("alerts") or {"alerts": []})["alerts"]}

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()


def figures_in(text):
    return set(re.findall(r"\bposy_\w+", text))


@test
def figures_exist_and_a_dead_peer_fires():
    origin = Origin(lambda request: fresh(b"x" * 100))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        other = Proxy(POSY, name="b")
        proxy = Proxy(POSY, "--peer", f"b={other.url}", "--disk", os.path.join(folder, "disk"), name="a")
        for i in range(20):
            proxy.get(f"{origin.url}/{i % 10}")
        prometheus = Prometheus([f"127.0.0.1:{each.port}" for each in (proxy, other)])
        until(lambda: prometheus.healthy(2), 60, "two proxies read")
        until(lambda: (prometheus.ask("query", query='posy_peer_summary_age_seconds{peer="b"}') or {}).get("result"), 60, "a summary of b")
        dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
        named = figures_in(ALERTS.read_text(encoding="utf-8")) | figures_in(json.dumps(dashboard["panels"]))
        assert len(named) > 25, named
        missing = lambda: named - set(prometheus.ask("label/__name__/values") or ())
        until(lambda: not missing(), 60, f"to be seen: {missing()}")
        asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
        for expression in asked:
            plain = expression.replace("$__rate_interval", "1m").replace("$instance", ".*")
            prometheus.ask("query", query=plain)  # which fails if Prometheus does not understand it
        assert len(asked) > 30
        rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
        assert len(rules) == ALERTS.read_text(encoding="utf-8").count("- alert:") and all(rule["health"] in ("ok", "unknown") for rule in rules), rules
        assert ("PosyPeerDown", "b") not in prometheus.states()
        other.kill()
        until(lambda: prometheus.states().get(("PosyPeerDown", "b")) == "firing", 60, "PosyPeerDown")
        until(lambda: prometheus.states().get(("PosyDown", None)) == "firing", 60, "PosyDown")
        prometheus.close()
        proxy.close()
    return (origin,)


@test
def every_panel_has_a_place_and_figures():
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["targets"], panel["title"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    return ()


@test
def the_alerts_mean_what_they_say():
    done = subprocess.run(["promtool", "test", "rules", "alerts_test.yml"], cwd=ALERTS.parent, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr
    alerts = set(re.findall(r"- alert: (\w+)", ALERTS.read_text(encoding="utf-8")))
    cases = (ALERTS.parent / "alerts_test.yml").read_text(encoding="utf-8")
    assert f"{len(alerts)} alerts" in (PACKAGING.parent / "docs" / "proxy.md").read_text(encoding="utf-8")
    for alert in alerts:
        assert f"name: {alert} fires\n" in cases and f"name: {alert} is silent\n" in cases, alert
    done = subprocess.run(["promtool", "check", "config", "prometheus.yml"], cwd=ALERTS.parent, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return ()


@test
def promtool_finds_nothing_wrong_with_the_figures():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        node = Node(POSY)
        proxy = Proxy(POSY, "--peer", f"b={node.url}", "--disk", os.path.join(folder, "disk"))
        until(lambda: proxy.metric('posy_peer_up{peer="b"}') == 1)
        for each in (node, proxy):
            def durations():  # that of a request is in the next
                text = ask(each.port, "/metrics")[2].decode()
                return text if "_bucket{" in text else None
            text = until(durations)
            done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
            complaints = [line for line in done.stderr.splitlines() if line and not MEANT.match(line)]
            assert done.returncode in (0, 3) and not complaints, complaints
        node.kill(signal.SIGTERM)
        proxy.close()
    return ()


run()
