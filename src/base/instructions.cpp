#include "posy/base/instructions.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace posy::base {

bool has(instruction_set set) {
#if defined(__x86_64__)
    switch (set) {
        case instruction_set::scalar:
            return true;
        case instruction_set::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
                   __builtin_cpu_supports("bmi2");
        case instruction_set::avx512:
            return has(instruction_set::avx2) && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                   __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vpopcntdq");
    }
#endif
    return set == instruction_set::scalar;
}

std::vector<instruction_set> instruction_sets() {
    std::vector<instruction_set> sets;
    std::ranges::copy_if(members<instruction_set>, std::back_inserter(sets), has);
    return sets;
}

instruction_set best_instruction_set() {
    static const instruction_set best = [] {
        const char* asked = std::getenv("POSY_KERNEL");
        const auto sets = instruction_sets();
        for (const instruction_set set : sets)
            if (asked && name_of(set) == asked) return set;
        return sets.back();
    }();
    return best;
}

}  // namespace posy::base
