// How to run work that may use several cores and wide instructions. The result does not depend on it: every
// instruction set and every number of threads gives the same bytes.
#pragma once

#include "posy/base/instructions.hpp"
#include "posy/base/threads.hpp"

namespace posy::base {

struct how {
    unsigned threads = 1;
    instruction_set instructions = best_instruction_set();
};

}  // namespace posy::base
