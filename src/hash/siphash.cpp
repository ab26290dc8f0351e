// SipHash-2-4 with 128-bit and 64-bit output (Aumasson and Bernstein, 2012): a keyed hash. Without the key an
// attacker can neither predict its outputs nor find collisions.
//
// Written here because it stands in the loop over all keys: OpenSSL's goes through an allocated MAC context
// that costs ten times the hash. The tests hold it against OpenSSL's.
#include <bit>

#include "families.hpp"

namespace posy::hash {
namespace {

struct state {
    std::uint64_t v0, v1, v2, v3;

    void round() {
        v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
        v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
        v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
        v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
    }
    void absorb(std::uint64_t word) {
        v3 ^= word;
        round(), round();
        v0 ^= word;
    }
    std::uint64_t finish() {
        round(), round(), round(), round();
        return v0 ^ v1 ^ v2 ^ v3;
    }
};

// The state behind all of the key. `mark` tells the functions of different output apart.
state after(byte_view key, hash_seed seed, std::uint64_t mark) {
    // "somepseudorandomlygeneratedbytes"
    state s{seed.low ^ 0x736f6d6570736575, seed.high ^ 0x646f72616e646f6d ^ mark,
            seed.low ^ 0x6c7967656e657261, seed.high ^ 0x7465646279746573};
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) s.absorb(load_little<std::uint64_t>(key.data() + at));

    std::uint64_t last = std::uint64_t{key.size()} << 56;
    for (std::size_t i = at; i < key.size(); ++i)
        last |= std::to_integer<std::uint64_t>(key[i]) << 8 * (i - at);
    s.absorb(last);
    return s;
}

}  // namespace

digest siphash(byte_view key, hash_seed seed) {
    state s = after(key, seed, 0xee);
    s.v2 ^= 0xee;
    const std::uint64_t low = s.finish();
    s.v1 ^= 0xdd;
    return {low, s.finish()};
}

std::uint64_t siphash_64(byte_view key, hash_seed seed) {
    state s = after(key, seed, 0);
    s.v2 ^= 0xff;
    return s.finish();
}

}  // namespace posy::hash
