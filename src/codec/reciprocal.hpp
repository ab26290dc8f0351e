// Division by a frequency as a multiplication: ⌊x/f⌋ = (x · multiplier) >> (32 + shift), exactly, for every
// x < f · 2^20, which is what an rANS state is when it is divided.
//
// With 2^shift < f ≤ 2^(shift+1) and multiplier = ⌈2^(32+shift)/f⌉, the product is too large by x·e, where e
// = multiplier·f − 2^(32+shift) < f; the quotient is exact as long as x·e < 2^(32+shift) (Granlund &
// Montgomery 1994), that is e·f ≤ 2^(12+shift). That holds for every f ≤ 2048 and for about half of those
// above. At most one symbol is that frequent, and the models pick a neighbour for it: that is cheaper than a
// step in every division.
#pragma once

#include <bit>
#include <cstdint>

namespace posy::codec {

struct reciprocal {
    std::uint32_t multiplier;
    std::uint32_t shift;
};

// Precondition: 2 ≤ f < 4096.
constexpr reciprocal reciprocal_of(std::uint32_t f) {
    const auto shift = static_cast<std::uint32_t>(std::bit_width(f - 1) - 1);
    return {static_cast<std::uint32_t>(((std::uint64_t{1} << (32 + shift)) + f - 1) / f), shift};
}

constexpr bool has_exact_reciprocal(std::uint32_t f) {
    if (f < 2 || f >= 4096) return false;
    const auto [multiplier, shift] = reciprocal_of(f);
    const std::uint64_t excess = std::uint64_t{multiplier} * f - (std::uint64_t{1} << (32 + shift));
    return excess * f <= std::uint64_t{1} << (12 + shift);
}

}  // namespace posy::codec
