// How to run a codec: on how many cores and with which instructions. Never what comes out: every instruction
// set and every number of threads gives the same bytes.
#pragma once

#include "base/instructions.hpp"
#include "base/threads.hpp"

namespace posy::codec {

using base::best_instruction_set;
using base::for_each_index;
using base::instruction_set;

struct how {
    unsigned threads = 1;
    instruction_set instructions = best_instruction_set();
};

}  // namespace posy::codec
