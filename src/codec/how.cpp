#include "how.hpp"

#include <cstdlib>
#include <string_view>

namespace posy::codec {

bool has(instruction_set set) {
#if defined(__x86_64__)
    switch (set) {
        case instruction_set::scalar:
            return true;
        case instruction_set::avx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
        case instruction_set::avx512:
            return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
                   __builtin_cpu_supports("avx512vpopcntdq");
    }
#endif
    return set == instruction_set::scalar;
}

const char* name_of(instruction_set set) {
    switch (set) {
        case instruction_set::avx2:
            return "avx2";
        case instruction_set::avx512:
            return "avx512";
        default:
            return "scalar";
    }
}

instruction_set best_instruction_set() {
    static const instruction_set best = [] {
        using enum instruction_set;
        const char* asked = std::getenv("POSY_KERNEL");
        for (const instruction_set set : {avx512, avx2, scalar})
            if (has(set) && (!asked || std::string_view(asked) == name_of(set))) return set;
        return scalar;
    }();
    return best;
}

}  // namespace posy::codec
