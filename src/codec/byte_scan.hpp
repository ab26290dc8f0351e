// Four passes over bytes: take the escaped ones out, count markers, put the escaped ones back, count ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/how.hpp"

namespace posy::codec {

// Copies the bytes for which `which` is true to `to`, in order, and says how many. `to` has room for all and
// 64 more.
std::size_t collect(base::instruction_set, std::span<const std::uint8_t> bytes,
                    const std::array<bool, 256>& which, std::uint8_t* to);

std::size_t count_equal(base::instruction_set, std::span<const std::uint8_t> bytes, std::uint8_t value);

// Replaces the bytes that are `value` by those at `from`, in order. 64 bytes after the last may be read.
void replace_equal(base::instruction_set, std::span<std::uint8_t> bytes, std::uint8_t value,
                   const std::uint8_t* from);

}  // namespace posy::codec
