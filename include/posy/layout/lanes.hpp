// A line of eight words as a vector, whatever registers it takes: the compilers' vector types split it over
// one, two or four of them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace posy::kernels {

typedef std::uint64_t lanes64 __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)
typedef std::uint32_t lanes32 __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
typedef std::uint16_t lanes16 __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
typedef std::uint64_t pair64 __attribute__((vector_size(16)));   // NOLINT(modernize-use-using)

// The vector type of a line with this many bits.
template <unsigned Bits>
using lanes_of = std::conditional_t<Bits == 512, lanes64, lanes16>;

}  // namespace posy::kernels
