"""posy trace from outside: digests of capture files and of real interfaces, and the way of a packet back to its source.

Usage: trace_test.py POSY [unittest arguments]
"""
import functools
import http.server
import json
import os
import random
import signal
import subprocess
import threading
import unittest

from captures import ipv4, pcap, udp
from harness import POSY, ToolTest, main, until
from namespaces import Network, reason_against

START = 1_700_000_000


class Trace(ToolTest):
    def record(self, capture, folder, *options, **how):
        return self.posy("trace", "record", "-i", capture, "-o", folder, *options, **how).decode()

    def query(self, folder, packet, *options, status=0):
        return json.loads(self.posy("trace", "query", folder, packet, "--json", *options, status=status))["packets"]

    def pages(self, folder):
        return sorted(name for name in os.listdir(self.path(folder)) if name.endswith(".posy"))

    def traffic(self, count, seed=1, seconds=100):
        """Packets that differ, at random times, in their order."""
        draw = random.Random(seed)
        times = sorted(draw.randrange(seconds * 1_000_000) for _ in range(count))
        return [(START + t / 1e6, ipv4("10.0.0.1", "10.0.0.2", i % 65536, udp(seed, 53, draw.randbytes(20))))
                for i, t in enumerate(times)]


class Recording(Trace):
    def test_every_packet_is_found_around_its_time_and_no_other(self):
        packets = self.traffic(300)
        self.write("all.pcap", pcap(packets))
        self.assertRegex(self.record("all.pcap", "d", "--interval", "10s", "--fpr", "1e-9"), r"packets recorded +300\n")
        self.assertIn(len(self.pages("d")), range(9, 12))
        for packet, answer in zip(packets, self.query("d", "all.pcap", "--within", "0s")):
            self.assertTrue(any(w["from"] - 2e-6 <= packet[0] <= w["to"] + 2e-6 for w in answer["seen"]), answer)
        # 300 questions to at most 11 pages, each wrong with 1e-9: a false alarm in 300,000 runs.
        self.write("others.pcap", pcap(self.traffic(300, seed=2)))
        for answer in self.query("d", "others.pcap", "--within", "1d", status=1):
            self.assertEqual(answer["seen"], [])

    def test_what_routers_change_does_not_matter(self):
        self.write("a.pcap", pcap([(START, ipv4("10.0.0.1", "10.0.0.2", 7))]))
        self.record("a.pcap", "d")
        self.assertTrue(self.query("d", ipv4("10.0.0.1", "10.0.0.2", 7, ttl=3, tos=9).hex())[0]["seen"])
        self.assertTrue(self.query("d", "0x" + ("00" * 12 + "0800") + ipv4("10.0.0.1", "10.0.0.2", 7).hex())[0]["seen"])
        for other in [ipv4("10.0.0.1", "10.0.0.2", 8), ipv4("10.0.0.1", "10.0.0.2", 7, b"12345679"), ipv4("10.0.0.3", "10.0.0.2", 7)]:
            self.assertFalse(self.query("d", other.hex(), status=1)[0]["seen"])

    def test_a_time_without_pages_is_unknown(self):
        self.write("a.pcap", pcap(self.traffic(10)))
        self.record("a.pcap", "d")
        packet = ipv4("10.0.0.1", "10.0.0.2").hex()
        self.assertIn("unknown", self.posy("trace", "query", "d", packet, "--at", "1000", status=1).decode())
        self.assertIn("not seen", self.posy("trace", "query", "d", packet, status=1).decode())

    def test_the_oldest_pages_are_removed(self):
        self.write("a.pcap", pcap(self.traffic(5000)))
        self.record("a.pcap", "all", "--packets", "500", "--interval", "1d")
        size = os.path.getsize(self.path("all/" + self.pages("all")[0]))
        out = self.record("a.pcap", "some", "--packets", "500", "--interval", "1d", "--keep", str(4 * size))
        self.assertEqual(len(self.pages("all")), 10)
        self.assertRegex(out, r"oldest pages removed +[67]\n")
        names = [name.rsplit("-", 1)[0] for name in self.pages("some")]
        self.assertEqual(names, [name.rsplit("-", 1)[0] for name in self.pages("all")][-len(names):])
        with open(self.path("some/pages.txt")) as f:
            self.assertEqual(f.read().split(), self.pages("some"))

    def test_a_folder_is_gone_on_with(self):
        packets = self.traffic(100)
        self.write("a.pcap", pcap(packets[:50]))
        self.write("b.pcap", pcap(packets[50:]))
        for name in ["a.pcap", "b.pcap"]:
            self.record(name, "d", "--interval", "1h")
        self.assertEqual(len(self.pages("d")), 2)
        for name in ["a.pcap", "b.pcap"]:
            self.assertTrue(all(answer["seen"] for answer in self.query("d", name)))

    def test_a_pipe_is_read_like_a_file(self):
        content = pcap(self.traffic(2000))
        self.write("a.pcap", content)
        self.record("a.pcap", "file")
        self.assertRegex(self.record("-", "pipe", stdin=content), r"packets recorded +2,000\n")
        self.assertEqual(self.pages("pipe"), self.pages("file"))


class BadInput(Trace):
    def test_packets_that_cannot_be_recorded_are_counted(self):
        good = ipv4("10.0.0.1", "10.0.0.2", 1)
        self.write("mixed.pcap", pcap([(START, good), (START, b"\x45\x00"), (START, b""), (START, b"\x00" * 40), (START, good[:-1])]))
        out = self.record("mixed.pcap", "d")
        self.assertRegex(out, r"packets recorded +1\n")
        self.assertRegex(out, r"malformed +4\n")

    def test_a_link_that_is_unknown_is_named(self):
        self.write("wireless.pcap", pcap([(START, bytes(40))], link=105))
        self.assertRegex(self.record("wireless.pcap", "d"), r"of link type 105, which is not supported +1\n")
        self.fails("trace", "query", "d", "wireless.pcap", saying="wireless.pcap: its packets are of link type 105, which is not supported")

    def test_a_snap_length_that_is_too_short_is_said(self):
        packets = self.traffic(50)
        for snap, recorded in [(27, 0), (28, 50)]:
            self.write("short.pcap", pcap(packets, snap))
            self.assertRegex(self.record("short.pcap", f"d{snap}"), rf"packets recorded +{recorded}\n")
            self.assertEqual("50 packets were captured with too few bytes" in self.stderr, recorded == 0)
        self.write("whole.pcap", pcap(packets))
        self.assertTrue(all(answer["seen"] for answer in self.query("d28", "whole.pcap")))
        self.write("short.pcap", pcap(packets, 27))
        self.fails("trace", "query", "d28", "short.pcap", saying="none of its 50 packets")

    def test_what_precedes_damage_in_a_capture_is_not_lost_silently(self):
        content = pcap(self.traffic(50))
        self.write("cut.pcap", content[:-7])
        self.posy("trace", "record", "-i", "cut.pcap", "-o", "d", status=2)
        self.assertRegex(self.stderr, r"\Aposy: cut.pcap: [^\n]+; what comes before it is recorded\n\Z")
        self.write("49.pcap", pcap(self.traffic(50)[:49]))
        self.assertTrue(all(answer["seen"] for answer in self.query("d", "49.pcap")))

    def test_damaged_pages_do_not_silence_the_others(self):
        packets = self.traffic(300)
        self.write("all.pcap", pcap(packets))
        self.record("all.pcap", "d", "--interval", "10s", "--fpr", "1e-9")
        victim = self.pages("d")[4]
        with open(self.path("d/" + victim), "r+b") as f:
            f.seek(-5, os.SEEK_END)
            f.write(b"\xff\xff")
        answers = self.query("d", "all.pcap", "--within", "1d")
        self.assertTrue(all(answer["unreadable_pages"] == 1 for answer in answers))
        found = sum(bool(answer["seen"]) for answer in answers)
        self.assertGreater(found, 240)
        self.assertLess(found, 300)
        self.assertIn(victim, self.stderr)

    def test_pages_that_are_all_damaged_are_an_error(self):
        self.write("all.pcap", pcap(self.traffic(10)))
        self.record("all.pcap", "d", "--interval", "1h")
        for name in self.pages("d"):
            self.write("d/" + name, b"no page")
        self.posy("trace", "query", "d", "all.pcap", status=2)
        self.assertIn("posy: d: no page of that time can be read", self.stderr)

    def test_errors_name_what_is_wrong(self):
        self.write("a.pcap", pcap(self.traffic(5)))
        self.write("t", "r1 d r2\n")
        self.fails("trace", "record", "-i", "nosuch0", "-o", ".", saying="nosuch0")
        self.fails("trace", "record", "-i", "a.pcap", "-o", "a.pcap", saying="a.pcap")
        self.fails("trace", "record", "-i", "a.pcap", "-o", ".", "--keep", "10", saying="--keep")
        self.fails("trace", "query", "nosuch", "a.pcap", saying="nosuch")
        self.fails("trace", "query", ".", "xyz", saying="hexadecimal")
        self.fails("trace", "query", ".", "4500", saying="neither an IP packet")
        self.fails("trace", "route", "t", "a.pcap", "--victim", "r1", saying="line 1")
        self.fails("trace", saying="posy trace --help")
        self.fails("trace", "query", saying="posy trace query --help")


class Plans(Trace):
    def test_the_plan_is_what_a_recorder_does(self):
        self.posy("trace", "plan", "--packets-per-second", "1k", "--interval", "1s", "--branches", "0.001")
        plan = json.loads(self.posy("trace", "plan", "--packets-per-second", "1k", "--interval", "1s", "--branches", "0.001", "--json"))
        self.assertEqual(plan["packets_per_page"], 1000)
        self.assertEqual(plan["pages_asked"], 121)
        self.assertLess(plan["false_branches"], 0.001)
        self.assertGreater(plan["false_branches"], 0.0005)
        self.assertEqual(plan["bytes_kept"], 3600 * plan["page_bytes"])
        self.write("a.pcap", pcap(self.traffic(1000, seconds=1)))
        self.record("a.pcap", "d", "--packets", "1000", "--fpr", str(plan["page_rate"]), "--interval", "1s")
        info = json.loads(self.posy("info", "--json", "d/" + self.pages("d")[0]))
        self.assertEqual(info["memory_bytes"], plan["page_bytes"])
        self.assertEqual(info["planned_false_positive_rate"], plan["page_rate"])

    def test_the_command_of_a_plan_is_taken(self):
        self.write("a.pcap", pcap(self.traffic(5)))
        said = self.posy("trace", "plan", "--packets-per-second", "100k", "--keep", "10s", "--branches", "0.01").decode()
        command = said.splitlines()[-1].split()
        self.assertEqual([command[:3], command[-1]], [["posy", "trace", "record"], "…"])
        self.record("a.pcap", "d", *command[3:-1])

    def test_nothing_else_is_planned(self):
        self.fails("trace", "plan", "--packets-per-second", "0", saying="--packets-per-second")
        self.fails("trace", "plan", saying="--packets-per-second")
        self.fails("trace", "plan", "--packets-per-second", "1k", "--interval", "0s", saying="--interval")


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Routes(Trace):
    def network(self, seen, **other):
        """A topology r1 – r2 – r3 – r4 with r5 beside r2; those named have seen the packet, the others different ones."""
        self.write("yes.pcap", pcap([(START + 50, ipv4("10.0.0.1", "10.0.0.2", 7))]))
        self.write("no.pcap", pcap(self.traffic(100)))
        for router in ["r1", "r2", "r3", "r4", "r5"]:
            self.record("yes.pcap" if router in seen else "no.pcap", router, "--fpr", "1e-9")
        digests = {router: other.get(router, router) for router in ["r1", "r2", "r3", "r4", "r5"]}
        links = {"r1": "r2", "r2": "r3 r5", "r3": "r4", "r4": "", "r5": ""}
        self.write("net.txt", "# router digests neighbours\n" + "".join(f"{r} {digests[r]} {links[r]}\n" for r in links))

    def route(self, victim="r4", status=0):
        return json.loads(self.posy("trace", "route", "net.txt", "yes.pcap", "--victim", victim, "--json", status=status))

    def test_the_way_leads_back_to_the_first_router(self):
        self.network(["r1", "r2", "r3", "r4"])
        found = self.route()
        self.assertEqual(found["ways"], [["r1", "r2", "r3", "r4"]])
        self.assertEqual(found["asked"], 5)
        self.assertLess(found["false_branches_expected"], 5e-9)
        text = self.posy("trace", "route", "net.txt", "yes.pcap", "--victim", "r4").decode()
        self.assertIn("r1 → r2 → r3 → r4", text)

    def test_branches_are_all_shown(self):
        self.network(["r1", "r2", "r3", "r4", "r5"])
        self.assertEqual(sorted(self.route()["ways"]), [["r1", "r2", "r3", "r4"], ["r5", "r2", "r3", "r4"]])

    def test_a_victim_that_saw_nothing_has_no_way(self):
        self.network(["r1", "r2"])
        self.assertEqual(self.route(status=1)["routers"], [])

    def test_routers_without_digests_are_passed(self):
        self.network(["r1", "r2", "r4"], r3="-", r5="/proc/nowhere")
        found = self.route()
        self.assertEqual(found["ways"], [["r1", "r2", "r3", "r4"]])
        self.assertEqual([step["silent"] for step in found["routers"]], [False, True, False, False])
        self.assertEqual(found["silent"], 2)
        self.assertIn("router r5", self.stderr)

    def test_a_router_that_was_not_recording_is_passed(self):
        self.write("early.pcap", pcap(self.traffic(100, seconds=20)))
        self.record("early.pcap", "early", "--fpr", "1e-9")
        self.network(["r1", "r2", "r3", "r4"], r2="early")
        found = self.route()
        self.assertEqual(found["ways"], [["r1", "r2", "r3", "r4"]])
        self.assertEqual(found["silent"], 1)
        said = self.posy("trace", "query", "early", "yes.pcap", status=1).decode()
        self.assertIn("unknown: there is no page of that time", said)
        self.assertNotIn("odds", said)

    def test_digests_come_from_a_web_server_too(self):
        if "follow" not in self.posy("--help").decode():
            self.skipTest("built without HTTP (POSY_NODE)")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietFiles, directory=self.dir))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}"
        self.network(["r1", "r2", "r3", "r4"], r2=url + "/r2", r3=url + "/r3/")
        self.assertEqual(self.route()["ways"], [["r1", "r2", "r3", "r4"]])


WAIT_FOR_ATTACK = """
import socket, struct, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
print("ready", flush=True)
while True:
    packet, now = s.recv(65535), time.time()
    if b"attack" in packet:
        break
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101))
    f.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(packet), len(packet)) + packet)
"""
SEND_RAW = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
s.sendto(bytes.fromhex(sys.argv[1]), (sys.argv[2], 0))
"""
SEND_MANY = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(500):
    s.sendto(b"harmless %d" % i, (sys.argv[1], 9))
"""


@unittest.skipIf(reason_against(), reason_against())
class RealInterfaces(Trace):
    """h1 – r1 – r2 – r3 – h4, with h2 at r2 and h3 at r3: packets with a false source are traced to where they entered."""

    def setUp(self):
        super().setUp()
        n = self.net = Network(self, "h1", "h2", "h3", "h4", "r1", "r2", "r3")
        for ends in [("h1", "r1"), ("r1", "r2"), ("h2", "r2"), ("r2", "r3"), ("h3", "r3"), ("h4", "r3")]:
            n.link(*ends)
        for router in ["r1", "r2", "r3"]:
            n.forwards(router)
        for host, router in [("h1", "r1"), ("h2", "r2"), ("h3", "r3"), ("h4", "r3"), ("r1", "r2")]:
            n.route(host, "default", router)
        n.route("r2", "10.0.0.0/24", "r1")
        n.route("r3", "default", "r2")
        n.route("r2", "default", "r3")
        self.victim = n.address["h4", "r3"]

    def start(self, host, *args):
        process = subprocess.Popen(self.net.command(host, *args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def attack_from(self, host, source):
        """The file with the packet as the victim got it."""
        waiting = self.start("h4", "python3", "-c", WAIT_FOR_ATTACK, self.path("attack.pcap"))
        self.assertEqual(waiting.stdout.readline(), "ready\n")
        # The identification tells the two attacks apart, which the imprint would not do by the 20th byte of the payload.
        packet = ipv4(source, self.victim, ord(host[1]), udp(1, 9, b"attack"))
        self.net.python(host, SEND_RAW, packet.hex(), self.victim)
        self.assertEqual(waiting.wait(20), 0)
        os.rename(self.path("attack.pcap"), self.path(host + ".pcap"))

    def listens(self, router):
        """A packet socket is there from early on; bound to all protocols (3) and running (1), it takes packets."""
        sockets = [line.split() for line in self.net.run(router, "cat", "/proc/net/packet").splitlines()[1:]]
        return any(int(protocol, 16) == 3 and running == "1" for _, _, _, protocol, _, running, *_ in sockets)

    def test_the_way_of_an_attack_is_found(self):
        recorders = [self.start(router, POSY, "trace", "record", "-i", "any", "-o", self.path(router), "--interval", "500s", "--fpr", "1e-7")
                     for router in ["r1", "r2", "r3"]]
        for router in ["r1", "r2", "r3"]:
            until(lambda: self.listens(router), what="a recorder that listens")
        for host in ["h1", "h2", "h3"]:
            self.net.python(host, SEND_MANY, self.victim)
        # Both claim to be h3.
        self.attack_from("h1", self.net.address["h3", "r3"])
        self.attack_from("h2", self.net.address["h3", "r3"])
        for recorder in recorders:
            recorder.send_signal(signal.SIGTERM)
        for recorder, hosts in zip(recorders, [1, 2, 3]):
            out, err = recorder.communicate(timeout=20)
            self.assertEqual((recorder.returncode, err), (0, ""))
            recorded = int(out.split("packets recorded")[1].split()[0].replace(",", ""))
            self.assertGreaterEqual(recorded, 500 * hosts)
        self.write("net.txt", "r1 r1 r2\nr2 r2 r1 r3\nr3 r3 r2\n")
        for attacker, way in [("h1", ["r1", "r2", "r3"]), ("h2", ["r2", "r3"])]:
            found = json.loads(self.posy("trace", "route", "net.txt", attacker + ".pcap", "--victim", "r3", "--json"))
            # Three pages of a rate of 1e-7: a false branch in three million runs.
            self.assertEqual(found["ways"], [way])
            self.assertLess(found["false_branches_expected"], 1e-6)


if __name__ == "__main__":
    main()
