// What a filter records besides its bits: what went into it, and what it was planned for. It is stored in the
// header of the filter's message, and operations change it by these rules:
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

// What a filter was planned for: a number of different items, and the false-positive rate expected with them.
struct promise {
    std::uint64_t items = 0;
    double rate = 0;

    // Can a message carry it?
    bool valid() const { return items > 0 && rate <= 1 && rate >= 0 && !std::signbit(rate); }
    friend bool operator==(const promise&, const promise&) = default;
};

struct provenance {
    // Insertions, repeated keys counted again; nothing when unknown.
    std::optional<std::uint64_t> items{};
    // The bits, or some of them, are the AND of filters. Such an array has the bits of the common keys and
    // more, so it gives only an upper bound for the number of items. `items` is then nothing.
    bool intersection = false;
    std::optional<promise> planned{};

    friend bool operator==(const provenance&, const provenance&) = default;
};

}  // namespace posy
