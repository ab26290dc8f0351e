// How often each value occurs in an array of bytes or of nibbles.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/how.hpp"

namespace posy::codec {

using histogram = std::array<std::uint64_t, 256>;

// Of the first `size` bytes, low first.
histogram count_bytes(std::span<const std::uint64_t> words, std::uint64_t size);

// Of all nibbles of the words.
std::array<std::uint64_t, 16> count_nibbles(base::instruction_set, std::span<const std::uint64_t> words);

}  // namespace posy::codec
