// narrow: all bits of a key among 128, so that the 4-bit counters of a counting filter's key fill one cache
// line: insert, remove and test are one miss and a few SIMD instructions. The price is the rate: short lines
// are loaded less evenly. Without counters blocked is better at the same speed.
//
//   line = ⌊low · lines / 2^64⌋, and in it the positions of layout/dealt_line.hpp, in words of 16 bits
#pragma once

#include "layout/blocked.hpp"

namespace posy::layouts {

class narrow : public one_line<16> {
  public:
    using one_line::one_line;
    static constexpr layout_id id = layout_id::narrow;
    static constexpr std::string_view name = "narrow";
};

}  // namespace posy::layouts
