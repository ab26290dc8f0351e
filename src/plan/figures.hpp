// The figures of a plan, each from the geometry that it proposes.
#pragma once

#include <cstdint>

#include "posy/geometry.hpp"

namespace posy::figures {

double rate(std::uint64_t items, const geometry&);  // expected, by the layout's own formula and the hash
double fill(std::uint64_t items, const geometry&);  // expected share of ones
// Expected share of the bits that change when a fraction of the items is replaced.
double delta_fill(std::uint64_t items, const geometry&, double fraction);

// Bits of the coded array, and of the coded difference. Both grow with the array at a given number of hashes,
// from all but full to all but empty.
double message(std::uint64_t items, const geometry&);
double delta(std::uint64_t items, const geometry&, double fraction);

// Array sizes are multiples of this.
std::uint64_t granule(unsigned hashes, layout_id);

// The largest number up to `most` that fits, where all up to some number do and none above it; 0 if none
// does.
template <class Fits>
std::uint64_t last_that(std::uint64_t most, Fits fits) {
    std::uint64_t good = 0, bad = most + 1;
    while (bad - good > 1) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good;
}

}  // namespace posy::figures
