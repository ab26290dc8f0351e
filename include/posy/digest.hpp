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
#include "posy/result.hpp"

namespace posy {

struct digest {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const digest&, const digest&) = default;
};

// 128 bits; hash_family says what each family does with them.
struct hash_seed {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    friend bool operator==(const hash_seed&, const hash_seed&) = default;
};

// The numbers are on the wire (docs/format.md).
enum class hash_family : std::uint8_t {
    xxh3 = 1,     // XXH3-128, seeded by seed.low; the default
    siphash = 2,  // SipHash-2-4 with 128-bit output, keyed by the whole seed: for keys chosen by an attacker
    md5 = 3,      // as Summary Cache and Squid hash; takes no seed
    multiply_shift = 4,  // pairwise independent (Dietzfelbinger 1996), multipliers drawn from seed.low
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

// XXH3-128 (Collet 2019) of 8 bytes: mixing around one product of 128 bits. Inline because a single lookup of
// an integer costs less than a call that first dispatches on the key's length.
inline constexpr std::uint64_t xxh3_secret_of_8 = 0xc4f023344dc994ac;  // two words of its secret, xored
inline constexpr std::uint64_t xxh3_multiplier_of_8 = 0x9e3779b185ebcaa7;
inline digest xxh3_of_8_bytes(std::uint64_t key, std::uint64_t seed) {
    __extension__ typedef unsigned __int128 u128;  // NOLINT(modernize-use-using): -Wpedantic wants the mark
    seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
    const u128 product = u128{key ^ (xxh3_secret_of_8 + seed)} * xxh3_multiplier_of_8;
    auto low = static_cast<std::uint64_t>(product), high = static_cast<std::uint64_t>(product >> 64);
    high += low << 1;
    low ^= high >> 3;
    low = (low ^ low >> 35) * 0x9fb21c651e98df25;
    high = (high ^ high >> 37) * 0x165667919e3779f9;
    return {low ^ low >> 28, high ^ high >> 32};
}

class hasher {
  public:
    explicit hasher(hash_family family = hash_family::xxh3, hash_seed seed = {})
        : family_(family), seed_(seed) {}

    hash_family family() const { return family_; }
    hash_seed seed() const { return seed_; }
    friend bool operator==(const hasher&, const hasher&) = default;

    digest operator()(byte_view key) const;
    digest operator()(std::string_view key) const { return (*this)(as_byte_view(key)); }
    template <std::integral Integer>
    digest operator()(Integer key) const {
        if (family_ == hash_family::xxh3) return xxh3_of_8_bytes(static_cast<std::uint64_t>(key), seed_.low);
        return (*this)(byte_view(key_bytes(key)));
    }

    // Many keys in one call. Precondition: the two spans have the same length.
    void operator()(std::span<const std::string_view> keys, std::span<digest> digests) const;
    void operator()(std::span<const std::uint64_t> keys, std::span<digest> digests) const;

  private:
    hash_family family_;
    hash_seed seed_;
};

// Does this build have the family, and does the family accept the seed? The error names what does not fit.
result<void> check(const hasher&);

}  // namespace posy
