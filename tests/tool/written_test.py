"""Numbers, shares and times as people write them.

Usage: written_test.py POSY [unittest arguments]
"""
import json

from harness import ToolTest, main


class Written(ToolTest):
    def planned(self, *args):
        return json.loads(self.posy("plan", "--json", *args))

    def test_amounts(self):
        for text, items in [("1,000", 1000), ("1,234,567", 1_234_567), ("1m", 10**6), ("1M", 10**6), ("2k", 2000), ("2K", 2000), ("1.5m", 1_500_000),
                            ("1g", 10**9), ("1Ki", 1024), ("1mi", 2**20), ("2^20", 2**20), ("10^6", 10**6)]:
            self.assertEqual(self.planned("-n", text, "-f", "0.01")["items"], items, text)
        for text in ["1,00", "1,0000", ",100", "1000,000", "1x", "1kk", "-5", "1,000,", "one", "3^4", "10^19"]:
            self.posy("plan", f"--items={text}", "-f", "0.01", status=2)
            self.assertIn("is not an amount such as 1000, 10M (10,000,000) or 64KiB (65,536)", self.stderr)

    def test_keys_are_not_bytes(self):
        self.write("keys", "a\n")
        for command in [["plan", "-n"], ["count", "keys", "--top"], ["simulate", "mesh", "--nodes"], ["flows", "--top"]]:
            for text in ["1B", "1kB", "64KiB"]:
                self.fails(*command, text, saying=f"'{text}' is in bytes; give a number such as 1000, 10M (10,000,000) or 1G (a billion)")

    def test_every_command_reads_the_same_amounts_and_names_the_option(self):
        self.write("keys", "a\n")
        self.posy("build", "keys", "-o", "f.posy")
        for command in [["plan", "-f", "0.01", "--items"], ["plan", "-n", "10", "--max-memory"], ["plan", "-n", "10", "--difference"],
                        ["build", "keys", "-o", "x", "--items"], ["query", "f.posy", "keys", "--max-array"], ["info", "f.posy", "--max-array"],
                        ["query", "http://127.0.0.1:9/f", "keys", "--max-size"], ["pack", "f.posy", "--max-bytes"],
                        ["seen", "keys", "--window", "1s", "--items"], ["reconcile", "keys", "keys", "--limit"], ["flows", "--memory"],
                        ["flows", "--top"], ["simulate", "mesh", "--nodes"], ["papers", "--trials"], ["trace", "plan", "--packets-per-second"],
                        ["trace", "record", "-i", "x", "-o", "y", "--keep"], ["node", "--items"], ["node", "--peer-memory"],
                        ["proxy", "--memory"], ["proxy", "--disk-bytes"], ["replay", "--items"], ["replay", "--requests"], ["replay", "--memory"]]:
            with self.subTest(command=command):
                self.posy(*command, "1x", status=2)
                self.assertRegex(self.stderr, rf"\Aposy: {command[-1]}: '1x' is not an amount such as 1000, 10M \(10,000,000\) or 64KiB \(65,536\); "
                                              rf"try 'posy {command[0]}.*--help'\n\Z")

    def test_what_k_and_m_are_is_the_same_everywhere(self):
        for command in ["plan", "build", "seen", "pack", "flows", "reconcile", "simulate", "papers", "node", "proxy", "replay", "info"]:
            self.assertIn("In amounts, k, M, G and T stand for powers of 1000; KiB, MiB, GiB and TiB for powers of 1024.",
                          self.posy(command, "--help").decode(), command)
        # Bytes: a limit that is not raised says what it is.
        self.posy("build", "-n", "100k", "-o", "f.posy", stdin="a\n")
        self.posy("pack", "f.posy", "-o", "p.posy")
        for text, size in [("1k", 1000), ("1KiB", 1024), ("2K", 2000)]:
            self.fails("info", "p.posy", "--max-array", text, saying=f"above the limit of {size};")
        # Items of a window; packets of a router.
        self.posy("seen", "--window", "1m", "--items", "2k", "--state", "s.posy", stdin="a\n")
        self.assertEqual(json.loads(self.posy("info", "--json", "s.posy"))["planned_items"], 2000)
        router = [json.loads(self.posy("trace", "plan", "--packets-per-second", text, "--json")) for text in ["1k", "1000"]]
        self.assertEqual(router[0], router[1])
        # A whole number is exact, however large.
        self.assertEqual(self.planned("-n", "1000000007", "-f", "0.01")["items"], 1_000_000_007)

    def test_shares(self):
        self.assertEqual(self.planned("-n", "1M", "-f", "1%"), self.planned("-n", "1M", "-f", "0.01"))
        self.assertEqual(self.planned("-n", "1M", "-f", "0.1%"), self.planned("-n", "1M", "-f", "0.001"))
        self.assertEqual(self.planned("-n", "1M", "-f", "1/1000"), self.planned("-n", "1M", "-f", "0.001"))
        for text in ["x%", "1/0", "1/", "0,01", ""]:
            self.fails("plan", "-n", "1M", f"--fpr={text}", saying=f"--fpr: '{text}' is not a number such as 0.01, 1e-6, 1% or 1/1000" if text else "--fpr")
        self.assertEqual(self.planned("-n", "1M", "--sketch", "0.01%,1%"), self.planned("-n", "1M", "--sketch", "0.0001,0.01"))

    def test_the_number_of_keys_to_print(self):
        self.write("keys", "a\na\nb\n")
        for text in ["1k", "1,000", "1000"]:
            self.assertEqual(len(self.posy("count", "keys", "--top", text).splitlines()), 2)
        self.fails("count", "keys", "--top", "2.5", saying="--top: '2.5' is not a whole number")

    def remembered(self, window):
        self.posy("seen", "--window", window, "--state", f"{window}.posy", stdin="a\n")
        return json.loads(self.posy("info", "--json", f"{window}.posy"))["remembered_at_least_seconds"]

    def test_durations(self):
        for text, seconds in [("1w", 604_800), ("2h30m", 9000), ("1d12h", 129_600), ("1m30s", 90), ("1h0.6s", 3600.6), ("90", 90), ("500ms", 0.5), ("1min", 60),
                              ("1h5min2s", 3902), ("2s5ms", 2.005)]:
            self.assertAlmostEqual(self.remembered(text), seconds, delta=1e-4, msg=text)
        self.write("keys", "a\n")
        self.posy("build", "keys", "-o", "f.posy")
        self.posy("add", "f.posy", "keys", "--lock-wait", "5s")
        self.fails("add", "f.posy", "keys", "--lock-wait", "5y", saying="--lock-wait: '5y' is not a time such as 90s, 500ms, 10m, 2h30m, 7d or 1w")
        self.fails("query", "http://127.0.0.1:9/f", "keys", "--timeout", "500ms", "--max-time", "1m", saying="http://127.0.0.1:9/f")
        for text in ["30m2h", "1h1h", "1h30", "1min1m", "h", "1y", "5m ", "-1h"]:
            self.posy("seen", f"--window={text}", stdin="a\n", status=2)
            self.assertIn("give a time such as 90s, 0.5s, 10m, 2h30m, 7d or 1w", self.stderr)

    def test_times(self):
        # The same moment in several forms, and then a second beyond the window.
        rows = ["1777638600.5,a", "2026-05-01T12:30:00.5Z,a", "2026-05-01 14:30:00.5+02:00,a", "2026-05-01T07:00:00.500-0530,a", "2026-05-01T12:30:10Z,a",
                "2026-05-01T12:31:21Z,a"]
        seen = ["seen", "--window", "60s", "--generations", "60", "--time-field", "1", "--field", "2", "--delimiter", ","]
        out = self.posy(*seen, stdin="\n".join(rows) + "\n").decode().split("\n")[:-1]
        self.assertEqual(out, [rows[0], rows[5]])
        for bad in ["2026-13-01T00:00:00Z", "2026-02-30", "yesterday", "2026-05-01T25:00", "2026-05-01T12:30:00.Z", "2026-05-01T12:30:00+2"]:
            self.posy(*seen, stdin=f"{bad},a\n", status=2)
            self.assertIn("a record without a time in field 1", self.stderr)
        self.assertEqual(self.posy(*seen, stdin="2026-05-01,a\n1777593600,a\n"), b"2026-05-01,a\n")


if __name__ == "__main__":
    main()
