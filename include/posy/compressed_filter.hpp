// A Bloom filter that is asked in its compressed form: the coded bytes answer, in memory or in a mapped file,
// and are never unpacked. Mitzenmacher (2002) calls this "generally difficult".
//
// What it costs, at 14 bits an item and 2 hashes (92 bits and 1 hash), over the fewest bytes that could tell
// the filters apart, and a lookup of one bit in 10 million items:
//
//   form    extra bytes         nanoseconds   the raw array in the same run
//   small   +1.5 % (+0.8 %)     116 (145)     7 (9)
//   fast    +16.4 % (+7.3 %)    46 (34)       7 (9)
//   list    +559 % (+277 %)     for arrays that are nearly empty
//
// Most absent keys cost one such lookup: the first zero ends the question. The filter cannot be changed;
// unpack() gives one that can.
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
    // The filter in that form. An error when the memory for it cannot be had.
    static result<compressed_filter> make(const bloom_filter&, queryable_form);
    // Bytes that came from elsewhere, and whatever keeps them alive. All that a lookup relies on is checked,
    // in a pass over the directory (at most two hundredths of the bytes); offsets in errors count from the
    // first of `bytes`. Bytes that are damaged where it was not checked give wrong answers and nothing worse;
    // a checksum tells, and so does unpack(). One lookup takes at most a pass over the bytes for each hash:
    // less than a millisecond per kilobyte, and nanoseconds where an honest encoder wrote them. A few bytes
    // may stand for an array of any size, which takes no memory until it is unpacked: then at most
    // `max_unpacked` bytes.
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
    // One answer a digest, memory fetched ahead; how many were yes. Precondition: the spans are of one
    // length.
    std::size_t may_contain(std::span<const digest> digests, std::span<bool> answers) const;

    // As bloom_filter's. The layouts sliced and blocked must know where the ones are: there it unpacks, which
    // can fail.
    result<double> false_positive_rate() const;

    // An error if the array is above what open() was told, or if the bytes are no coding of it.
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
