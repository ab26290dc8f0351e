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

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "posy/digest.hpp"

namespace posy::sketch {

class row_hash {
  public:
    // What a row draws: a0 … a3 and b.
    static constexpr std::size_t draws = 5;
    static std::array<std::uint64_t, draws> draw(hash_seed seed, unsigned row);

    explicit row_hash(std::span<const std::uint64_t, draws> drawn) {
        std::ranges::copy(drawn, drawn_.begin());
    }
    row_hash(hash_seed seed, unsigned row) : drawn_(draw(seed, row)) {}

    // Precondition: width ≤ 2^32.
    std::uint64_t operator()(digest d, std::uint64_t width) const {
        const auto& [a0, a1, a2, a3, b] = drawn_;
        const std::uint64_t sum =
            (a0 + (d.low >> 32)) * (a1 + (d.low & word)) + (a2 + (d.high >> 32)) * (a3 + (d.high & word)) + b;
        return (sum >> 32) * width >> 32;
    }

  private:
    static constexpr std::uint64_t word = 0xffffffff;
    std::array<std::uint64_t, draws> drawn_;
};

}  // namespace posy::sketch
