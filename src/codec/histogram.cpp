#include "histogram.hpp"

#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#ifndef __clang__  // GCC 12 warns about its own intrinsics (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

namespace posy::codec {

// Four tables take turns, because equal bytes in a row would wait for each other.
histogram count_bytes(std::span<const std::uint64_t> words, std::uint64_t size) {
    std::array<std::array<std::uint32_t, 256>, 4> tables{};
    histogram all{};
    const auto add_up = [&] {
        for (auto& table : tables)
            for (unsigned b = 0; b < 256; ++b) all[b] += std::exchange(table[b], 0);
    };
    for (std::uint64_t i = 0; i < size / 8; ++i) {
        for (unsigned b = 0; b < 8; ++b) ++tables[b % 4][words[i] >> 8 * b & 255];
        if (i % (1 << 28) == 0) add_up();
    }
    for (std::uint64_t i = size / 8 * 8; i < size; ++i) ++tables[0][words[i / 8] >> i % 8 * 8 & 255];
    add_up();
    return all;
}

namespace {

#if defined(__x86_64__)
// With the four bits of each nibble as planes, the number of nibbles that have all bits of a set is one AND
// and one population count; from the numbers of all 16 sets follows the histogram, by taking away, bit by
// bit, those that have the bit from those that may. Nibbles of 8 and more are rare in a filter, and where
// there are none, half the sets need no counting. (Eight times as fast as the tables.)
__attribute__((target("avx512f,avx512bw,avx512vpopcntdq"))) std::array<std::uint64_t, 16>
count_nibbles_avx512(std::span<const std::uint64_t> words) {
    const __m512i ones = _mm512_set1_epi8(0x11);
    __m512i with[16];  // [set]: how many have all its bits
    for (__m512i& sum : with) sum = _mm512_setzero_si512();
    std::size_t i = 0;
    for (; i < words.size(); i += 8) {
        const std::size_t left = words.size() - i;
        const auto there = static_cast<__mmask8>(left >= 8 ? 0xff : (1u << left) - 1);
        const __m512i block = _mm512_maskz_loadu_epi64(there, words.data() + i);
        __m512i set[16];
        const auto count = [&](unsigned s) __attribute__((target("avx512f,avx512bw,avx512vpopcntdq"))) {
            with[s] = _mm512_add_epi64(with[s], _mm512_popcnt_epi64(set[s]));
        };
        set[1] = _mm512_and_si512(block, ones);
        set[2] = _mm512_and_si512(_mm512_srli_epi64(block, 1), ones);
        set[4] = _mm512_and_si512(_mm512_srli_epi64(block, 2), ones);
        set[8] = _mm512_and_si512(_mm512_srli_epi64(block, 3), ones);
        set[3] = _mm512_and_si512(set[1], set[2]);
        for (unsigned s = 5; s < 8; ++s) set[s] = _mm512_and_si512(set[s - 4], set[4]);
        for (unsigned s = 1; s < 8; ++s) count(s);
        if (_mm512_test_epi64_mask(set[8], set[8]) == 0) continue;
        count(8);
        for (unsigned s = 9; s < 16; ++s) {
            set[s] = _mm512_and_si512(set[s - 8], set[8]);
            count(s);
        }
    }
    std::array<std::uint64_t, 16> values{16 * words.size()};
    for (unsigned s = 1; s < 16; ++s)
        values[s] = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(with[s]));
    for (const unsigned bit : {1u, 2u, 4u, 8u})
        for (unsigned s = 0; s < 16; ++s)
            if (!(s & bit)) values[s] -= values[s | bit];
    return values;
}
#endif

}  // namespace

std::array<std::uint64_t, 16> count_nibbles([[maybe_unused]] base::instruction_set set,
                                            std::span<const std::uint64_t> words) {
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) return count_nibbles_avx512(words);
#endif
    const histogram bytes = count_bytes(words, 8 * words.size());
    std::array<std::uint64_t, 16> values{};
    for (unsigned b = 0; b < 256; ++b) {
        values[b % 16] += bytes[b];
        values[b / 16] += bytes[b];
    }
    return values;
}

}  // namespace posy::codec
