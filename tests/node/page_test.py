"""The live page of a node in a real browser: every figure on it against /metrics, on a desk and on a phone.

Chromium is driven over WebDriver, which is JSON over HTTP. Usage: page_test.py POSY FOLDER [unittest arguments];
the pictures that were looked at are written to FOLDER.
"""
import base64
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from cases import NodeTest  # noqa: E402
from daemons import ask, samples  # noqa: E402
from origins import Origin, fresh  # noqa: E402
from ports import free_port  # noqa: E402
from waiting import until  # noqa: E402

FOLDER = os.path.abspath(sys.argv[2])
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


class Browser:
    def __init__(self):
        port = free_port()
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen([DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        until(self.ready, 60, "a browser driver that answers")
        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={self.profile.name}"]
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": CHROMIUM, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.base += "/session/" + session["sessionId"]

    def ready(self):
        try:
            return self.call("GET", "/status")["ready"]
        except urllib.error.URLError:
            return False

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{method} {path}: {e.read().decode(errors='replace')[:500]}") from None

    def run(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def resize(self, width, height):
        """A window of that size inside, as a phone of that width has it."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def dark(self, dark):
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}})

    def picture(self, name):
        """The whole page as PNG, also into the folder."""
        png = base64.b64decode(self.call("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {
            "format": "png", "captureBeyondViewport": True}})["data"])
        with open(os.path.join(FOLDER, name), "wb") as f:
            f.write(png)
        return png

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            self.profile.cleanup()


def colours(png):
    """Width, height and how many different pixels a PNG has, by its chunks: unfiltered enough to tell blank from not."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert png[24] == 8 and png[25] in (2, 6), "8 bits a colour, no palette"
    size, data, at = 3 if png[25] == 2 else 4, b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    rows = zlib.decompress(data)
    stride = 1 + size * width
    assert len(rows) == stride * height
    # A row that is filtered "up" and is the same as the one above is all zeros: blank pictures have few others.
    return width, height, len({rows[y * stride + 1:(y + 1) * stride] for y in range(height)})


WATCH = """
if (!window.watched) {
  window.watched = window.fetch;
  window.fetch = async (path, how) => {
    const answer = await window.watched(path, how);
    if (path === '/metrics') window.seen = await answer.clone().text();
    return answer;
  };
}"""
READ = """
return [window.seen || '', [...document.querySelectorAll('[data-sample],[data-share],[data-sum]')].map(e => ({...e.dataset,
  text: e.textContent}))];"""


@unittest.skipUnless(CHROMIUM and DRIVER, "no chromium and chromium-driver here")
class Page(NodeTest):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def pair(self):
        """Two nodes that follow each other, with keys, news and some bad manners behind them."""
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        file = os.path.join(folder.name, "peers.json")
        with open(file, "w", encoding="utf-8") as f:
            f.write('{"peers": []}')
        b = self.node("--name", 'b "quoted" \\ node', "--items", "3000", "--interval", "1", "--peers", file)
        a = self.node("--name", "a", "--peer", f"b={b.url}", "--peer", "nobody=http://127.0.0.1:9", "--items", "5000", "--interval", "1")
        with open(file, "w", encoding="utf-8") as f:
            json.dump({"peers": [f"a={a.url}"]}, f)
        b.process.send_signal(signal.SIGHUP)
        a.add(f"a{i}" for i in range(4000))
        b.add(f"b{i}" for i in range(2500))
        a.ask("GET", "/nothing")
        a.ask("POST", "/keys", b"neither\n")
        until(lambda: a.metric('posy_peer_summary_items{peer="b"}') == 2500, what="b's keys at a")
        b.add(f"more{i}" for i in range(100))
        until(lambda: a.metric('posy_peer_answers_total{peer="b",kind="delta"}'), what="a delta from b")
        return a, b

    def open(self, node):
        self.browser.log("performance"), self.browser.log("browser")
        self.browser.call("POST", "/url", {"url": node.url + "/"})
        self.browser.run(WATCH)
        until(lambda: "live" in self.browser.run("return document.getElementById('state').textContent"), what="a page that is live")

    def compare(self):
        """What the page shows is what it was told, all of it: the names that it shows."""
        self.browser.run("window.seen = ''")
        wrong = shown = None

        def agrees():
            nonlocal wrong, shown
            text, shown = self.browser.run(READ)
            if not text:
                return False
            told = samples(text)
            wrong = [e for e in shown if not self.right(e, told)]
            return not wrong and told
        try:
            told = until(agrees, 30)
        except AssertionError:
            self.fail(f"these are not what /metrics says: {wrong[:3] if wrong else shown}")
        names = {e["sample"] for e in shown if "sample" in e}
        self.assertEqual({n for n in told if not n.startswith(("posy_info", "posy_overlay_info"))} - names, set(), "figures that the page leaves out")
        for e in shown:
            self.assertTrue(e["text"] or not e["value"], e)
        return told

    def right(self, e, told):
        if "sample" in e:
            return float(e["value"]) == told[e["sample"]] if e["value"] else e["sample"] not in told
        part = sum(told.get(k, 0) for k in json.loads(e["sum"])) if "sum" in e else told.get(e["share"], 0)
        if "of" not in e:
            return float(e["value"]) == part
        total = sum(told.get(k, 0) for k in json.loads(e["of"]))
        if not total:
            return e["value"] == "NaN"
        return abs(float(e["value"]) - part / total) < 1e-12

    def test_every_figure_is_that_of_metrics(self):
        a, b = self.pair()
        self.open(a)
        told = self.compare()
        self.assertEqual(told["posy_set_items"], 4000)
        self.assertEqual(told['posy_refused_total{why="malformed"}'], 1)
        self.assertEqual(told['posy_peer_up{peer="nobody"}'], 0)
        self.assertEqual(self.browser.run("return document.querySelector('[data-sample=posy_set_items]').textContent"), "4\u202f000")
        self.assertEqual(self.browser.run("return document.getElementById('name').textContent"), "a")
        # The set changes, and the page with it.
        a.add(["one more"])
        until(lambda: self.browser.run("return document.querySelector('[data-sample=posy_set_items]').dataset.value") == "4001",
              what="the new key on the page")
        self.compare()
        lines = "return [...document.querySelectorAll('#set path, #bytes path')].map(p => p.getAttribute('d').length)"
        until(lambda: (drawn := self.browser.run(lines)) and max(drawn) > 40, what="lines that grow")
        self.open(b)
        self.compare()
        self.assertEqual(self.browser.run("return document.getElementById('name').textContent"), 'b "quoted" \\ node')
        self.quiet()

    def quiet(self):
        """Nothing on the console, and nobody else was asked."""
        self.assertEqual([e for e in self.browser.log("browser") if e["level"] in ("SEVERE", "WARNING")], [])
        asked = [json.loads(e["message"])["message"] for e in self.browser.log("performance")]
        urls = {m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"}
        self.assertTrue(any(u.endswith("/metrics") for u in urls), urls)
        self.assertEqual([u for u in urls if not u.startswith(("http://127.0.0.1:", "data:"))], [])

    def test_pictures_of_desk_and_phone(self):
        a, _ = self.pair()
        self.open(a)
        self.compare()
        shown = lambda: self.browser.run("return document.querySelector('[data-sample=posy_set_items]').dataset.value")
        for step in range(3):  # something to see
            a.add(f"step {step} {i}" for i in range(400))
            until(lambda: shown() == str(4000 + 400 * (step + 1)), what="the new keys on the page")
        for name, width, height, dark in [("page-desk.png", 1280, 900, False), ("page-desk-dark.png", 1280, 900, True),
                                          ("page-phone.png", 390, 844, False), ("page-phone-dark.png", 390, 844, True)]:
            with self.subTest(name):
                self.browser.resize(width, height)
                self.browser.dark(dark)
                until(lambda: self.browser.run("return innerWidth") == width)
                self.compare()
                self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width, "nothing sticks out")
                found = colours(self.browser.picture(name))
                self.assertEqual(found[0], width)
                self.assertGreater(found[1], 700)
                self.assertGreater(found[2], 100, "different rows")
                ground = self.browser.run("return getComputedStyle(document.body).backgroundColor")
                self.assertEqual(sum(map(int, ground[4:-1].split(","))) < 384, dark)
        self.quiet()

    def test_a_node_that_goes_and_comes_back(self):
        address = f"127.0.0.1:{free_port()}"
        node = self.node("--name", "fickle", listen=address)
        self.open(node)
        self.assertIn("has no peers", self.browser.run("return document.getElementById('peers').textContent"))
        node.kill()
        silence = "return document.getElementById('silence').checkVisibility() && document.getElementById('silence').textContent"
        self.assertIn("has not answered since", until(lambda: self.browser.run(silence), what="a page that says so"))
        self.assertEqual(self.browser.run("return document.getElementById('state').textContent"), "not answering")
        again = self.node("--name", "fickle", listen=address)
        until(lambda: "live" in self.browser.run("return document.getElementById('state').textContent"), what="the page live again")
        self.assertFalse(self.browser.run(silence))
        again.add(["key"])
        self.compare()

    def test_a_group_is_drawn_and_what_does_not_apply_is_not_shown(self):
        leader = self.node("--overlay", "groups", "--items", "1000", "--beat", "1")
        members = [self.node("--overlay", "groups", "--items", "1000", "--beat", "1", "--leader", leader.url) for _ in range(2)]
        seen = "return [...document.querySelectorAll('main section')].filter(s => s.checkVisibility()).map(s => s.id)"
        labels = "return [...document.querySelectorAll('#overlay .label')].map(t => t.textContent)"
        names = lambda *nodes: sorted(n.url.removeprefix("http://") for n in nodes)
        for node, around in ((leader, members), (members[0], [leader])):
            self.open(node)
            until(lambda: sorted(self.browser.run(labels)) == names(node, *around), 60, "all neighbours on the page")
            self.assertEqual(self.browser.run(seen), ["set", "overlay", "requests"])
            self.compare()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), self.browser.run("return innerWidth"))
        members[1].kill()
        self.open(leader)
        until(lambda: sorted(self.browser.run(labels)) == names(leader, members[0]), 60, "a member that is gone")
        self.browser.picture("page-groups.png")
        leader.get("/summary")
        until(lambda: "bytes" in self.browser.run(seen), what="the bytes of a summary")
        self.quiet()

    def axis(self, chart):
        """The ticks of a chart as (value, height), the figures of its legend, and how high its lines end: all in its own unit."""
        return self.browser.run("""
          const figure = document.querySelector('%s figure'), number = t => parseFloat(t.replace(/[^0-9.,eE-]/g, ''));
          const ticks = [...figure.querySelectorAll('text')].filter(t => t.getAttribute('text-anchor') === 'end' && t.textContent !== 'now');
          return {ticks: ticks.map(t => [number(t.textContent), Number(t.getAttribute('y')) - 3.5, t.textContent]),
            legend: [...figure.querySelectorAll('figcaption span')].map(e => e.textContent),
            ends: [...figure.querySelectorAll('path')].map(p => Number(p.getAttribute('d').replace(/h1$/, '').match(/[0-9.]+$/)[0]))};""" % chart)

    def test_the_axis_of_false_hits_says_what_its_legend_says(self):
        """At rates whose half is below what two digits of a percent can say."""
        for rate in ("0.3", "0.01", "0.0001", "0.000002"):
            with self.subTest(rate):
                node = self.node("--fpr", rate, "--items", "1000", "--interval", "1")
                node.add(map(str, range(1000)))
                self.open(node)
                until(lambda: float(self.browser.run("return document.querySelector('[data-sample=posy_set_false_positive_rate]').dataset.value")) > 0)
                def agree():
                    seen = self.axis("#false")
                    (zero, bottom, _), *_, (top, ceiling, _) = sorted(seen["ticks"])
                    values = [value for value, *_ in seen["ticks"]]
                    assert len(set(values)) == 3 and abs(sorted(values)[1] - top / 2) < 1e-9 * top, seen
                    assert all(text.endswith("%") for *_, text in seen["ticks"]), seen
                    said = float(seen["legend"][0].replace("\xa0%", "").split()[-1])
                    drawn = (bottom - seen["ends"][0]) / (bottom - ceiling) * top
                    return abs(said - drawn) <= 0.03 * top and said > 0
                until(agree, what="a line that ends where the legend says")
                node.kill()

    def test_a_proxy_opens_with_what_it_is_for(self):
        """A proxy has more to tell; what it has is shown, whatever it is called."""
        origin = Origin(lambda r: fresh(b"x" * 5000))
        self.addCleanup(origin.close)
        proxy = self.node("--name", "cache", "--allow-destination", "loopback", command="proxy")
        for i in range(40):
            ask(proxy.port, f"{origin.url}/{i % 10}")
        self.open(proxy)
        told = self.compare()
        self.assertEqual(told['posy_proxy_requests_total{result="hit"}'], 30)
        self.assertEqual(told['posy_proxy_answer_bytes_total{result="hit"}'], 150000)
        self.assertTrue(self.browser.run("return document.getElementById('cache').checkVisibility()"))
        self.assertEqual(self.browser.run("return document.querySelector('main > section:not([hidden])').id"), "service")
        tiles = self.browser.run("return [...document.querySelectorAll('#service dt')].map(t => [t.textContent, t.nextSibling.textContent])")
        shown = {label: value.replace("\xa0", " ") for label, value in tiles}
        self.assertEqual({label: shown[label] for label in ("from the store", "from siblings", "from origins", "bytes saved", "objects")},
                         {"from the store": "75.0 %", "from siblings": "0 %", "from origins": "25.0 %", "bytes saved": "146 KiB", "objects": "10"})
        for name, width, height, dark in [("page-proxy.png", 1280, 900, False), ("page-proxy-phone.png", 390, 844, True)]:
            self.browser.resize(width, height)
            self.browser.dark(dark)
            until(lambda: self.browser.run("return innerWidth") == width)
            self.compare()
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width, "nothing sticks out")
            self.browser.picture(name)
        self.quiet()

    def test_history_survives_a_restart(self):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            state, file = os.path.join(folder, "state"), os.path.join(folder, "state", "history.json")
            items = lambda node: json.loads(node.get("/history").body)["series"].get("posy_set_items", [])
            first = self.node("--state", state)
            first.add(["one", "two"])
            until(lambda: 2 in items(first))
            self.assertEqual(first.kill(signal.SIGTERM), 0)
            second = self.node("--state", state)
            seen = items(second)
            self.assertEqual((2 in seen, None in seen), (True, True), "what was before, and a gap")
            self.open(second)
            self.assertGreater(self.browser.run("return past.at.length"), len(seen) - 1)
            self.assertEqual(second.kill(signal.SIGTERM), 0)
            with open(file, "w", encoding="utf-8") as damaged:
                damaged.write('{"at": [1, 2')
            third = self.node("--state", state)
            self.assertTrue(any("history.json" in line and "starts without it" in line for line in third.log), third.log)
            until(lambda: items(third))
            self.assertEqual(os.listdir(state), ["history.json"])


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
