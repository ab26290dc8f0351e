// The planner of an intersection by filter (posy/theory/intersection.hpp): how large a filter to send, so
// that filter and false positives together take the fewest bits.
#pragma once

#include <cstdint>

namespace posy {

struct intersection_plan {
    std::uint64_t bits = 0;  // of the filter; 0: none is worth sending
    unsigned hashes = 0;
    double rate = 0;             // expected, of the classic layout
    double false_positives = 0;  // expected
    double total_bits = 0;       // expected: the filter, and the names of what it lets through
};

// For `mine` items here and `others` there, of which `common` are in both (0 if unknown); a name takes
// `name_bits`. The number of hashes is whole and the rate that of the classic layout, so the plan differs a
// little from the formula. Precondition: mine > 0.
intersection_plan plan_intersection(std::uint64_t mine, std::uint64_t others, double name_bits,
                                    std::uint64_t common = 0);

}  // namespace posy
