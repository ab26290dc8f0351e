"""posy flows -i on a real interface: one heavy flow among a thousand light ones, between two network namespaces.

Skipped where namespaces or captures are not allowed.
Usage: flows_live_test.py POSY [unittest arguments]
"""
import json
import os
import pty
import shutil
import signal
import subprocess
import time

from harness import POSY, ToolTest, main, until

# Sends from its own ports: port 2000 + i two packets of 100 bytes, and port 1999 packets of 900 bytes in between.
SENDER = """
import socket
def flow(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("198.18.0.1", port))
    return s
heavy = flow(1999)
for i in range(1000):
    light = flow(2000 + i)
    for repetition in range(2):
        light.sendto(bytes(72), ("198.18.0.2", 9))
    heavy.sendto(bytes(872), ("198.18.0.2", 9))
    light.close()
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class Live(ToolTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("ip"):
            self.skipTest("no ip, of iproute2")
        self.here, self.there = (f"posy-flows-{os.getpid()}-{end}" for end in "ab")
        for name in (self.here, self.there):
            made = run("ip", "netns", "add", name)
            if made.returncode != 0:
                self.skipTest("no network namespaces here: " + made.stderr.strip())
            self.addCleanup(run, "ip", "netns", "del", name)
        made = run("ip", "link", "add", "va", "netns", self.here, "type", "veth", "peer", "name", "vb", "netns", self.there)
        if made.returncode != 0:
            self.skipTest("no veth pairs here: " + made.stderr.strip())
        for name, end, address in ((self.here, "va", "198.18.0.1"), (self.there, "vb", "198.18.0.2")):
            run("ip", "-n", name, "addr", "add", address + "/24", "dev", end)
            self.assertEqual(run("ip", "-n", name, "link", "set", end, "up").returncode, 0)

    def watch(self, *args, **kwargs):
        """posy flows on one end, once it listens."""
        watching = subprocess.Popen(["ip", "netns", "exec", self.there, POSY, "flows", "-i", "vb", *args],
                                    stderr=subprocess.PIPE, **kwargs)
        self.addCleanup(watching.stderr.close)
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)

        def listens():
            if watching.poll() is not None:
                self.skipTest("no right to capture: " + watching.stderr.read().decode())
            sockets = run("ip", "netns", "exec", self.there, "cat", "/proc/net/packet").stdout.splitlines()[1:]
            return any(line.split()[4] != "0" and line.split()[5] == "1" for line in sockets)  # bound, and running

        until(listens)
        return watching

    def send(self):
        sent = run("ip", "netns", "exec", self.here, "python3", "-c", SENDER)
        self.assertEqual(sent.returncode, 0, sent.stderr)

    def test_the_heavy_flow_among_a_thousand_light_ones(self):
        watching = self.watch("--by", "src,sport,dport", "--threshold", "10%", "--interval", "10m", "--json", "--exact",
                              "--memory", "32KiB", stdout=subprocess.PIPE)
        self.send()
        watching.send_signal(signal.SIGINT)
        out, why = watching.communicate(timeout=60)
        self.assertEqual(watching.returncode, 0, why)
        found = json.loads(out)
        self.assertEqual([f["sport"] for f in found["flows"]], ["1999"])
        self.assertGreaterEqual(found["flows"][0]["bytes"], 1000 * 900)
        self.assertEqual(found["flows"][0]["exact"], 1000 * 900)
        self.assertGreaterEqual(found["exact_flows"], 1001)
        self.assertEqual(found["missed"], 0)
        self.assertLess(found["end"], time.time() + 1)  # and not ten minutes after its begin

    def test_intervals_end_without_packets(self):
        watching = self.watch("--by", "sport", "--interval", "0.2s", "--json", stdout=subprocess.PIPE)
        self.send()
        first = json.loads(watching.stdout.readline())
        self.assertEqual(first["interval"], 1)
        watching.send_signal(signal.SIGTERM)
        watching.communicate(timeout=60)
        self.assertEqual(watching.returncode, 0)

    def test_a_table_on_a_terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        watching = self.watch("--by", "sport", "--top", "1", stdout=theirs)
        os.close(theirs)
        self.send()
        seen = b""

        def drawn():
            nonlocal seen
            seen += os.read(ours, 65536)
            return b"\x1b[H\x1b[2J" in seen and b"1999" in seen

        until(drawn)
        watching.send_signal(signal.SIGINT)
        self.assertEqual(watching.wait(timeout=60), 0)  # what it still prints fits the terminal's buffer

    def test_a_duration(self):
        watching = self.watch("--duration", "0.5s", stdout=subprocess.PIPE)
        watching.communicate(timeout=60)
        self.assertIn(watching.returncode, (0, 1))  # IPv6 may announce itself


if __name__ == "__main__":
    main()
