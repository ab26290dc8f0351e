// Whole arrays, word by word: combined and counted in one pass over memory, by the best instructions.
#pragma once

#include <cstdint>
#include <span>

#include "posy/base/instructions.hpp"

namespace posy::bits {

using base::best_instruction_set;
using base::instruction_set;

enum class operation { unite, intersect, exclude };  // or, and, exclusive or

std::uint64_t count_ones(std::span<const std::uint64_t> words, instruction_set = best_instruction_set());
// The ones of a ∘ b, which is not kept.
std::uint64_t count_ones_of(operation, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                            instruction_set = best_instruction_set());
// into := into ∘ from; returns its ones.
std::uint64_t combine(operation, std::span<std::uint64_t> into, std::span<const std::uint64_t> from,
                      instruction_set = best_instruction_set());

}  // namespace posy::bits
