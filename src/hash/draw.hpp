// Random numbers from a seed, by index: SplitMix64 (Steele, Lea and Flood 2014), so multipliers need no
// table.
#pragma once

#include <cstdint>

namespace posy::hash {

inline std::uint64_t draw(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace posy::hash
