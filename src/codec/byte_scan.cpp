#include "byte_scan.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#ifndef __clang__  // GCC 12 warns about its own intrinsics (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif

namespace posy::codec {
namespace {

std::size_t collect_scalar(std::span<const std::uint8_t> bytes, const std::array<bool, 256>& which,
                           std::uint8_t* to) {
    std::size_t count = 0;
    for (const std::uint8_t byte : bytes) {
        to[count] = byte;
        count += which[byte];
    }
    return count;
}

void replace_scalar(std::span<std::uint8_t> bytes, std::uint8_t value, const std::uint8_t* from) {
    for (std::uint8_t& byte : bytes) {
        if (byte == value) byte = *from++;
    }
}

#if defined(__x86_64__)
#define POSY_AVX512 \
    __attribute__(( \
        target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,popcnt")))
#define POSY_AVX2 __attribute__((target("avx2,popcnt")))

// A set of bytes is 256 bits: the bytes' upper five bits pick eight of them, the lower three one. The
// selected bytes are compressed in a register and stored whole: compressing into memory is microcode on Zen
// 4.
POSY_AVX512 std::size_t collect_avx512(std::span<const std::uint8_t> bytes,
                                       const std::array<bool, 256>& which, std::uint8_t* to) {
    alignas(64) std::uint8_t bitmap[64] = {};
    for (unsigned b = 0; b < 256; ++b)
        bitmap[b / 8] = static_cast<std::uint8_t>(bitmap[b / 8] | which[b] << b % 8);
    const __m512i map = _mm512_load_si512(bitmap),
                  one_bit = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
    std::size_t count = 0, i = 0;
    for (; i + 64 <= bytes.size(); i += 64) {
        const __m512i block = _mm512_loadu_si512(bytes.data() + i);
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(block, 3), _mm512_set1_epi8(31));
        const __m512i bit = _mm512_shuffle_epi8(one_bit, _mm512_and_si512(block, _mm512_set1_epi8(7)));
        const __mmask64 found = _mm512_test_epi8_mask(_mm512_permutexvar_epi8(upper, map), bit);
        _mm512_storeu_si512(to + count, _mm512_maskz_compress_epi8(found, block));
        count += static_cast<std::size_t>(_mm_popcnt_u64(found));
    }
    return count + collect_scalar(bytes.subspan(i), which, to + count);
}

POSY_AVX512 std::size_t count_equal_avx512(std::span<const std::uint8_t> bytes, std::uint8_t value) {
    std::size_t count = 0, i = 0;
    for (; i + 64 <= bytes.size(); i += 64)
        count += static_cast<std::size_t>(_mm_popcnt_u64(_mm512_cmpeq_epi8_mask(
            _mm512_loadu_si512(bytes.data() + i), _mm512_set1_epi8(static_cast<char>(value)))));
    return count + static_cast<std::size_t>(std::ranges::count(bytes.subspan(i), value));
}

POSY_AVX512 void replace_equal_avx512(std::span<std::uint8_t> bytes, std::uint8_t value,
                                      const std::uint8_t* from) {
    std::size_t i = 0;
    for (; i + 64 <= bytes.size(); i += 64) {
        const __m512i block = _mm512_loadu_si512(bytes.data() + i);
        const __mmask64 found = _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(static_cast<char>(value)));
        _mm512_storeu_si512(bytes.data() + i,
                            _mm512_mask_expand_epi8(block, found, _mm512_loadu_si512(from)));
        from += _mm_popcnt_u64(found);
    }
    replace_scalar(bytes.subspan(i), value, from);
}

// With AVX2 only the search is wide: a set of bytes as two tables of 16 rows of 8 columns.
POSY_AVX2 std::size_t collect_avx2(std::span<const std::uint8_t> bytes, const std::array<bool, 256>& which,
                                   std::uint8_t* to) {
    alignas(32) std::uint8_t low[32] = {}, high[32] = {};  // by lower nibble; bit: upper nibble mod 8
    for (unsigned b = 0; b < 256; ++b) {
        std::uint8_t* row = b < 128 ? low : high;
        for (const unsigned half : {0u, 16u})
            row[half + b % 16] = static_cast<std::uint8_t>(row[half + b % 16] | which[b] << (b / 16) % 8);
    }
    const auto rows = [](const std::uint8_t* at) { return reinterpret_cast<const __m256i*>(at); };
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i one_bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201));
    std::size_t count = 0, i = 0;
    for (; i + 32 <= bytes.size(); i += 32) {
        const __m256i block = _mm256_loadu_si256(rows(bytes.data() + i));
        const __m256i lower = _mm256_and_si256(block, nibble);
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(block, 4), nibble);
        const __m256i columns =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(_mm256_load_si256(rows(low)), lower),
                               _mm256_shuffle_epi8(_mm256_load_si256(rows(high)), lower), block);
        const __m256i bit = _mm256_shuffle_epi8(one_bit, upper);
        auto found = static_cast<unsigned>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(columns, bit), bit)));
        for (; found; found &= found - 1)
            to[count++] = bytes[i + static_cast<unsigned>(__builtin_ctz(found))];
    }
    return count + collect_scalar(bytes.subspan(i), which, to + count);
}

POSY_AVX2 void replace_equal_avx2(std::span<std::uint8_t> bytes, std::uint8_t value,
                                  const std::uint8_t* from) {
    std::size_t i = 0;
    for (; i + 32 <= bytes.size(); i += 32) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes.data() + i));
        auto found = static_cast<unsigned>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(static_cast<char>(value)))));
        for (; found; found &= found - 1) bytes[i + static_cast<unsigned>(__builtin_ctz(found))] = *from++;
    }
    replace_scalar(bytes.subspan(i), value, from);
}
#endif

}  // namespace

#if defined(__x86_64__)
#define POSY_DISPATCH(name, ...)                                                 \
    if (set == base::instruction_set::avx512) return name##_avx512(__VA_ARGS__); \
    if (set == base::instruction_set::avx2) return name##_avx2(__VA_ARGS__);
#else
#define POSY_DISPATCH(...)
#endif

std::size_t collect([[maybe_unused]] base::instruction_set set, std::span<const std::uint8_t> bytes,
                    const std::array<bool, 256>& which, std::uint8_t* to) {
    POSY_DISPATCH(collect, bytes, which, to)
    return collect_scalar(bytes, which, to);
}

std::size_t count_equal([[maybe_unused]] base::instruction_set set, std::span<const std::uint8_t> bytes,
                        std::uint8_t value) {
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) return count_equal_avx512(bytes, value);
#endif
    return static_cast<std::size_t>(std::ranges::count(bytes, value));
}

void replace_equal([[maybe_unused]] base::instruction_set set, std::span<std::uint8_t> bytes,
                   std::uint8_t value, const std::uint8_t* from) {
    POSY_DISPATCH(replace_equal, bytes, value, from)
    replace_scalar(bytes, value, from);
}

}  // namespace posy::codec
