// The digest, and the digests of keys of 8 bytes. Inline because hashing such a key takes less time than a
// call that first finds out the family and the key's length.
#pragma once

#include <cstdint>

#include "posy/base/wide.hpp"

namespace posy {

struct digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const digest&, const digest&) = default;
};

namespace hash {

// fold64: 64 well-mixed bits h of the key, made into a digest by one more product.
//
//   8 bytes, a word w : h = fold(w xor salt, C)
//   other keys        : h = XXH3-64 with the seed
//   digest            : of P = h·D, low = P_high xor P_low, high = P_high + 8·P_low
//
// where fold(a, b) is the exclusive-or of the two halves of the 128-bit product a·b.
//
// Products of which both halves are kept (wyhash, Wang 2019) leave nothing of the structure of sequences,
// strides and sparse words: measured rates are the predicted ones down to arrays of 128 bits and four keys.
// Measured and not good enough: P_low for high (its low bits repeat), P_high (its high bits follow a
// sequence), a golden ratio for C (too regular), a D far below 2^64 (P_high leaves some of its range empty).
// The salt is a mixture of the seed, so that two seeds do not merely exchange keys.
//
// Different h have different digests, and two keys have the same h with probability 2^-64: among n keys an
// absent one is taken for one of them with probability n / 2^64, whatever the number of hashes
// (hash_collision_rate()).
inline constexpr std::uint64_t fold64_first = 0xf1357aea2e62a9c5, fold64_second = 0xff51afd7ed558ccd;
constexpr std::uint64_t low_half(base::u128 product) { return static_cast<std::uint64_t>(product); }
constexpr std::uint64_t high_half(base::u128 product) { return static_cast<std::uint64_t>(product >> 64); }
constexpr std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const base::u128 product = base::u128{a} * b;
    return low_half(product) ^ high_half(product);
}
constexpr std::uint64_t fold64_salt(std::uint64_t seed) {
    return fold(fold(seed ^ 0x2d358dccaa6c78a5, fold64_second) ^ seed, 0x8bb84b93962eacc9);
}
constexpr digest fold64_widened(std::uint64_t mixed) {
    const base::u128 product = base::u128{mixed} * fold64_second;
    return {low_half(product) ^ high_half(product), high_half(product) + 8 * low_half(product)};
}
constexpr digest fold64_of_word(std::uint64_t word, std::uint64_t salt) {
    return fold64_widened(fold(word ^ salt, fold64_first));
}

// XXH3-128 (Collet 2019) of 8 bytes: mixing around one product of 128 bits.
inline constexpr std::uint64_t xxh3_secret_of_8 = 0xc4f023344dc994ac;  // two words of its secret, xored
inline constexpr std::uint64_t xxh3_multiplier_of_8 = 0x9e3779b185ebcaa7;
inline digest xxh3_of_8_bytes(std::uint64_t key, std::uint64_t seed) {
    seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
    const base::u128 product = base::u128{key ^ (xxh3_secret_of_8 + seed)} * xxh3_multiplier_of_8;
    std::uint64_t low = low_half(product), high = high_half(product);
    high += low << 1;
    low ^= high >> 3;
    low = (low ^ low >> 35) * 0x9fb21c651e98df25;
    high = (high ^ high >> 37) * 0x165667919e3779f9;
    return {low ^ low >> 28, high ^ high >> 32};
}

}  // namespace hash
}  // namespace posy
