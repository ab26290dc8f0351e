// The Bloomier map: a key of the set gets its value; any other key gets "undefined", except for a chosen
// share of them (Chazelle, Kilian, Rubinfeld and Tal 2004, "The Bloomier filter"). The keys themselves are
// not stored.
//
// It is the sealed filter (sealed_filter.hpp) with a value beside each fingerprint: the 64 unknowns that a
// key selects add up to both. So it takes value_bits + log2(1/ε) bits per key and half a percent, where
// Chazelle et al. needed a constant factor more, and is as fast as the filter. An absent key that passes the
// fingerprint gets an arbitrary value.
//
// It cannot change a value, insert, unite, list its keys, or send a difference: for any of these, make a new
// map.
//
// Thread safety: immutable; copies share the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy {

namespace sealed {
class ribbon;
}

struct bloomier_options {
    unsigned value_bits = 64;  // 1 to 64
    double rate = 0.01;        // of absent keys that get a value: 2^-32 to 1; at 1 no fingerprints are stored
    unsigned threads = 1;      // to build with
};

class bloomier_map {
  public:
    // The map from digests[i], made by `hasher`, to values[i]. A key may be repeated with the same value. A
    // key with two values is an error, and so is a value of more than value_bits bits. Otherwise as for the
    // sealed filter, with 24 bytes per digest.
    static result<bloomier_map> make(hasher, std::span<const digest> digests,
                                     std::span<const std::uint64_t> values, bloomier_options = {});
    // As sealed_filter::open.
    static result<bloomier_map> open(hasher, std::shared_ptr<const void> keep_alive, byte_view payload);

    // As sealed_filter's.
    hasher hash() const { return hash_; }
    std::uint64_t items() const;
    double false_positive_rate() const;
    byte_view bytes() const;
    unsigned value_bits() const;

    std::optional<std::uint64_t> find(digest) const;
    // One answer per digest, with prefetching; returns how many have a value. Precondition: the spans have
    // the same length.
    std::size_t find(std::span<const digest> digests, std::span<std::optional<std::uint64_t>> answers) const;

  private:
    bloomier_map(hasher hash, std::shared_ptr<const sealed::ribbon> map)
        : hash_(hash), map_(std::move(map)) {}

    hasher hash_;
    std::shared_ptr<const sealed::ribbon> map_;
};

}  // namespace posy
