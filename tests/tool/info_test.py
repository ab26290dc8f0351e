"""The JSON of posy info: one word for each kind of message, and the same field for the same thing in all of them.

Usage: info_test.py POSY [unittest arguments]
"""
import glob
import json
import os

from harness import ToolTest, main

MESSAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "messages")

PLAIN = ["file", "kind", "bits", "bits_per_item", "hashes", "layout", "hash", "seed", "intersection", "planned_items",
         "items", "estimated_items", "past_plan", "ones", "fill", "false_positive_rate",
         "predicted_false_positive_rate", "planned_false_positive_rate", "memory_bytes", "message_bits",
         "message_bits_per_item"]
END = ["message_bytes", "bits_checksum"]

# What programs read: a change here is a change of the interface, and goes into CHANGELOG.md.
FIELDS = {
    "filter": PLAIN + END,
    "counting": PLAIN + ["counter_bits", "saturated_counters", "counter_bytes", "counter_message_bytes"] + END,
    "delta": ["file", "kind", "bits", "hashes", "layout", "hash", "seed", "intersection", "items", "generation",
              "base_generation", "base_checksum", "flips", "message_bytes"],
    "queryable": PLAIN + ["form", "compressed_bytes"] + END,
    "sealed": ["file", "kind", "hash", "items", "false_positive_rate", "message_bytes"],
    "map": ["file", "kind", "hash", "items", "false_positive_rate", "value_bits", "message_bytes"],
    "sketch": ["file", "kind", "hash", "total", "rule", "counters", "counter_bits", "memory_bytes", "message_bytes"],
    "spectral": ["file", "kind", "hash", "total", "estimated_items", "method", "counters", "counter_bits", "hashes", "layout",
                 "memory_bytes", "wrong", "message_bytes"],
    "heavy_hitters": ["file", "kind", "hash", "total", "rule", "counters", "counter_bits", "memory_bytes", "keys",
                      "message_bytes"],
    "growing": ["file", "kind", "hash", "items", "estimated_items", "false_positive_rate",
                "planned_false_positive_rate", "arrays", "bits", "message_bytes"],
    "window": ["file", "kind", "hash", "planned_items", "items", "false_positive_rate",
               "planned_false_positive_rate", "remembered_at_least_seconds", "forgotten_after_seconds", "generations",
               "arrays", "bits_per_array", "hashes", "memory_bytes", "message_bytes"],
    "reconciliation": ["file", "kind", "hash", "part", "message_bytes"],
}


class InfoTest(ToolTest):
    def infos(self):
        """All objects that info prints for the golden messages."""
        text = self.posy("info", "--json", *sorted(glob.glob(os.path.join(MESSAGES, "*.posy")))).decode()
        decoder = json.JSONDecoder()
        while text := text.lstrip():
            info, end = decoder.raw_decode(text)
            yield info
            text = text[end:]

    def test_fields_of_every_kind(self):
        infos = list(self.infos())
        self.assertEqual({i["kind"] for i in infos}, set(FIELDS))
        for info in infos:
            self.assertEqual(list(info), FIELDS[info["kind"]], info["file"])

    def test_the_same_thing_looks_the_same(self):
        for info in self.infos():
            if "estimated_items" in info:
                self.assertEqual(list(info["estimated_items"]), ["value", "low", "high"], info["file"])
            if info.get("bits_per_item"):
                self.assertAlmostEqual(info["bits_per_item"] * info["items"], info["bits"])
                self.assertAlmostEqual(info["message_bits_per_item"] * info["items"], info["message_bits"])

    def test_a_delta_names_its_base(self):
        self.posy("build", "-n", "100", "-o", "a.posy", stdin=self.lines(0, 50))
        self.posy("build", "-n", "100", "-o", "b.posy", stdin=self.lines(0, 60))
        self.posy("delta", "a.posy", "b.posy", "-o", "d.posy")
        base = json.loads(self.posy("info", "--json", "a.posy"))
        delta = json.loads(self.posy("info", "--json", "d.posy"))
        self.assertEqual(delta["base_checksum"], base["bits_checksum"])
        self.assertEqual(delta["message_bytes"], os.path.getsize(self.path("d.posy")))
        self.assertEqual((delta["items"], delta["hash"], delta["seed"]), (60, base["hash"], base["seed"]))


if __name__ == "__main__":
    main()
