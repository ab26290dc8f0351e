// narrow: all bits of a key among 128, so that the 4-bit counters of a counting filter's key fill one cache
// line: insert, remove and test are one miss and a few SIMD instructions. The price is a higher rate: short
// lines are loaded less evenly. Without counters blocked is better at the same speed.
#pragma once

#include "layout/in_lines.hpp"

namespace posy::layouts {

class narrow : public in_lines<16, 1> {
  public:
    using in_lines::in_lines;
    static constexpr layout_id id = layout_id::narrow;
    static constexpr layout_id of_part = id;
};

}  // namespace posy::layouts
