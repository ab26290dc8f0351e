// One key at a time in a counting filter, inlined into the caller with whatever instructions it is compiled
// for, where the counters of a key are one cache line: layout narrow, 8 hashes, counters of 4 bits. So each
// of the eight words of the line has one counter of the key.
//
// Counters up to 7 are handled here, which are all but one in millions; a line where the key meets a higher
// one is left to the kernels. So few instructions depend on the line that a processor can begin with several
// further keys while it waits for the memory of one.
#pragma once

#include "posy/layout/inlined.hpp"

namespace posy::layouts {

// Without instructions that shift the words of a vector by different amounts the kernels, which choose at run
// time, are faster.
#if defined(__AVX2__) || defined(__ARM_NEON)
constexpr bool shifts_words = true;
#else
constexpr bool shifts_words = false;
#endif

class inlined_counters {
  public:
    explicit inlined_counters(const geometry& g) : lines_(g.bits / line_bits<16>::bits) {}
    static bool fits(const geometry& g, unsigned counter_bits) {
        return g.layout == layout_id::narrow && g.hashes == 8 && counter_bits == 4;
    }

    // False if nothing was done: a counter is too high.
    bool insert(std::uint64_t* counters, std::uint64_t* projection, digest d) const {
        const std::uint64_t at = base::scale(d.low, lines_);
        auto& line = reinterpret_cast<lanes64*>(counters)[at];
        lanes64 units;
        units_of(d, units);
        if (!covers(lanes64{}, line & units << 3)) [[unlikely]]
            return false;
        line += units;
        lanes16 bits;
        kernels::one_bit_a_word(d.high, bits);
        reinterpret_cast<lanes16*>(projection)[at] |= bits;
        return true;
    }
    // The same if a counter is 0.
    bool remove(std::uint64_t* counters, std::uint64_t* projection, digest d) const {
        const std::uint64_t at = base::scale(d.low, lines_);
        auto& line = reinterpret_cast<lanes64*>(counters)[at];
        lanes64 units;
        units_of(d, units);
        const lanes64 without = line - units;  // 0 becomes 15
        if (!covers(lanes64{}, (line | without) & units << 3)) [[unlikely]]
            return false;
        line = without;
        lanes16 bits;
        kernels::one_bit_a_word(d.high, bits);
        kernels::keep(words_at_0(without & ((units << 4) - units)), bits);
        reinterpret_cast<lanes16*>(projection)[at] &= ~bits;
        return true;
    }

  private:
    using lanes64 = kernels::lanes64;
    using lanes16 = kernels::lanes16;

    // A one in the place of each counter.
    static void units_of(digest d, lanes64& units) {
        constexpr lanes64 one{1, 1, 1, 1, 1, 1, 1, 1}, shifts{0, 4, 8, 12, 16, 20, 24, 28};
        units = one << (((d.high - lanes64{}) >> shifts & 15) << 2);
    }
    // One bit per word.
    static unsigned words_at_0(const lanes64& words) {
#if defined(__AVX512F__)
        const auto all = reinterpret_cast<__m512i>(words);
        return _mm512_testn_epi64_mask(all, all);
#elif defined(__AVX2__)
        __m256i half[2];
        __builtin_memcpy(half, &words, sizeof half);
        const auto zeros = [](__m256i of) {
            return static_cast<unsigned>(
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(of, _mm256_setzero_si256()))));
        };
        return zeros(half[0]) | zeros(half[1]) << 4;
#else
        unsigned zeros = 0;
        for (unsigned w = 0; w < 8; ++w) zeros |= static_cast<unsigned>(words[w] == 0) << w;
        return zeros;
#endif
    }

    base::apart64 lines_;
};

}  // namespace posy::layouts
