// The counters of a word, all at once: 16 of 4 bits or 8 of 8 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace posy::bits {

// A bit for each counter of the word, the lowest first: is it above 0? A few steps per word, so that a pass
// over a whole array, as a reader makes, runs at the speed of memory.
constexpr std::uint64_t cells_above_0(std::uint64_t word, unsigned width) {
    if (width == 8) {
        constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
        const std::uint64_t tops = (((word & low) + low) | word) & ~low;
        return tops * 0x0002040810204081 >> 56;  // bit 8i + 7 goes to 56 + i, and no two sums meet
    }
    std::uint64_t ones = (word | word >> 1 | word >> 2 | word >> 3) & 0x1111111111111111;
    ones = (ones | ones >> 3) & 0x0303030303030303;
    ones = (ones | ones >> 6) & 0x000f000f000f000f;
    ones = (ones | ones >> 12) & 0x000000ff000000ff;
    return (ones | ones >> 24) & 0xffff;
}

// How many counters of the word are at their largest value.
constexpr unsigned cells_full(std::uint64_t word, unsigned width) {
    return 64 / width - static_cast<unsigned>(std::popcount(cells_above_0(~word, width)));
}

// Calls use(i, word) for the words that are not 0. A stretch of zeros is passed over at the speed of memory.
template <class Use>
void each_word_above_0(std::span<const std::uint64_t> words, Use use) {
    constexpr std::size_t stretch = 16;
    for (std::size_t from = 0; from < words.size(); from += stretch) {
        const auto here = words.subspan(from, std::min(stretch, words.size() - from));
        std::uint64_t any = 0;
        for (const std::uint64_t word : here) any |= word;
        if (any == 0) continue;
        for (std::size_t i = 0; i < here.size(); ++i)
            if (here[i] != 0) use(from + i, here[i]);
    }
}

}  // namespace posy::bits
