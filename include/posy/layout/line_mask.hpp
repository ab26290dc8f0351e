// The mask of a key in its line, for code of any instruction set. The kernels say before they include this:
//
//   POSY_INLINE          the attributes of a function that is inlined into code of the set
//   POSY_INSTRUCTIONS    a name for the set: its functions are others than those of the same name elsewhere
//
// A program that inlines lookups says nothing and gets what it is compiled for.
#pragma once

#include <cstdint>

#include "posy/digest.hpp"
#include "posy/layout/lanes.hpp"
#include "posy/layout/line_bits.hpp"

#ifndef POSY_INLINE
#define POSY_INLINE __attribute__((always_inline))
#define POSY_INSTRUCTIONS of_caller
#endif

namespace posy::kernels {
inline namespace POSY_INSTRUCTIONS {

// One bit in every word, from the bits of `source`.
POSY_INLINE inline void one_bit_a_word(std::uint64_t source, lanes64& mask) {
    constexpr lanes64 one{1, 1, 1, 1, 1, 1, 1, 1}, shifts{0, 6, 12, 18, 24, 30, 36, 42};
    mask = one << ((source - lanes64{}) >> shifts & 63);
}
POSY_INLINE inline void one_bit_a_word(std::uint64_t source, lanes16& mask) {
    constexpr lanes32 one{1, 1, 1, 1, 1, 1, 1, 1}, shifts{0, 4, 8, 12, 16, 20, 24, 28};
    const lanes32 wide = one << ((static_cast<std::uint32_t>(source) - lanes32{}) >> shifts & 15);
    mask = __builtin_convertvector(wide, lanes16);
}

// Clears the words that are not in the subset.
template <class Lanes>
POSY_INLINE inline void keep(unsigned subset, Lanes& mask) {
    constexpr Lanes word{1, 2, 4, 8, 16, 32, 64, 128};
    const Lanes all = static_cast<std::uint8_t>(subset) - Lanes{};
    mask &= reinterpret_cast<Lanes>((all & word) != 0);
}

template <class Lanes>
constexpr unsigned word_bits = sizeof(Lanes);  // eight words, eight bits per byte

// The mask of a digest in its line.
template <class Lanes, unsigned Full, bool Partial>
struct mask_maker {
    using layout = layouts::line_bits<word_bits<Lanes>>;
    unsigned choices, first;  // of the subsets

    explicit mask_maker(unsigned hashes)
        : choices(layout::choose[hashes % 8]), first(layout::first[hashes % 8]) {}

    POSY_INLINE void operator()(digest d, Lanes& mask) const {
        one_bit_a_word(d.high, mask);
        const unsigned subset = layout::subsets[first + ((d.high >> 48) * choices >> 16)];
        if constexpr (Full + Partial == 2) {
            Lanes more;
            one_bit_a_word(layout::second_source(d.low), more);
            if constexpr (Partial) keep(subset, more);
            mask |= more;
        } else if constexpr (Partial) {
            keep(subset, mask);
        }
    }
};

}  // namespace POSY_INSTRUCTIONS
}  // namespace posy::kernels
