// Multiply-shift (Dietzfelbinger 1996; Thorup 2015, "vector multiply-shift"): for a key of 64-bit words
// x_0 … x_{d-1}, the high half of (Σ a_i·x_i + b) mod 2^128, with a_i and b drawn at random. Any two
// different keys collide as two independent uniform values would: the pairwise independence that the theory
// of sketches asks for, with a proof instead of hope. The length of the key is its last word, so keys of
// different lengths are different vectors. The two halves of the digest use two independent draws.
//
// It promises pairs only. Keys with strong structure (1, 2, 3, …) can measure above or below the rates that
// are predicted for fully random hashing; xxh3 does not show that.
#include "base/mix.hpp"
#include "families.hpp"
#include "posy/base/wide.hpp"

namespace posy::hash {
namespace {

using base::u128;

struct sums {
    std::uint64_t seed;
    std::uint64_t next = 0;
    u128 low = number(), high = number();  // b of either half

    u128 number() {
        const u128 top = base::draw(seed, next++);
        return top << 64 | base::draw(seed, next++);
    }
    void absorb(std::uint64_t word) {
        low += number() * word;
        high += number() * word;
    }
    digest finish() const {
        return {static_cast<std::uint64_t>(low >> 64), static_cast<std::uint64_t>(high >> 64)};
    }
};

}  // namespace

digest multiply_shift(byte_view key, std::uint64_t seed) {
    sums s{seed};
    std::size_t at = 0;
    for (; at + 8 <= key.size(); at += 8) s.absorb(load_little<std::uint64_t>(key.data() + at));
    if (at < key.size()) {
        std::array<std::byte, 8> tail{};
        std::memcpy(tail.data(), key.data() + at, key.size() - at);
        s.absorb(load_little<std::uint64_t>(tail.data()));
    }
    s.absorb(key.size());
    return s.finish();
}

}  // namespace posy::hash
