// A Bloom filter that is queried in its compressed form: lookups read the coded bytes, in memory or in a
// mapped file, and never unpack them. Mitzenmacher (2002) calls this "generally difficult".
//
// Cost at 14 bits per item and 2 hashes (92 bits and 1 hash): extra bytes over the information-theoretic
// minimum, and the time to look up one bit with 10 million items:
//
//   form    extra bytes         nanoseconds   the raw array in the same run
//   small   +1.5 % (+0.8 %)     116 (145)     7 (9)
//   fast    +16.4 % (+7.3 %)    46 (34)       7 (9)
//   list    +559 % (+277 %)     for arrays that are nearly empty
//
// Most absent keys cost one such lookup: the first zero ends the query. The filter cannot be changed;
// unpack() returns one that can.
//
// Thread safety: immutable; copies share the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "posy/base/names.hpp"
#include "posy/bloom_filter.hpp"
#include "posy/bytes.hpp"

namespace posy {

// How the bits are coded. The numbers are on the wire.
enum class queryable_form : std::uint8_t {
    small = 1,  // Rice codes in blocks
    fast = 2,   // Elias and Fano's split with a directory
    list = 3,   // the sorted positions of the ones, for arrays that are nearly empty
};

constexpr std::string_view name_of(queryable_form member) {
    switch (member) {
        case queryable_form::small:
            return "small";
        case queryable_form::fast:
            return "fast";
        case queryable_form::list:
            return "list";
    }
    return {};
}

class compressed_filter {
  public:
    // The filter in that form. An error when the memory for it cannot be allocated.
    static result<compressed_filter> make(const bloom_filter&, queryable_form);
    // Bytes from elsewhere, and an owner that keeps them alive. Everything a lookup relies on is checked, in
    // a pass over the directory (at most 2 % of the bytes); offsets in errors count from the start of
    // `bytes`. Damage outside the directory gives wrong answers and nothing worse; a checksum finds it, and
    // so does unpack(). A lookup takes at most one pass over the bytes per hash: less than a millisecond per
    // kilobyte, and nanoseconds for bytes that our encoder wrote. A few bytes may stand for an array of any
    // size, which takes no memory until it is unpacked, and then at most `max_unpacked` bytes.
    static result<compressed_filter> open(const posy::geometry&, queryable_form, const posy::provenance&,
                                          std::shared_ptr<const void> keep_alive, byte_view bytes,
                                          std::uint64_t max_unpacked = ~std::uint64_t{0});

    const posy::geometry& geometry() const { return geometry_; }
    queryable_form form() const { return form_; }
    // The hasher that makes this filter's digests.
    hasher hash() const { return hasher(geometry_.hash, geometry_.seed); }
    // As bloom_filter's.
    std::optional<std::uint64_t> items() const { return provenance_.items; }
    const posy::provenance& provenance() const { return provenance_; }
    std::uint64_t ones() const;
    // The coded bits, which open() takes.
    byte_view bytes() const { return bytes_; }

    bool may_contain(digest) const;
    // One answer per digest, with prefetching; returns how many were yes. Precondition: the spans have the
    // same length.
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

    // As bloom_filter's. In the layout spread it follows from the number of ones. All other layouts need the
    // positions of the ones, so the filter is unpacked, which can fail.
    result<double> false_positive_rate() const;

    // An error if the array is larger than open() allowed, or if the bytes do not decode to it.
    result<bloom_filter> unpack() const;

  private:
    struct coded_bits;
    compressed_filter(const posy::geometry& g, queryable_form form, const posy::provenance& from,
                      byte_view bytes, std::shared_ptr<const coded_bits> bits)
        : geometry_(g), form_(form), provenance_(from), bytes_(bytes), bits_(std::move(bits)) {}

    posy::geometry geometry_;
    queryable_form form_;
    posy::provenance provenance_;
    byte_view bytes_;
    std::shared_ptr<const coded_bits> bits_;
};

}  // namespace posy
