// Where a filter stands: what is in it, beside what it was planned for.
//
// Insertions are counted exactly but may repeat keys; the bits know only different keys, but not exactly. So
// the number inserted is taken for the number of different items, unless it lies above the interval that the
// bits allow at a level of 99.9999 %: then keys were repeated, and the bits' estimate is taken.
#pragma once

#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

struct standing {
    double items = 0;          // different ones
    double expected_rate = 0;  // of false positives with so many, by the layout's formula
    bool past_plan = false;    // more than were planned; where `items` is an estimate, the interval is above
};

// Nothing of an intersection, whose number of items its bits do not tell; nor of an array without a zero when
// nobody counted. Costs a pass over the array.
std::optional<standing> standing_of(const bloom_filter&);

// Has the filter been filled past its plan? No pass over the array while fewer were inserted than planned.
bool past_plan(const bloom_filter&);

}  // namespace posy
