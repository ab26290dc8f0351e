"""Round trips with the classes of Spark, Guava, Hadoop and Parquet themselves, in a Java virtual machine.

The jars are those that pyspark brings (tests/dialect/peers/requirements.txt); tests/dialect/peers/Peers.java calls them.
Usage: jvm_peers_test.py POSY [unittest arguments]
"""
import glob
import os
import subprocess

import pyspark
from harness import ToolTest, main

HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = os.path.join(HERE, "../dialect/peers/Peers.java")
JARS = os.path.join(os.path.dirname(pyspark.__file__), "jars")
NEEDED = ["spark-sketch_*", "guava-*", "hadoop-client-api-*", "hadoop-client-runtime-*", "parquet-*", "slf4j-api-*"]
JENKINS, MURMUR = 0, 1
# Name, options of 'posy build', the seed or the number of the hash.
FORMATS = [("spark-v1", [], 0), ("spark-v2", [], 0), ("spark-v2", ["--seed", "3000000000"], 3000000000 - 2 ** 32),
           ("guava-32", [], 0), ("guava-64", [], 0), ("parquet", [], 0)]
FORMATS += [(name, options, hash_) for name in ["hadoop", "hadoop-counting", "hadoop-dynamic", "hadoop-retouched"]
            for options, hash_ in [([], MURMUR), (["--jenkins"], JENKINS)]]
SIZES = [(1, 0.01), (7, 0.2), (100, 1e-5), (1000, 0.01), (2000, 0.05)]


class Java:
    """One virtual machine for all tests: it takes longer to start than to answer."""

    def __init__(self):
        jars = [jar for name in NEEDED for jar in glob.glob(os.path.join(JARS, name + ".jar"))]
        self.process = subprocess.Popen(["java", "-Xmx512m", "-cp", ":".join(jars), PEERS], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def text_keys(first, last):
    """Keys of all lengths up to 60 bytes and more, with characters of one to four bytes in UTF-8."""
    return "".join(f"{i} {'aé€😀'[i % 4] * (i % 23)}\n" for i in range(first, last))


def integer_keys(first, last):
    return "".join(f"{(i * 0x9e3779b97f4a7c15 + 2 ** 63) % 2 ** 64 - 2 ** 63}\n" for i in range(first, last))


KEYS = {"text": (text_keys, []), "integers": (integer_keys, ["--integers"])}


class JvmPeers(ToolTest):
    @classmethod
    def setUpClass(cls):
        cls.machine = Java()
        cls.addClassCleanup(cls.machine.close)

    def java(self, command, *words, files):
        """The last words of a command are files of this test."""
        self.assertEqual(self.machine.ask(command, *words, *map(self.path, files)), "done", (command, words))

    def found_by_java(self, name, type_, filter_, keys):
        self.java("query", name, type_, files=[filter_, keys, "found"])
        return self.read("found")

    def test_both_build_the_same_bytes(self):
        compared = 0
        for name, options, seed in FORMATS:
            for type_, (keys, as_type) in KEYS.items():
                for items, rate in SIZES:
                    with self.subTest(name, options=options, type=type_, items=items, rate=rate):
                        # A dynamic filter gets more than a row's keys.
                        self.write("keys", keys(0, items * 7 // 2 if name == "hadoop-dynamic" else items))
                        self.java("build", name, items, rate, seed, type_, files=["keys", "theirs"])
                        self.posy("build", "keys", "--format", name, *options, *as_type, "-n", str(items), "--fpr", str(rate),
                                  "-o", "ours")
                        self.assertEqual(self.read("ours"), self.read("theirs"))
                        compared += 1
        self.assertEqual(compared, len(FORMATS) * len(KEYS) * len(SIZES))

    def test_both_find_the_same(self):
        for name, options, _ in FORMATS:
            for type_, (keys, as_type) in KEYS.items():
                with self.subTest(name, options=options, type=type_):
                    own = self.read(self.write("keys", keys(0, 1000)))
                    self.write("asked", keys(0, 11_000))
                    self.posy("build", "keys", "--format", name, *options, *as_type, "--fpr", "0.05", "-o", "f")
                    found = self.posy("query", *as_type, "f", "asked")
                    self.assertTrue(found.startswith(own))
                    # False positives by the hundred: what is compared is not the keys alone. A filter of Parquet has a
                    # power of two of bytes, here more than it needs.
                    self.assertGreater(found.count(b"\n"), 1020)
                    self.assertEqual(self.found_by_java(name, type_, "f", "asked"), found)

    def test_a_union_is_the_filter_of_all(self):
        for name, options, seed in FORMATS:
            if name in ("hadoop-dynamic", "hadoop-retouched"):
                continue  # whose unions are other filters, or none
            with self.subTest(name, options=options):
                for part, (first, last) in {"a": (0, 600), "b": (400, 1000), "both": (0, 1000)}.items():
                    keys = text_keys(first, last)
                    # Counters count every key once for each filter that has it.
                    self.write("keys", keys + text_keys(400, 600) if part == "both" else keys)
                    self.java("build", name, 1000, 0.01, seed, "text", files=["keys", part])
                self.posy("union", "a", "b", "-o", "united")
                self.assertEqual(self.read("united"), self.read("both"))

    def test_counters_from_which_hadoop_has_removed_keys(self):
        self.write("keys", text_keys(0, 1000))
        self.write("removed", text_keys(0, 300))
        self.write("left", text_keys(300, 1000))
        self.posy("build", "keys", "--format", "hadoop-counting", "-o", "f")
        self.java("delete", files=["removed", "f", "less"])
        self.posy("build", "left", "--format", "hadoop-counting", "-n", "1000", "-o", "built")
        self.assertEqual(self.read("less"), self.read("built"))

    def test_bits_that_hadoop_has_cleared(self):
        self.write("keys", text_keys(0, 1000))
        self.write("others", text_keys(1000, 3000))
        self.posy("build", "keys", "--format", "hadoop-retouched", "--fpr", "0.05", "-o", "f")
        self.write("wrong", self.posy("query", "f", "others"))
        self.assertGreater(self.read("wrong").count(b"\n"), 20)
        self.java("clear", files=["wrong", "f", "cleared"])
        self.assertEqual(self.posy("query", "cleared", "wrong", status=1), b"")
        left = self.posy("query", "cleared", "keys")
        self.assertLess(left.count(b"\n"), 1000)
        self.assertEqual(self.found_by_java("hadoop-retouched", "text", "cleared", "keys"), left)
        self.assertEqual(self.posy("convert", "cleared", "--to", "hadoop-retouched"), self.read("cleared"))

    def test_what_java_has_serialised_is_named(self):
        for name, class_ in {"spark-v2": "org.apache.spark.util.sketch.BloomFilterImplV2",
                             "guava-64": "com.google.common.hash.BloomFilter$SerialForm"}.items():
            self.java("serialise", name, files=["object"])
            self.write("keys", "a\n")
            for options in [], ["--format", name]:
                self.fails("query", *options, "object", "keys", saying=f"object: at byte 0: an object of {class_} as Java")
                self.assertIn("writeTo()", self.stderr)

    def test_both_refuse_what_the_format_cannot_hold(self):
        self.write("keys", "a\n")
        for name in ["spark-v1", "spark-v2", "guava-32", "guava-64"]:
            answer = self.machine.ask("build", name, 10 ** 11, 1e-9, 0, "text", self.path("keys"), self.path("theirs"))
            self.assertRegex(answer, "error .*Exception")
            self.fails("build", "keys", "--format", name, "-n", "100G", "--fpr", "1e-9", "-o", "f", saying="fewer than 2^31 words")


if __name__ == "__main__":
    main()
