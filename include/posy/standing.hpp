// Where a filter stands: what it holds, compared with its plan.
//
// The number of insertions is exact but may count repeated keys; the bits depend on different keys only, but
// give just an estimate. So the number of insertions is used, unless it lies above the interval that the bits
// allow at a level of 99.9999 %: then keys were repeated, and the estimate is used.
#pragma once

#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

struct standing {
    double items = 0;          // different ones
    double expected_rate = 0;  // of false positives with that many, by the layout's formula
    bool past_plan = false;    // more than planned; if `items` is an estimate, the whole interval is above
};

// Nothing for an intersection, whose bits do not determine its number of items, nor for a full array with an
// unknown number of insertions. Costs a pass over the array.
std::optional<standing> standing_of(const bloom_filter&);

// Does the filter hold more than it was planned for? Takes no pass over the array if fewer items were
// inserted than planned.
bool past_plan(const bloom_filter&);

}  // namespace posy
