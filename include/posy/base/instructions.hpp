// Which instructions to use. Results do not depend on it: every kernel gives the same bits as the scalar one.
//
// Kernels are compiled by function-level targets, so users need no compiler flags, and chosen once, at run
// time. To add a set (NEON, say): name it here, and give the tables of kernels a column for it.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/base/names.hpp"

namespace posy::base {

enum class instruction_set : std::uint8_t { scalar, avx2, avx512 };
constexpr std::string_view name_of(instruction_set member) {
    switch (member) {
        case instruction_set::scalar:
            return "scalar";
        case instruction_set::avx2:
            return "avx2";
        case instruction_set::avx512:
            return "avx512";
    }
    return {};
}

// The best that this machine has, or the one that the environment variable POSY_KERNEL (scalar, avx2, avx512)
// names, if the machine has it. Looked up once.
instruction_set best_instruction_set();
bool has(instruction_set);
// All that this machine has, scalar first.
std::vector<instruction_set> instruction_sets();

}  // namespace posy::base
