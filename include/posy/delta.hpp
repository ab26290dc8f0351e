// A delta: which bits of a filter changed between two of its generations (Mitzenmacher 2002, IV).
//
// It is the exclusive-or of the two arrays, so it is its own undoing, and deltas of successive generations
// add up by exclusive-or again. It names the generation and the checksum of the bits it was made against:
// applied to anything else it is refused, and nothing has changed.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

// The low half of XXH3-64 over the words of an array.
std::uint32_t bits_checksum(const bit_array&);

// A generation and its bits, as a delta names its base: two publishers may use one number, or one may use it
// twice.
struct edition {
    std::uint64_t generation = 0;
    std::uint32_t checksum = 0;  // bits_checksum()
    friend bool operator==(const edition&, const edition&) = default;
};

struct filter_delta {
    posy::geometry geometry;
    std::optional<std::uint64_t> items{};  // of the filter after the change
    std::uint64_t base_generation = 0;     // the generation it changes
    std::uint32_t base_checksum = 0;       // of that generation's bits
    bit_array flips;                       // one bit where the two differ
    bool intersection = false;             // the filter after the change is one
};

// What turns `from` into `to`. The filters must have one geometry.
result<filter_delta> make_delta(const bloom_filter& from, const bloom_filter& to,
                                std::uint64_t base_generation = 0);

// filter := the filter after the change, planned for what it was. Refused, with nothing changed, unless the
// bits are those of the base.
result<void> apply(bloom_filter& filter, const filter_delta& delta);

}  // namespace posy
