// Options and plans, in C's structs and in the library's.
#pragma once

#include "call.hpp"
#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"

namespace posy::c {

// An array, and what it is planned for.
struct planned_array {
    posy::geometry geometry;
    std::optional<promise> planned;
};

// Of options with bits.
planned_array array_of(const posy_filter_options&, const std::optional<hasher>&);

posy_filter_info info_of(const bloom_filter&);

}  // namespace posy::c
