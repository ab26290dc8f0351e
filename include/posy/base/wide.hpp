// Products of 128 bits, and a word apart.
#pragma once

#include <cstdint>

namespace posy::base {

__extension__ typedef unsigned __int128 u128;  // NOLINT(modernize-use-using): -Wpedantic wants the mark

// 64 uniform bits → uniform in [0, range): the high half of a product (Lemire 2019). The bias is at most
// range / 2^64, below 2^-24 for the largest array. The high bits decide, so ⌊index / d⌋ is the index in
// [0, range / d): that is what makes a folded filter the same as one built at the smaller size.
inline std::uint64_t scale(std::uint64_t random, std::uint64_t range) {
    return static_cast<std::uint64_t>(u128{random} * range >> 64);
}

// 64 bits of another type than the words of an array where there are two such types: a compiler knows then
// that writing to the array leaves them alone, and a loop keeps them in registers.
using apart64 = unsigned long long;

}  // namespace posy::base
