// A seed as text, as `posy info` shows it: decimal, or 0x… if it has more than 64 bits.
#pragma once

#include <string>

#include "posy/digest.hpp"

namespace posy::hash {

inline std::string text_of(hash_seed seed) {
    if (seed.high == 0) return std::to_string(seed.low);
    std::string digits;
    const auto put = [&](std::uint64_t half) {
        for (int shift = 60; shift >= 0; shift -= 4)
            if (const auto digit = half >> shift & 15; digit != 0 || !digits.empty())
                digits.push_back("0123456789abcdef"[digit]);
    };
    put(seed.high);
    put(seed.low);
    return "0x" + digits;
}

}  // namespace posy::hash
