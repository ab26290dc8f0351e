// What a filter knows of itself beside its bits: what went into it, and what it was planned for. It travels
// in the header of its message and is kept, or follows by the rules below, wherever the filter goes.
//
// - Inserted into: items grow; the plan stays.
// - United: items add up; an intersection on either side makes the whole one; of two plans the one for more
//   items stays.
// - Intersected: items are no longer known; of two plans the one for more items stays.
// - Folded: items stay; the plan stays for its items, with the rate that they have in the smaller array.
// - A delta applied: items are those of the new generation; the plan stays.
// - Cleared: no items; the plan stays.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace posy {

// What a filter was planned for: so many different items, and the false-positive rate expected of them.
struct promise {
    std::uint64_t items = 0;
    double rate = 0;

    // Can a message carry it?
    bool valid() const { return items > 0 && rate <= 1 && rate >= 0 && !std::signbit(rate); }
    friend bool operator==(const promise&, const promise&) = default;
};

struct provenance {
    // Insertions, repeated keys counted again; nothing when nobody knows.
    std::optional<std::uint64_t> items{};
    // The bits, or some of them, are the AND of filters. That has the bits of the common keys and more, so
    // the bits tell how many items there are at most, and no longer how many there are. Then `items` is
    // nothing.
    bool intersection = false;
    std::optional<promise> planned{};

    friend bool operator==(const provenance&, const provenance&) = default;
};

}  // namespace posy
