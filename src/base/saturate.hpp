// Sums that stop at the largest value of their type, for counts that must never wrap.
#pragma once

#include <concepts>
#include <limits>

namespace posy {

template <std::unsigned_integral Count>
constexpr Count saturating_sum(Count a, Count b) {
    const auto sum = static_cast<Count>(a + b);
    return sum < b ? std::numeric_limits<Count>::max() : sum;
}

}  // namespace posy
