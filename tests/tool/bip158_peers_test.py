"""Golomb-coded sets of BIP 158 by buidl, a library for Bitcoin in Python, and by posy: equal bytes, and both ask the other's.

Usage: bip158_peers_test.py POSY [unittest arguments]
"""
import hashlib

from buidl import compactfilter
from harness import ToolTest, main

KEY_BYTES = 16  # of the block's hash, as it stands in a block


def block(number):
    return hashlib.sha256(f"block {number}".encode()).digest()


def keys(first, last):
    """Of all lengths up to 40 bytes and more, as scripts have them."""
    return [f"{i} {'ab€'[i % 3] * (i % 31)}" for i in range(first, last)]


def as_lines(texts):
    return "".join(f"{text}\n" for text in texts)


class Bip158Peers(ToolTest):
    def options(self, of):
        return "--format", "bip158", "--block-hash", of.hex()

    def by_posy(self, of, texts):
        self.write("keys", as_lines(texts))
        return self.posy("build", "keys", *self.options(of), "-o", "-")

    def found_by_posy(self, of, set_, texts):
        self.write("set", set_)
        return self.posy("query", *self.options(of), "set", stdin=as_lines(texts)).decode().splitlines()

    def by_buidl(self, of, texts):
        return compactfilter.encode_gcs(of[:KEY_BYTES], [text.encode() for text in texts])

    def found_by_buidl(self, of, set_, texts):
        read = compactfilter.CompactFilter.parse(of[:KEY_BYTES], set_)
        return [text for text in texts if read.compute_hash(text.encode()) in read.hashes]

    def test_both_build_the_same_bytes(self):
        for number, size in enumerate((1, 2, 7, 252, 253, 1000)):  # 253: a size of three bytes
            with self.subTest(size=size):
                self.assertEqual(self.by_posy(block(number), keys(0, size)), self.by_buidl(block(number), keys(0, size)))

    def test_each_asks_what_the_other_built(self):
        there, others = keys(0, 300), keys(300, 600)
        of = block(1)
        self.assertEqual(self.found_by_posy(of, self.by_buidl(of, there), there + others), there)
        self.assertEqual(self.found_by_buidl(of, self.by_posy(of, there), there + others), there)

    def test_both_are_mistaken_about_the_same_keys(self):
        """Of three million absent keys posy finds 3.8 in the mean, and none with odds of 2 in 100 for a random block; this block has some."""
        of, there = block(2), keys(0, 500)
        set_ = self.by_buidl(of, there)
        self.write("many", as_lines(f"absent {i}" for i in range(3_000_000)))
        self.write("set", set_)
        mistaken = self.posy("query", *self.options(of), "set", "many").decode().splitlines()
        self.assertTrue(1 <= len(mistaken) <= 12, mistaken)
        self.assertEqual(self.found_by_buidl(of, set_, mistaken), mistaken)

    def test_another_block_has_another_key(self):
        there = keys(0, 100)
        self.assertNotEqual(self.by_posy(block(1), there), self.by_posy(block(2), there))
        self.write("set", self.by_buidl(block(1), there))
        self.posy("query", *self.options(block(2)), "set", stdin=as_lines(there), status=1)


if __name__ == "__main__":
    main()
