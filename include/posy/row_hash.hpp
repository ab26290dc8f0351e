// One row of a sketch: a pairwise independent function from digests to [0, width).
//
// Pair-multiply-shift (Thorup 2015, after Dietzfelbinger 1996). Of the digest's 32-bit words x0 … x3,
//
//   h = ⌊((a0 + x1)(a1 + x0) + (a2 + x3)(a3 + x2) + b mod 2^64) / 2^32⌋,   index = ⌊h·width / 2^32⌋,
//
// with 64-bit a and b drawn from the seed for each row. For two different digests the values h are
// independent and uniform, which is all that Count-Min's guarantee asks for; they share an index with
// probability at most 1/width + 2^−32. Three multiplications of 64 bits, which vectors have, too. With
// 128-bit numbers the 2^−32 would be 2^−64, and a batch was measured to take twice as long.
//
// The draws: with SplitMix64's γ and mix, s = mix(mix("row hash" ^ seed.high + γ) ^ seed.low + γ), and a0 …
// a3, b of row r are mix(s + (5r + i + 1)γ), i = 0 … 4. A small value; calling it is const and thread-safe.
#pragma once

#include <cstdint>

#include "posy/digest.hpp"

namespace posy {

class row_hash {
  public:
    row_hash(hash_seed seed, unsigned row);

    // Precondition: width ≤ 2^32.
    std::uint64_t operator()(digest d, std::uint64_t width) const {
        const std::uint64_t sum = (a_[0] + (d.low >> 32)) * (a_[1] + (d.low & word)) +
                                  (a_[2] + (d.high >> 32)) * (a_[3] + (d.high & word)) + b_;
        return (sum >> 32) * width >> 32;
    }

  private:
    static constexpr std::uint64_t word = 0xffffffff;
    std::uint64_t a_[4], b_;
};

}  // namespace posy
