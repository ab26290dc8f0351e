// What an array of bits takes in memory: large ones are made of huge pages.
#pragma once

#include <cstdint>

namespace posy::bits {

inline constexpr std::uint64_t huge_page = 2 << 20;

// Bytes of an array that is made, not mapped. Precondition: at most 2^50 bits.
constexpr std::uint64_t array_memory(std::uint64_t array_bits) {
    const std::uint64_t bytes = (array_bits + 63) / 64 * 8;
    return bytes < 2 * huge_page ? bytes : (bytes + huge_page - 1) / huge_page * huge_page;
}

}  // namespace posy::bits
