// paired: half of a key's bits in a 512-bit line of the array's lower half, half of them in one of its upper
// half: two cache misses, and nearly the rate of the classic filter, because a key falls to an overloaded
// line only with half of its bits. k is even; a half is a blocked filter of its own.
#pragma once

#include "layout/in_lines.hpp"

namespace posy::layouts {

class paired : public in_lines<64, 2> {
  public:
    using in_lines::in_lines;
    static constexpr layout_id id = layout_id::paired;
    static constexpr layout_id of_part = layout_id::blocked;
};

}  // namespace posy::layouts
