// The shape of a sealed set: how many unknowns, in how many layers, and how its bytes are laid out.
//
// Layers hold all but a few of the keys. A layer has fewer unknowns than keys, by `overload`: so nearly every
// unknown is used, and the keys that do not fit are bumped to the next layer, a twenty-fifth of the size
// (Dillinger, Hübschle-Schneider, Sanders and Walzer 2022, "BuRR"). What is bumped from the last layer, or a
// set that is small to begin with, goes to the remainder: a system with a few more unknowns than keys, solved
// by trying seeds until there is a solution.
//
//   layer      chunk | chunk | … | chunk           chunks are solved independently, so in parallel
//   chunk      bucket | bucket | … | bucket | 64   windows start in the buckets; the last reach into 64 more
//   bucket     128 starts and two bits: keys that start in its first 0, 16, 40 or 128 places are bumped
//   block      64 unknowns of every column, 8 bytes per column
//
// Unknowns have `columns` bits: those of the value, if there is one, and of the fingerprint. A rate between
// two powers of two is reached by a mixture: the first unknowns of a layer are lean, the others have one more
// column. A key has as many fingerprint bits as the unknown where its window starts.
//
// Thread safety: values. docs/sealed.md is the specification.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy::sealed {

inline constexpr unsigned window = 64;
inline constexpr unsigned bucket_starts = 128;
// Measured at 4 % overload: 74 % of the buckets bump nothing, 24 % their first 16 starts, 2 % 40, and hardly
// one all. That leaves 0.15 % of the unknowns unused; three bits per bucket leave 0.1 % and cost as much
// again; one bit, for all or nothing, leaves 8 %.
inline constexpr std::array<unsigned, 4> bumped_starts{0, 16, 40, bucket_starts};

inline constexpr unsigned max_layers = 16;
inline constexpr std::uint64_t max_chunks = std::uint64_t{1} << 24;
inline constexpr std::uint64_t max_chunk_blocks = std::uint64_t{1} << 11;
inline constexpr std::uint64_t max_remainder = std::uint64_t{1} << 12;
inline constexpr std::uint64_t max_items = std::uint64_t{1} << 40;
inline constexpr unsigned max_fingerprint = 32;
inline constexpr unsigned max_value_bits = 64;
inline constexpr unsigned max_columns = max_value_bits + max_fingerprint;

// Sets up to this size are all remainder: from here on a layer costs less.
inline constexpr std::uint64_t small_set = 2048;

struct columns {
    unsigned value = 0;        // bits of a value
    unsigned fingerprint = 0;  // bits of a lean fingerprint; others have one more
    unsigned lean() const { return value + fingerprint; }
};

// 2^-max_fingerprint to 1.
bool is_rate(double rate);

// 2^-fingerprint (1 − extra/2) = rate: the fingerprint bits that all keys have, and the share of the keys
// that have one more. Precondition: is_rate(rate).
struct mixture {
    unsigned fingerprint;
    double extra;
};
mixture mixture_for(double rate);

struct layer_shape {
    std::uint64_t chunks = 0;
    std::uint64_t start_blocks = 0;  // of a chunk: blocks in which windows start
    std::uint64_t lean = 0;          // blocks of the layer with lean unknowns: the first

    std::uint64_t starts() const { return start_blocks * window; }
    std::uint64_t chunk_blocks() const { return start_blocks + 1; }
    std::uint64_t blocks() const { return chunks * chunk_blocks(); }
    std::uint64_t buckets() const { return (start_blocks + 1) / 2; }  // of a chunk; the last may be a half
    std::uint64_t chunk_threshold_bytes() const { return (buckets() + 3) / 4; }
    std::uint64_t threshold_bytes() const { return chunks * chunk_threshold_bytes(); }
    // Where block b begins, in words, in columns of this kind; b = blocks() is the end.
    std::uint64_t word_of(std::uint64_t b, const columns& c) const {
        return b * c.lean() + (b > lean ? b - lean : 0);
    }
    std::uint64_t table_bytes(const columns& c) const { return 8 * word_of(blocks(), c); }
    unsigned columns_of(std::uint64_t b, const columns& c) const { return c.lean() + (b >= lean ? 1u : 0u); }
};

struct remainder_shape {
    std::uint64_t unknowns = 0;
    std::uint64_t lean = 0;  // unknowns with lean columns: the first
    std::uint64_t seed = 0;

    unsigned width() const { return static_cast<unsigned>(std::min<std::uint64_t>(unknowns, window)); }
    std::uint64_t starts() const { return unknowns - width() + 1; }
    std::uint64_t table_bits(const columns& c) const { return unknowns * c.lean() + (unknowns - lean); }
};

// What stands before the bits: everything a reader needs to find them.
struct header {
    sealed::columns columns;
    std::uint64_t items = 0;
    std::vector<layer_shape> layers;
    remainder_shape remainder;

    void put(std::vector<std::byte>& to) const;
    // Takes a header from the front of the payload and checks every number against its limit. `behind`
    // becomes the size of the header.
    static result<header> take(byte_view payload, std::uint64_t& behind);
};

// The parts of the payload, in bytes from its front. Each is within 2^60.
struct arrangement {
    explicit arrangement(const header&, std::uint64_t header_bytes);

    std::vector<std::uint64_t> thresholds;  // of each layer
    std::uint64_t remainder = 0;
    std::vector<std::uint64_t> tables;  // of each layer
    std::uint64_t size = 0;
};

// What a writer chooses for this many keys.
layer_shape layer_for(std::uint64_t keys, double extra);
remainder_shape remainder_for(std::uint64_t keys, double extra, std::uint64_t attempt);

}  // namespace posy::sealed
