// blocked: all bits of a key in one 512-bit line (Putze, Sanders and Singler 2007): one cache miss per
// lookup.
#pragma once

#include "layout/in_lines.hpp"

namespace posy::layouts {

class blocked : public in_lines<64, 1> {
  public:
    using in_lines::in_lines;
    static constexpr layout_id id = layout_id::blocked;
    static constexpr layout_id of_part = id;  // what a part is, taken alone
};

}  // namespace posy::layouts
