// rANS by table with AVX-512: 16 states per vector, four vectors; table entries are gathered. For models that
// rans_by_ones_avx512.cpp does not support.
#if defined(__x86_64__)
#include <immintrin.h>

#include "rans_kernels.hpp"
#include "word_moves.hpp"

#ifndef __clang__  // GCC 12 warns about its own intrinsics (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define POSY_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))

namespace posy::codec {

POSY_AVX512 void encode_avx512(const rans_tables& tables, const std::uint8_t* bytes, std::size_t blocks,
                               std::uint32_t* states, std::byte*& cursor) {
    const __m512i low_words = _mm512_load_si512(&word_indices.low_words), twelve = _mm512_set1_epi32(0xfff);
    __m512i x[4];
    for (unsigned v = 0; v < 4; ++v) x[v] = _mm512_loadu_si512(states + 16 * v);
    std::byte* to = cursor;

    const auto one = [&](__m512i& state, __m512i byte, __m512i& written) POSY_AVX512 {
        const __m512i by = _mm512_i32gather_epi32(byte, tables.multiplier.data(), 4);
        const __m512i step = _mm512_i32gather_epi32(byte, tables.step.data(), 4);
        const __m512i rest = _mm512_and_si512(_mm512_srli_epi32(step, 12), twelve);  // 4096 − f
        // x ≥ f·2^20, where f·2^20 is −rest·2^20 in 32 bits.
        const __m512i limit = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(rest, 20));
        const __mmask16 full = _mm512_cmpge_epu32_mask(state, limit);
        written = state;
        state = _mm512_mask_srli_epi32(state, full, state, 16);
        const __m512i even = _mm512_mul_epu32(state, by);
        const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(state, 32), _mm512_srli_epi64(by, 32));
        const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xf5));
        const __m512i quotient = _mm512_srlv_epi32(high, _mm512_srli_epi32(step, 24));
        state = _mm512_add_epi32(_mm512_add_epi32(state, _mm512_and_si512(step, twelve)),
                                 _mm512_mullo_epi32(quotient, rest));
        return full;
    };
    const auto row = [&](__m512i& a, __m512i& b, __m512i byte_a, __m512i byte_b) POSY_AVX512 {
        __m512i written_a, written_b;
        const __mmask32 full_b = one(b, byte_b, written_b);
        const __mmask32 full_a = one(a, byte_a, written_a);
        put_words_below(to, _mm512_kunpackw(full_b, full_a),
                        _mm512_permutex2var_epi16(written_a, low_words, written_b));
    };

    const __m512i low_byte = _mm512_set1_epi32(0xff);
    for (std::size_t block = blocks; block-- > 0;) {
        __m512i pair[4];
        for (unsigned v = 0; v < 4; ++v)
            pair[v] = _mm512_cvtepu16_epi32(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 128 * block + 32 * v)));
        for (unsigned v = 4; v > 0; v -= 2)
            row(x[v - 2], x[v - 1], _mm512_srli_epi32(pair[v - 2], 8), _mm512_srli_epi32(pair[v - 1], 8));
        for (unsigned v = 4; v > 0; v -= 2)
            row(x[v - 2], x[v - 1], _mm512_and_si512(pair[v - 2], low_byte),
                _mm512_and_si512(pair[v - 1], low_byte));
    }
    for (unsigned v = 0; v < 4; ++v) _mm512_storeu_si512(states + 16 * v, x[v]);
    cursor = to;
}

POSY_AVX512 std::size_t decode_avx512(const rans_tables& tables, std::uint8_t* bytes, std::size_t blocks,
                                      std::uint32_t* states, const std::byte*& cursor, const std::byte* end) {
    const __m512i twelve = _mm512_set1_epi32(0xfff), floor = _mm512_set1_epi32(state_floor);
    __m512i x[4];
    for (unsigned v = 0; v < 4; ++v) x[v] = _mm512_loadu_si512(states + 16 * v);
    const std::byte* from = cursor;

    const auto row = [&](__m512i& state) POSY_AVX512 {
        const __m512i owner = _mm512_i32gather_epi32(_mm512_and_si512(state, twelve), tables.owner.data(), 4);
        state = _mm512_add_epi32(
            _mm512_mullo_epi32(_mm512_and_si512(owner, twelve), _mm512_srli_epi32(state, slot_bits)),
            _mm512_and_si512(_mm512_srli_epi32(owner, 12), twelve));
        const __mmask16 low = _mm512_cmplt_epu32_mask(state, floor);
        const __m512i words =
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
        state = _mm512_mask_or_epi32(state, low, _mm512_slli_epi32(state, 16),
                                     _mm512_maskz_expand_epi32(low, words));
        from += 2 * _mm_popcnt_u32(low);
        return _mm512_srli_epi32(owner, 24);
    };
    std::size_t block = 0;
    for (; block < blocks && end - from >= 4 * 64; ++block) {
        __m512i even[4];
        for (unsigned v = 0; v < 4; ++v) even[v] = row(x[v]);
        for (unsigned v = 0; v < 4; ++v) {
            const __m512i pair = _mm512_or_si512(even[v], _mm512_slli_epi32(row(x[v]), 8));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes + 128 * block + 32 * v),
                                _mm512_cvtepi32_epi16(pair));
        }
    }
    for (unsigned v = 0; v < 4; ++v) _mm512_storeu_si512(states + 16 * v, x[v]);
    cursor = from;
    return block;
}

}  // namespace posy::codec
#endif
