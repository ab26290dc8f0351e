// How likely each byte is: the frequencies that the rANS coder works with, computed, never sent.
//
// The fast coder divides one unit into 4096 slots, so a byte rarer than about 1 in 2048 has no good share.
// Such bytes share one share, the escape: the coder writes the `marker` (a rare byte itself) in their place,
// and their true values go, in order, to a side stream whose shares are parts of 2^20. Nothing is lost: an
// escaped byte costs log2(1/P(escape)) + log2(P(escape)/P(byte)) bits, its ideal. Integers only, so that both
// ends agree.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace posy::codec {

inline constexpr unsigned slot_bits = 12;
inline constexpr std::uint32_t slots = 1u << slot_bits;
inline constexpr unsigned side_bits = 20;

struct byte_model {
    // In slots. An escaped byte has the escape's start and frequency. The frequencies of what is not escaped
    // and of the escape add up to 4096, none is below 2, and each has an exact reciprocal (see
    // reciprocal.hpp).
    std::array<std::uint16_t, 256> start{}, frequency{};
    std::array<bool, 256> escaped{};
    std::uint8_t marker = 255;
    // In parts of 2^20; frequency 0 for a byte that is not escaped or cannot occur.
    std::array<std::uint32_t, 256> side_start{}, side_frequency{};
    // When frequencies depend on the number of ones in a byte only and the bytes' starts ascend with (number
    // of ones, value): one frequency each for 0..8 ones, 0 for an escaped number. The SIMD kernels depend on
    // this.
    std::optional<std::array<std::uint16_t, 9>> by_ones;
};

// Bytes of independent bits, each set with probability ones/bits ≤ 1/2.
byte_model model_of_density(std::uint64_t ones, std::uint64_t bits);

// Bytes in proportion to the weights, whose sum is below 2^63 and not 0. Of weight 0: cannot occur.
byte_model model_of_weights(const std::array<std::uint64_t, 256>& weights);

}  // namespace posy::codec
