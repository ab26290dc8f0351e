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
    "sealed": ["file", "kind", "bits", "items", "false_positive_rate", "hash", "seed", "message_bytes"],
    "map": ["file", "kind", "bits", "value_bits", "items", "false_positive_rate", "hash", "seed", "message_bytes"],
    "sketch": ["file", "kind", "width", "depth", "counter_bits", "rule", "total", "epsilon", "delta", "hash", "seed", "memory_bytes", "message_bytes"],
    "spectral": ["file", "kind", "counters", "counter_bits", "hashes", "layout", "method", "total", "estimated_items", "wrong", "hash", "seed",
                 "memory_bytes", "message_bytes"],
    "heavy_hitters": ["file", "kind", "width", "depth", "counter_bits", "rule", "total", "epsilon", "delta", "keys", "hash", "seed",
                      "memory_bytes", "message_bytes"],
    "growing": ["file", "kind", "bits", "arrays", "layout", "items", "estimated_items", "false_positive_rate",
                "planned_false_positive_rate", "hash", "seed", "memory_bytes", "message_bytes"],
    "window": ["file", "kind", "bits", "arrays", "bits_per_array", "hashes", "layout", "planned_items", "past_plan", "items",
               "false_positive_rate", "planned_false_positive_rate", "remembered_at_least_seconds",
               "forgotten_after_seconds", "generations", "hash", "seed", "memory_bytes", "message_bytes"],
    "reconciliation": ["file", "kind", "part", "hash", "seed", "message_bytes"],
}

# The word for people of a field, in every kind that has it.
WORDS = {"bits": "bits", "hashes": "hashes", "hash": "hash", "planned_items": "items planned", "items": "items",
         "estimated_items": "different items", "false_positive_rate": "false-positive rate",
         "planned_false_positive_rate": "  planned", "total": "total", "epsilon": "epsilon", "delta": "delta",
         "arrays": "arrays", "memory_bytes": "memory", "message_bytes": "message"}


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

    def test_the_same_word_for_the_same_thing(self):
        for file in sorted(glob.glob(os.path.join(MESSAGES, "*.posy"))):
            kind = json.JSONDecoder().raw_decode(self.posy("info", "--json", file).decode())[0]
            rows = [line[:22].rstrip() for line in self.posy("info", file).decode().split("\n\n")[0].splitlines()]
            for field, word in WORDS.items():
                if kind.get(field) is not None:
                    self.assertIn(word, rows, (file, field))

    def test_every_kind_has_its_seed(self):
        def seeds(*make, stdin="a\nb\n"):
            self.posy(*make, "--seed", "77", stdin=stdin)
            text = self.posy("info", "x.posy").decode()
            self.assertRegex(text, r"(?m)^hash +\S+, seed 77$", make)
            self.assertEqual(int(json.loads(self.posy("info", "--json", "x.posy"))["seed"], 16), 77, make)
            os.remove(self.path("x.posy"))
        seeds("build", "-o", "x.posy")
        seeds("build", "--counting", "-o", "x.posy")
        seeds("build", "--growing", "-o", "x.posy")
        seeds("seal", "-o", "x.posy")
        seeds("seal", "--values", "-o", "x.posy", stdin="a\t1\nb\t2\n")
        seeds("count", "-o", "x.posy")
        seeds("count", "--spectral", "--items", "10", "-o", "x.posy")
        seeds("seen", "--window", "1m", "--state", "x.posy")

    def test_a_window_past_its_plan(self):
        self.posy("seen", "--window", "1m", "--items", "10", "--state", "w.posy", stdin=self.lines(0, 1000))
        self.assertTrue(json.loads(self.posy("info", "--json", "w.posy"))["past_plan"])
        self.assertRegex(self.posy("info", "w.posy").decode(), r"(?m)^items planned +10; exceeded by [\d,]+$")

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
