// How the bits of a filter are coded when they travel.
#pragma once

#include <cstdint>
#include <string_view>
#include "posy/base/names.hpp"

namespace posy {

// The numbers are on the wire.
enum class codec_id : std::uint8_t {
    raw = 0,       // as it lies in memory: larger, and queried where it lies
    adaptive = 1,  // the paper's coder
    range = 2,     // the smallest for small arrays
    bytes = 3,     // fast: two gigabytes per second and core, within 0.02 % of the bound
    gaps = 4,      // sparse arrays: deltas, one hash
    counters = 5,  // of a counting filter
};

constexpr std::string_view name_of(codec_id member) {
    switch (member) {
        case codec_id::raw:
            return "raw";
        case codec_id::adaptive:
            return "adaptive";
        case codec_id::range:
            return "range";
        case codec_id::bytes:
            return "bytes";
        case codec_id::gaps:
            return "gaps";
        case codec_id::counters:
            return "counters";
    }
    return {};
}

// What a sender cares about. `smallest` takes the time that a few bytes are worth: bit by bit up to a
// quarter of a megabyte of array, the fast coders above. None of them ever sends more than raw would.
enum class coding { raw, smallest, fastest };

}  // namespace posy
