// The two inner loops of a sealed set, in three instruction sets that give the same bits.
//
// Both are parities of masked words, one per column: AVX-512 counts the ones of eight columns at once, the
// avx2 set has an instruction for one column, and the scalar set folds the word.
#pragma once

#include <cstdint>

#include "base/how.hpp"
#include "posy/bytes.hpp"

namespace posy::sealed {

struct kernels {
    // What a window adds up to: bit j of the answer is the parity of
    //     (word j at `first` & low) ^ (word j at `second` & high)
    // The words are little-endian and need no alignment. Precondition: columns <= 64.
    using adder = std::uint64_t(const std::byte* first, const std::byte* second, std::uint64_t low,
                                std::uint64_t high, unsigned columns);
    adder* add;

    // Solves the 64 unknowns of a block, last first. `coefficients` are those of the row whose first unknown
    // is i, bit 0 its own; a zero row leaves the unknown 0. Row i equals rhs_words words at rhs[i·rhs_words],
    // column j its bit j. states[j] has the next 64 unknowns of column j on entry and this block's on return.
    using substituter = void(const std::uint64_t* coefficients, const std::uint64_t* rhs, unsigned rhs_words,
                             unsigned columns, std::uint64_t* states);
    substituter* substitute;

    static kernels of(base::instruction_set);
};

#if defined(__x86_64__)
kernels::adder add_avx512;
kernels::substituter substitute_avx512;
#endif

}  // namespace posy::sealed
