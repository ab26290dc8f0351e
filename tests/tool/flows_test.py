"""posy flows from outside: against a parser of its own and tcpdump, intervals, flow records, and bad captures.

Usage: flows_test.py POSY [unittest arguments]
"""
import collections
import ipaddress
import json
import os
import random
import re
import shutil
import struct
import subprocess
import unittest

from harness import ToolTest, main

TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "packets")
VETH = os.path.join(TESTDATA, "veth.pcap")


def frame(source, destination, sport, dport, size, vlan=False):
    """The first bytes of an Ethernet frame with UDP in IPv4, whose IP packet has `size` bytes."""
    udp = struct.pack(">HHHH", sport, dport, size - 20, 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, size, 0, 0, 64, 17, 0, source.packed, destination.packed)
    return bytes(12) + (b"\x81\0\0\7" if vlan else b"") + b"\x08\0" + ip + udp


def pcap(packets, link=1):
    """A capture of (time in seconds, captured bytes, original length)."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link)
    for time, data, length in packets:
        out += struct.pack("<IIII", int(time), int(time % 1 * 1e6), len(data), length) + data
    return out


def traffic(packets, flows, seed=1):
    """UDP packets by Zipf's law over ten seconds, and the bytes of each flow."""
    draw = random.Random(seed)
    truth = collections.Counter()
    made = []
    ranks = draw.choices(range(flows), [1 / (r + 1) for r in range(flows)], k=packets)
    for i, rank in enumerate(ranks):
        source = ipaddress.IPv4Address(0x0A000000 + rank * 7919 % 65536)
        size = draw.randint(28, 1500)
        vlan = rank % 5 == 0
        made.append((1000 + 10 * i / packets, frame(source, ipaddress.IPv4Address("192.0.2.9"), 1000 + rank % 50, 53, size, vlan),
                     size + (18 if vlan else 14)))
        truth[str(source)] += size
    return made, truth


class Flows(ToolTest):
    def flows(self, *args, **kwargs):
        return json.loads(self.posy("flows", "--json", *args, **kwargs))

    def one(self, *args, **kwargs):
        intervals = self.flows(*args, **kwargs)["intervals"]
        self.assertEqual(len(intervals), 1)
        return intervals[0]


class Captures(Flows):
    def test_sizes_of_a_made_up_capture(self):
        made, truth = traffic(20_000, 3_000)
        self.write("c.pcap", pcap(made))
        found = self.one("c.pcap", "--by", "src", "--top", "20")
        self.assertEqual({f["src"]: f["bytes"] for f in found["flows"]}, dict(truth.most_common(20)))
        self.assertEqual(found["others_at_most"], truth.most_common(21)[-1][1])

    def test_no_heavy_flow_is_missed_in_little_memory(self):
        made, truth = traffic(20_000, 3_000)
        self.write("c.pcap", pcap(made))
        for memory in ("4KiB", "16KiB", "64KiB"):
            found = self.one("c.pcap", "--by", "src", "--threshold", "1%", "--memory", memory, "--exact")
            self.assertEqual(found["missed"], 0)
            listed = {f["src"]: f for f in found["flows"]}
            for source, size in truth.items():
                if source in listed:
                    self.assertLessEqual(listed[source]["certain"], size)
                    self.assertGreaterEqual(listed[source]["bytes"], size)
                    self.assertEqual(listed[source]["exact"], size)
                else:
                    self.assertLessEqual(size, found["others_at_most"])

    def test_pcap_and_pcapng_and_a_pipe_are_the_same(self):
        with open(VETH, "rb") as f:
            piped = self.flows("--seed", "1", stdin=f.read())
        self.assertEqual(piped, self.flows("--seed", "1", VETH))
        self.assertEqual(piped, self.flows("--seed", "1", VETH + "ng"))

    @unittest.skipUnless(shutil.which("tcpdump"), "no tcpdump to compare with")
    def test_tcpdump_reads_the_same(self):
        """Packets by source and destination, as tcpdump prints them; of tunnels it prints the outer header first."""
        shown = subprocess.run(["tcpdump", "-nr", VETH], capture_output=True, text=True, check=True).stdout
        truth = collections.Counter()
        for line in shown.splitlines():
            packet = re.match(r"\S+ IP6? (\S+) > (\S+): ", line)  # an inner header has a line of its own, without a time
            if packet:
                ends = [re.match(r"\d+\.\d+\.\d+\.\d+|[0-9a-f:]+", end)[0] for end in packet.groups()]
                truth[tuple(ends)] += 1
        found = self.one(VETH, "--by", "src,dst", "--weight", "packets", "--tunnels", "outermost", "--top", "0")
        self.assertGreater(len(truth), 5)
        self.assertEqual({(f["src"], f["dst"]): f["packets"] for f in found["flows"]}, dict(truth))

    def test_what_is_inside_a_tunnel(self):
        inner = {f["src"] for f in self.one(VETH, "--by", "src", "--top", "0")["flows"]}
        outer = {f["src"] for f in self.one(VETH, "--by", "src", "--top", "0", "--tunnels", "outermost")["flows"]}
        self.assertIn("10.1.0.1", inner)
        self.assertNotIn("10.1.0.1", outer)

    def test_parts_and_prefixes(self):
        by_port = self.one(VETH, "--by", "dport,proto", "--weight", "packets", "--top", "0")["flows"]
        self.assertIn({"dport": "5000", "proto": "udp", "packets": 9, "certain": 9}, [{k: v for k, v in f.items() if k != "share"} for f in by_port])
        networks = {f["src/24"] for f in self.one(VETH, "--by", "src/24", "--top", "0")["flows"]}
        self.assertTrue({"192.0.2.0/24", "2001:db8::/48", "10.1.0.0/24"} <= networks, networks)

    def test_intervals(self):
        made, truth = traffic(5_000, 300)
        self.write("c.pcap", pcap(made))
        intervals = self.flows("c.pcap", "--by", "src", "--interval", "2s", "--top", "0")["intervals"]
        self.assertEqual([i["interval"] for i in intervals], [1, 2, 3, 4, 5])
        self.assertEqual([i["begin"] for i in intervals], [1000, 1002, 1004, 1006, 1008])
        # The last one ends with the last packet.
        self.assertEqual([round(i["end"], 3) for i in intervals], [1002, 1004, 1006, 1008, 1009.998])
        sums = collections.Counter()
        for each in intervals:
            for flow in each["flows"]:
                sums[flow["src"]] += flow["bytes"]
        self.assertEqual(sums, truth)
        # A year without packets is no interval, and a packet from the past belongs to the present one.
        late = [made[0], (40_000_000, *made[1][1:]), (5, *made[2][1:])]
        self.write("late.pcap", pcap(late))
        intervals = self.flows("late.pcap", "--interval", "1s")["intervals"]
        self.assertEqual([i["packets"] for i in intervals], [1, 2])

    def test_thresholds(self):
        made, truth = traffic(5_000, 300)
        self.write("c.pcap", pcap(made))
        total = sum(truth.values())
        for options, least in ((("--threshold", "100k"), 100_000), (("--threshold", "2%"), 0.02 * total),
                               (("--threshold", "1%", "--link", "10M", "--interval", "20s"), 250_000)):
            found = self.one("c.pcap", "--by", "src", *options)
            self.assertEqual({f["src"] for f in found["flows"]}, {s for s, size in truth.items() if size >= least})
        self.posy("flows", "c.pcap", "--threshold", "1G", status=1)

    @unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot")
    def test_plots(self):
        self.posy("flows", VETH, "--plot", "ranks.svg")
        self.posy("flows", VETH, "--plot", "time.svg", "--interval", "1s")
        for name in ("ranks.svg", "time.svg"):
            self.assertIn(b"192.0.2.1", self.read(name))


class Records(Flows):
    def test_a_table_is_what_its_packets_are(self):
        made, truth = traffic(5_000, 300)
        rows = "".join(f"{source},192.0.2.9,17,1,{size}\n" for source, size in truth.items())
        self.write("t.csv", "sa,da,pr,ipkt,ibyt\n" + rows)
        found = self.one("t.csv", "--by", "src", "--top", "10")
        self.assertEqual({f["src"]: f["bytes"] for f in found["flows"]}, dict(truth.most_common(10)))
        self.assertEqual(self.one("--records", "--by", "src", "--top", "10", stdin=self.read("t.csv"))["flows"], found["flows"])

    def test_rows_that_do_not_fit_are_counted(self):
        self.write("t.csv", "sa,bytes\n192.0.2.1,5\nhost,6\n192.0.2.1\n\n192.0.2.1,7")
        found = self.flows("t.csv", "--by", "src")
        self.assertEqual(found["not_counted"]["malformed"], 2)
        self.assertEqual(found["intervals"][0]["flows"][0]["bytes"], 12)
        self.assertIn("line 3: 'host' is no address", self.stderr)

    def test_a_column_that_is_asked_for_and_missing(self):
        self.write("t.csv", "sa,bytes\n192.0.2.1,5\n")
        self.fails("flows", "t.csv", saying="t.csv: the first line names no column for the destination address, e.g. dstaddr")
        self.fails("flows", "t.csv", "--by", "src,dport", saying="no column for the destination port")
        self.fails("flows", "t.csv", "--by", "src", "--weight", "packets", saying="no column for the packets, e.g. packets, ipkt")
        self.assertIn("ask with --by and --weight for what the table has", self.stderr)
        self.write("t.csv", "sa,da,bytes\n192.0.2.1,,5\n192.0.2.1,192.0.2.2,7\n")
        found = self.flows("t.csv", "--by", "dst")
        self.assertEqual([(f["dst"], f["bytes"]) for f in found["intervals"][0]["flows"]], [("192.0.2.2", 7)])
        self.assertIn("line 2: a record without a value for the destination address", self.stderr)

    def test_totals_do_not_wrap(self):
        most = 2**64 - 1
        self.write("t.csv", f"sa,bytes,packets\n192.0.2.1,{most - 10},1\n192.0.2.2,11,1\n192.0.2.3,10,{most}\n192.0.2.4,10,1\n")
        found = self.flows("t.csv", "--by", "src", "--exact")
        self.assertEqual((found["bytes"], found["packets"], found["not_counted"]["malformed"]), (most, 2, 2))
        self.assertEqual(found["intervals"][0]["bytes"], most)
        self.assertIn("line 3: a count with which the total exceeds 2^64", self.stderr)

    def test_tables_that_are_none(self):
        self.write("t.csv", "a,b\n1,2\n")
        self.fails("flows", "t.csv", saying="t.csv: at byte 0: the first line names no column for a source")
        self.write("e.csv", "")
        self.fails("flows", "e.csv", saying="an empty table")


class BadInput(Flows):
    def test_packets_that_do_not_count(self):
        good = frame(ipaddress.IPv4Address("10.0.0.1"), ipaddress.IPv4Address("10.0.0.2"), 1, 2, 100)
        self.write("c.pcap", pcap([(1, good, 114), (1, good[:36], 114), (1, good[:20], 114), (1, good[:20], 20), (1, good, 60),
                                   (1, bytes(12) + b"\x08\x06" + bytes(28), 42)]))
        found = self.flows("c.pcap")
        self.assertEqual(found["packets"], 1)
        self.assertEqual({k: v for k, v in found["not_counted"].items() if v}, {"not_ip": 1, "cut_short": 2, "malformed": 2})
        self.assertIn("not counted: 1 not IP, 2 cut short by the capture, 2 malformed", self.posy("flows", "c.pcap").decode())
        # Addresses are enough for this question.
        found = self.flows("c.pcap", "--by", "dst")
        self.assertEqual((found["packets"], found["not_counted"]["cut_short"]), (2, 1))
        self.assertEqual(found["intervals"][0]["flows"][0]["bytes"], 200)

    def test_a_damaged_capture_is_read_up_to_the_damage(self):
        with open(VETH, "rb") as f:
            whole = f.read()
        self.write("cut.pcap", whole[:-5])
        out = self.posy("flows", "cut.pcap", status=2).decode()
        self.assertIn("37 packets", out)
        self.assertRegex(self.stderr, r"\Aposy: cut.pcap: at byte \d+: the capture is cut off here[^\n]*what comes before it is counted\n\Z")
        self.write("long.pcap", whole + struct.pack("<IIII", 0, 0, 1 << 30, 1 << 30) + bytes(100))
        self.assertIn("38 packets", self.posy("flows", "long.pcap", status=2).decode())
        self.assertIn("a packet of 1073741824 bytes", self.stderr)

    def test_what_is_no_capture(self):
        for data, why in ((b"", "an empty file"), (b"hello, world", "not a capture"), (b"\xd4\xc3\xb2\xa1\0\0", "cut off|not a capture")):
            self.write("x", data)
            self.posy("flows", "x", status=2)
            self.assertRegex(self.stderr, why)
        self.fails("flows", "nowhere.pcap", saying="nowhere.pcap")

    def test_a_link_that_is_unknown(self):
        self.write("c.pcap", pcap([(1, bytes(40), 40)], link=105))
        found = self.flows("c.pcap", status=1)
        self.assertEqual(found["not_counted"]["unknown_link"], 1)
        self.assertIn("not counted: 1 of link type 105, which is not supported", self.posy("flows", "c.pcap", status=1).decode())

    def test_options_that_make_no_sense(self):
        for options, why in ((("--by", "host"), "is no part of a flow"), (("--by", "src/40"), "at most 32 bits"),
                             (("--threshold", "200%"), "between 0% and 100%"), (("--memory", "1KiB"), "--memory lies between"),
                             (("--top", "5000"), "room for the top 1024"), (("--threshold", "5", "--link", "1G"), "in %"),
                             (("--threshold", "5%", "--link", "1G"), "an --interval"),
                             (("-i", "no-such-interface"), "no-such-interface")):
            files = () if "-i" in options else (VETH,)
            self.fails("flows", *files, *options, saying=why)


if __name__ == "__main__":
    main()
