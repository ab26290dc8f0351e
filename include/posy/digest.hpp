// A key's bytes become a 128-bit digest, once, at the edge. Everything after this works on digests, so a key
// is hashed once even when it is looked up in a thousand filters.
//
// The byte form of a key, which every machine and language has to agree on:
//   text and spans of bytes   their bytes, as they are
//   integers                  8 bytes, little-endian, two's complement (narrower ones sign- or zero-extended)
// so the integer 7 and the eight bytes 07 00 00 00 00 00 00 00 are the same key.
//
// A hasher is a small value; calling it is const and thread-safe.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "posy/base/names.hpp"
#include "posy/bytes.hpp"
#include "posy/hash/of_words.hpp"
#include "posy/result.hpp"

namespace posy {

// 128 bits; hash_family says what each family does with them.
struct hash_seed {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const hash_seed&, const hash_seed&) = default;
};

// The numbers are on the wire (docs/format.md).
enum class hash_family : std::uint8_t {
    xxh3 = 1,     // XXH3-128, seeded by seed.low
    siphash = 2,  // SipHash-2-4 with 128-bit output, keyed by the whole seed: for keys chosen by an attacker
    md5 = 3,      // as Summary Cache and Squid hash; takes no seed
    multiply_shift = 4,  // pairwise independent (Dietzfelbinger 1996), multipliers drawn from seed.low
    fold64 = 5,          // 64 bits made into 128, seeded by seed.low: the fastest (posy/hash/of_words.hpp)
};

constexpr std::string_view name_of(hash_family member) {
    switch (member) {
        case hash_family::xxh3:
            return "xxh3";
        case hash_family::siphash:
            return "siphash";
        case hash_family::md5:
            return "md5";
        case hash_family::multiply_shift:
            return "multiply-shift";
        case hash_family::fold64:
            return "fold64";
    }
    return {};
}
// Every family of this build and machine.
std::span<const hash_family> hash_families();

// The byte form of an integer key.
template <std::integral Integer>
std::array<std::byte, 8> key_bytes(Integer key) {
    std::array<std::byte, 8> bytes;
    store_little(bytes.data(), static_cast<std::uint64_t>(key));
    return bytes;
}

class hasher {
  public:
    explicit hasher(hash_family family = hash_family::xxh3, hash_seed seed = {})
        : family_(family), seed_(seed), salt_(hash::fold64_salt(seed.low)) {}

    hash_family family() const { return family_; }
    hash_seed seed() const { return seed_; }
    friend bool operator==(const hasher&, const hasher&) = default;

    digest operator()(byte_view key) const;
    digest operator()(std::string_view key) const { return (*this)(as_byte_view(key)); }
    template <std::integral Integer>
    digest operator()(Integer key) const {
        const auto word = static_cast<std::uint64_t>(key);
        if (family_ == hash_family::fold64) return hash::fold64_of_word(word, salt_);
        if (family_ == hash_family::xxh3) return hash::xxh3_of_8_bytes(word, seed_.low);
        return (*this)(byte_view(key_bytes(key)));
    }

    // Many keys in one call. Precondition: the two spans have the same length.
    void operator()(std::span<const std::string_view> keys, std::span<digest> digests) const;
    void operator()(std::span<const std::uint64_t> keys, std::span<digest> digests) const;

  private:
    hash_family family_;
    hash_seed seed_;
    std::uint64_t salt_;  // of fold64
};

namespace hash {
// What hasher(hash_family::fold64, {seed}) makes of bytes.
digest fold64_of_bytes(byte_view key, std::uint64_t seed);
}  // namespace hash

// The probability that an absent key has the digest of one of `items` others: what the family adds to the
// false-positive rate of any filter. Only fold64 has so few bits that it can matter.
double hash_collision_rate(hash_family, double items);
// The rate of a filter of `items` keys whose bits alone say yes to an absent key at this rate.
double with_collisions(double rate_of_bits, hash_family, double items);

// Does this build have the family, and does the family accept the seed? The error names what does not fit.
result<void> check(const hasher&);

}  // namespace posy
