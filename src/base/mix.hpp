// SplitMix64's output function (Steele, Lea and Flood 2014): a bijection whose every output bit depends on
// every input bit.
#pragma once

#include <cstdint>

namespace posy::base {

constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// The numbers of its generator by their index, so that a table of them need not be kept.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t index) {
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace posy::base
