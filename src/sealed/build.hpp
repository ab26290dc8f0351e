// From digests to the payload of a sealed set.
#pragma once

#include <cstdint>
#include <span>

#include "posy/bit_array.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy::sealed {

struct built {
    bit_array memory;        // begins with the payload
    std::uint64_t size = 0;  // of the payload, in bytes

    byte_view bytes() const { return std::as_bytes(memory.words()).first(size); }
};

// A set: `values` empty and value_bits 0. A map: one value per digest. An error when the memory cannot be
// allocated, when a number is outside its limits, or when one digest has two values.
result<built> build(std::span<const digest> digests, std::span<const std::uint64_t> values,
                    unsigned value_bits, double rate, unsigned threads);

}  // namespace posy::sealed
