"""Keys of one XXH3-128 digest, in any number, made of letters, digits, - and _ behind a prefix.

The twin of colliding_keys.hpp, which explains the construction; collide_test.cpp verifies the digests of both.

Usage: colliding_keys.py COUNT [PREFIX [FROM [SEED]]], to print keys, one per line
"""
import struct
import sys

LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
STRIPE = 64
# The secret of XXH3 (Collet 2019), a constant of the algorithm.
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def secret_of(seed):
    """The secret as XXH3 derives it from a seed: added to one word, subtracted from the next."""
    words = struct.unpack("<24Q", SECRET)
    return struct.pack("<24Q", *((w + (-seed if i % 2 else seed)) % 2**64 for i, w in enumerate(words)))


def best_pairs(secret_p, secret_q):
    """The largest group of pairs of letters that add the same to both sums."""
    groups = {}
    for p in LETTERS:
        for q in LETTERS:
            groups.setdefault((p + q, (p ^ secret_p) + (q ^ secret_q)), []).append((p, q))
    return max(sorted(groups.items()), key=lambda each: len(each[1]))[1]


def same_under(secret_p, secret_q):
    """Two letters that differ as these bytes do, so that they are the same under them."""
    return next(((p, p ^ secret_p ^ secret_q) for p in LETTERS if p ^ secret_p ^ secret_q in LETTERS), None)


class CollidingKeys:
    def __init__(self, prefix, seed=0, length=300):
        assert len(prefix) <= STRIPE and 300 <= length <= 1024
        self.key = bytearray(prefix.encode().ljust(length, b"x"))
        self.secret, self.choices = secret_of(seed), []
        last = length - STRIPE  # where the stripe of the end begins
        for lane in range(8):
            stripes = [s for s in range(1, 16) if s * STRIPE + 8 * lane + 8 <= last]
            while stripes:
                s = stripes.pop(0)
                t = next((t for t in stripes if self.choose(s, t, lane, 0) or self.choose(s, t, lane, 4)), None)
                if t:
                    stripes = [later for later in stripes if later > t]

    def choose(self, s, t, lane, same):
        """The half from byte `same` on is the same in both stripes, the other one is chosen."""
        at_s, at_t = s * STRIPE + 8 * lane, t * STRIPE + 8 * lane
        under = [(self.secret[8 * (s + lane) + j], self.secret[8 * (t + lane) + j]) for j in range(8)]
        fixed = [same_under(*under[same + j]) for j in range(4)]
        if None in fixed:
            return False
        for j in range(4):
            self.key[at_s + same + j], self.key[at_t + same + j] = fixed[j]
            free = 4 - same + j
            self.choices.append((at_s + free, at_t + free, best_pairs(*under[free])))
        return True

    def __getitem__(self, number):
        key = bytearray(self.key)
        for first, second, pairs in self.choices:
            number, which = divmod(number, len(pairs))
            key[first], key[second] = pairs[which]
        if number:
            raise IndexError("not so many keys")
        return key.decode()

    def first(self, many, start=0):
        return [self[i] for i in range(start, start + many)]


if __name__ == "__main__":
    many, prefix, start, seed = (sys.argv[1:] + ["", "0", "0"][len(sys.argv) - 2:])[:4]
    print(*CollidingKeys(prefix, int(seed)).first(int(many), int(start)), sep="\n")
