// The geometry of a filter: everything two machines must agree on for the same key to mean the same bits.
//
// A run-time value, because it arrives by wire. Filters combine only when their geometries are equal; any
// other attempt is an error value, never a wrong answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy {

// How a digest becomes positions; each has a header in src/layout/. The numbers are on the wire.
enum class layout_id : std::uint8_t {
    spread = 1,   // the classic filter: every hash ranges over the whole array
    sliced = 2,   // every hash has its own slice of bits / hashes
    blocked = 3,  // all bits of a key in one 512-bit line: one cache miss, a slightly higher rate
    paired = 4,   // in two 512-bit lines: two cache misses, nearly the classic rate
    narrow = 5,   // in 128 bits: with 4-bit counters, one cache miss for a counting filter
};

constexpr std::string_view name_of(layout_id member) {
    switch (member) {
        case layout_id::spread:
            return "spread";
        case layout_id::sliced:
            return "sliced";
        case layout_id::blocked:
            return "blocked";
        case layout_id::paired:
            return "paired";
        case layout_id::narrow:
            return "narrow";
    }
    return {};
}

inline constexpr std::uint64_t max_bits = std::uint64_t{1} << 40;

struct geometry {
    std::uint64_t bits = 0;
    unsigned hashes = 0;
    layout_id layout = layout_id::blocked;
    hash_family hash = hash_family::xxh3;
    hash_seed seed{};

    friend bool operator==(const geometry&, const geometry&) = default;
};

// Is this a valid geometry? The error names the first field that is not.
result<void> check(const geometry&);

// The nearest array size that `layout` can have with this number of hashes: `bits` rounded up to its granule.
std::uint64_t round_up_bits(std::uint64_t bits, unsigned hashes, layout_id layout);

// Where the bits of a digest are: one position per hash, in their order. Precondition: check(g).
std::vector<std::uint64_t> positions_of(const geometry&, digest);

// What differs between two geometries: "bits 1000 and 2000, hashes 7 and 5"; and the error that reports it.
std::string difference(const geometry&, const geometry&);
error mismatch(const geometry&, const geometry&);

}  // namespace posy
