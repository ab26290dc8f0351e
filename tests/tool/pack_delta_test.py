"""posy pack, unpack, delta and apply from outside.

Usage: pack_delta_test.py POSY [unittest arguments]
"""
import json
import os

from harness import ToolTest, main


class Travel(ToolTest):
    """pack, unpack, delta, apply."""

    def setUp(self):
        super().setUp()
        self.write("keys", self.lines(0, 10000))
        self.posy("build", "keys", "-b", "14", "-k", "2", "--layout", "spread", "-o", "f.posy")

    def test_pack_and_unpack(self):
        for args in [[], ["--fast"], ["--codec", "adaptive"], ["--codec", "bytes"], ["--codec", "gaps"], ["--queryable", "small"],
                     ["--queryable", "fast"], ["--queryable", "list"]]:
            self.posy("pack", "f.posy", *args, "-o", "p.posy")
            self.assertEqual(self.posy("query", "-c", "p.posy", "keys"), b"10000\n", args)
            self.posy("unpack", "p.posy", "-o", "u.posy")
            self.assertEqual(self.read("u.posy"), self.read("f.posy"), args)
            info = json.loads(self.posy("info", "--json", "p.posy"))
            self.assertEqual(info["bits_checksum"], json.loads(self.posy("info", "--json", "f.posy"))["bits_checksum"])
        self.posy("pack", "f.posy", "-o", "p.posy")
        self.assertLess(os.path.getsize(self.path("p.posy")), 10000)
        self.assertEqual(self.posy("pack", "-", stdin=self.read("f.posy")), self.read("p.posy"))
        self.fails("pack", "f.posy", "--max-bytes", "5000", "-o", "x", saying="more than allowed")
        self.fails("unpack", "p.posy", "--max-array", "1000", "-o", "x", saying="above the limit of 1000")

    def test_counting_filters_travel_too(self):
        self.posy("build", "keys", "--counting", "-o", "c.posy")
        self.posy("pack", "c.posy", "-o", "p.posy")
        self.assertLess(os.path.getsize(self.path("p.posy")), 0.5 * os.path.getsize(self.path("c.posy")))
        self.posy("unpack", "p.posy", "-o", "u.posy")
        self.assertEqual(self.read("u.posy"), self.read("c.posy"))

    def test_a_packet_keeps_its_budget(self):
        for budget in ["1400", "10000"]:
            self.posy("pack", "--from-keys", "keys", "--max-bytes", budget, "-o", "packet")
            self.assertLessEqual(os.path.getsize(self.path("packet")), int(budget))
            self.assertEqual(self.posy("query", "-c", "packet", "keys"), b"10000\n")
        self.assertLess(json.loads(self.posy("info", "--json", "packet"))["false_positive_rate"], 0.0185)
        self.fails("pack", "--from-keys", "keys", "--max-bytes", "40", "-o", "x", saying="no filter fits into 40 bytes")
        self.fails("pack", "--from-keys", "keys", "-o", "x", saying="--max-bytes")

    def test_delta_and_apply(self):
        shape = ["-n", "10000", "-b", "32", "-k", "2", "--layout", "spread"]
        self.posy("build", *shape, "-o", "old.posy", stdin=self.lines(0, 10000))
        self.posy("build", *shape, "-o", "new.posy", stdin=self.lines(500, 10500))
        self.posy("delta", "old.posy", "new.posy", "-o", "d.posy")
        self.assertLess(os.path.getsize(self.path("d.posy")), 2200)
        info = json.loads(self.posy("info", "--json", "d.posy"))
        self.assertEqual(info["kind"], "delta")
        self.assertIn("bits that change", self.posy("info", "d.posy").decode())
        self.posy("apply", "old.posy", "d.posy", "-o", "applied.posy")
        self.assertEqual(self.read("applied.posy"), self.read("new.posy"))
        self.posy("apply", "old.posy", "-", stdin=self.read("d.posy"))
        self.assertEqual(self.read("old.posy"), self.read("new.posy"))
        self.fails("apply", "old.posy", "d.posy", saying="made against other bits")
        self.fails("apply", "old.posy", "new.posy", saying="new.posy: this is a filter, not a delta")
        self.fails("query", "d.posy", "keys", saying="d.posy: a delta is not a filter")
        self.fails("delta", "old.posy", "f.posy", saying="the filters differ in bits")


if __name__ == "__main__":
    main()
