// rANS by table with AVX2: 8 states per vector, eight vectors. What AVX-512 does with compress and expand is
// a permutation here, from two tables of 256 rows.
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>

#include "rans_kernels.hpp"

#define POSY_AVX2 __attribute__((target("avx2,popcnt")))

namespace posy::codec {
namespace {

struct lane_moves {
    alignas(64) std::array<std::array<std::uint8_t, 8>,
                           256> expand{};  // [mask][lane]: which of the words is the lane's
    alignas(64)
        std::array<std::array<std::uint8_t, 8>, 256> right{};  // [mask][8 − n..7]: the n lanes of the mask

    constexpr lane_moves() {
        for (unsigned mask = 0; mask < 256; ++mask) {
            std::uint8_t count = 0;
            for (unsigned lane = 0; lane < 8; ++lane)
                expand[mask][lane] = mask >> lane & 1 ? count++ : std::uint8_t{0};
            for (unsigned lane = 8, at = 8; lane-- > 0;)
                if (mask >> lane & 1) right[mask][--at] = static_cast<std::uint8_t>(lane);
        }
    }
};
constexpr lane_moves moves;

POSY_AVX2 inline __m256i row_of(const std::array<std::uint8_t, 8>& row) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(row.data())));
}
POSY_AVX2 inline unsigned mask_of(__m256i lanes) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}
POSY_AVX2 inline __m128i to_words(__m256i dwords) {  // each below 2^16
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(dwords, dwords), 0x08));
}
POSY_AVX2 inline __m256i look_up(const std::uint32_t* table, __m256i index) {
    return _mm256_i32gather_epi32(reinterpret_cast<const int*>(table), index, 4);
}

}  // namespace

POSY_AVX2 void encode_avx2(const rans_tables& tables, const std::uint8_t* bytes, std::size_t blocks,
                           std::uint32_t* states, std::byte*& cursor) {
    const __m256i twelve = _mm256_set1_epi32(0xfff);
    __m256i x[8];
    for (unsigned v = 0; v < 8; ++v)
        x[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states + 8 * v));
    std::byte* to = cursor;

    const auto row = [&](__m256i& state, __m256i byte) POSY_AVX2 {
        const __m256i by = look_up(tables.multiplier.data(), byte), step = look_up(tables.step.data(), byte);
        const __m256i rest = _mm256_and_si256(_mm256_srli_epi32(step, 12), twelve);  // 4096 − f
        const __m256i full = _mm256_cmpgt_epi32(_mm256_add_epi32(_mm256_srli_epi32(state, 20), rest), twelve);
        const unsigned mask = mask_of(full);
        const __m256i words = _mm256_and_si256(state, _mm256_set1_epi32(0xffff));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to - 16),
                         to_words(_mm256_permutevar8x32_epi32(words, row_of(moves.right[mask]))));
        to -= 2 * _mm_popcnt_u32(mask);
        state = _mm256_blendv_epi8(state, _mm256_srli_epi32(state, 16), full);
        const __m256i even = _mm256_mul_epu32(state, by);
        const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(state, 32), _mm256_srli_epi64(by, 32));
        const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
        const __m256i quotient = _mm256_srlv_epi32(high, _mm256_srli_epi32(step, 24));
        state = _mm256_add_epi32(_mm256_add_epi32(state, _mm256_and_si256(step, twelve)),
                                 _mm256_mullo_epi32(quotient, rest));
    };
    for (std::size_t block = blocks; block-- > 0;) {
        const auto pair = [&](unsigned v) POSY_AVX2 {
            return _mm256_cvtepu16_epi32(
                _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 128 * block + 16 * v)));
        };
        for (unsigned v = 8; v-- > 0;) row(x[v], _mm256_srli_epi32(pair(v), 8));
        for (unsigned v = 8; v-- > 0;) row(x[v], _mm256_and_si256(pair(v), _mm256_set1_epi32(0xff)));
    }
    for (unsigned v = 0; v < 8; ++v) _mm256_storeu_si256(reinterpret_cast<__m256i*>(states + 8 * v), x[v]);
    cursor = to;
}

POSY_AVX2 std::size_t decode_avx2(const rans_tables& tables, std::uint8_t* bytes, std::size_t blocks,
                                  std::uint32_t* states, const std::byte*& cursor, const std::byte* end) {
    const __m256i twelve = _mm256_set1_epi32(0xfff);
    __m256i x[8];
    for (unsigned v = 0; v < 8; ++v)
        x[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(states + 8 * v));
    const std::byte* from = cursor;

    const auto row = [&](__m256i& state) POSY_AVX2 {
        const __m256i owner = look_up(tables.owner.data(), _mm256_and_si256(state, twelve));
        state = _mm256_add_epi32(
            _mm256_mullo_epi32(_mm256_and_si256(owner, twelve), _mm256_srli_epi32(state, slot_bits)),
            _mm256_and_si256(_mm256_srli_epi32(owner, 12), twelve));
        const __m256i low = _mm256_cmpeq_epi32(_mm256_srli_epi32(state, 16), _mm256_setzero_si256());
        const unsigned mask = mask_of(low);
        const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
        const __m256i mine = _mm256_permutevar8x32_epi32(words, row_of(moves.expand[mask]));
        state = _mm256_blendv_epi8(state, _mm256_or_si256(_mm256_slli_epi32(state, 16), mine), low);
        from += 2 * _mm_popcnt_u32(mask);
        return _mm256_srli_epi32(owner, 24);
    };
    std::size_t block = 0;
    for (; block < blocks && end - from >= 4 * 64; ++block) {
        __m256i even[8];
        for (unsigned v = 0; v < 8; ++v) even[v] = row(x[v]);
        for (unsigned v = 0; v < 8; ++v) {
            const __m256i pair = _mm256_or_si256(even[v], _mm256_slli_epi32(row(x[v]), 8));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + 128 * block + 16 * v), to_words(pair));
        }
    }
    for (unsigned v = 0; v < 8; ++v) _mm256_storeu_si256(reinterpret_cast<__m256i*>(states + 8 * v), x[v]);
    cursor = from;
    return block;
}

}  // namespace posy::codec
#endif
