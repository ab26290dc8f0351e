// rANS for models in which a byte's frequency depends on its number of ones only: no table in memory at all.
//
// Long because a kernel keeps its tables in registers from the first block to the last.
//
// The encoder turns a byte into its number of ones (VPOPCNTB) and its rank among the bytes of that number
// (one 256-byte table in four registers); everything else comes from 16-entry tables in registers, by the
// number.
//
// The decoder goes further. What it multiplies and compares has 16 bits, if the states are kept as two
// vectors, the high and the low halves of 32 states. With x = H·2^16 + L,
//
//     f·⌊x/4096⌋ + r = 16f·H + f·⌊L/4096⌋ + r,          f·⌊L/4096⌋ + r < 16f < 2^16,
//
// so the low half is one product, one sum and a carry, the high half one product. A lane needs a word when H
// = 0; then L moves up and VPEXPANDW puts the words in place. That is 32 lanes per vector instead of 16, and
// no gather.
//
// From slot to byte: the slots are divided into runs, a run being `count` bytes of one frequency. slot/64
// picks from 64 entries the first run in that 64th and the place where the next begins; there is never a
// second boundary, because no run but the escape (the last) is shorter than 64. Then rank = ⌊(slot −
// start)/f⌋ by a 16-bit reciprocal, exact as long as count·f² < 2^16; where it would not be, a number of ones
// is cut into several runs.
//
// Measured on Zen 4, the loops alone on 1 MB in cache: 3.6 GB/s encoding and 3.4 decoding, at any density.
// With tables and gathers (rans_kernels_avx512.cpp) it is 1.4 and 2.0, with AVX2 1.1 and 1.5.
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>

#include "rans_kernels.hpp"
#include "reciprocal.hpp"
#include "word_moves.hpp"

#ifndef __clang__  // GCC 12 warns about its own intrinsics (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define POSY_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx512bitalg,bmi2,popcnt")))

namespace posy::codec {
namespace {

// Bytes by number of ones, then by value; and where in that order each number begins.
struct byte_order {
    alignas(64) std::array<std::uint8_t, 256> byte{}, rank{};  // rank: among those of the same number
    std::array<std::uint8_t, 10> first{};

    constexpr byte_order() {
        unsigned at = 0;
        for (unsigned c = 0; c <= 8; ++c) {
            first[c] = static_cast<std::uint8_t>(at);
            for (unsigned b = 0; b < 256; ++b) {
                if (static_cast<unsigned>(std::popcount(b)) != c) continue;
                rank[b] = static_cast<std::uint8_t>(at - first[c]);
                byte[at++] = static_cast<std::uint8_t>(b);
            }
        }
    }
};
constexpr byte_order order;

constexpr std::array<std::uint32_t, 9> choose8{1, 8, 28, 56, 70, 56, 28, 8, 1};

// 256 bytes, looked up by byte.
struct byte_table {
    __m512i part[4];
    POSY_AVX512 explicit byte_table(const std::array<std::uint8_t, 256>& table) {
        for (unsigned i = 0; i < 4; ++i) part[i] = _mm512_load_si512(table.data() + 64 * i);
    }
    POSY_AVX512 __m512i operator[](__m512i index) const {
        return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index),
                                      _mm512_permutex2var_epi8(part[0], index, part[1]),
                                      _mm512_permutex2var_epi8(part[2], index, part[3]));
    }
};

// 16 of 32 words, as 32-bit numbers.
POSY_AVX512 inline __m512i lower_half(__m512i words) {
    return _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
}
POSY_AVX512 inline __m512i upper_half(__m512i words) {
    return _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1));
}

}  // namespace

// ---- Encoder -------------------------------------------------------------------------------------------

POSY_AVX512 void encode_by_ones_avx512(const rans_tables& tables, const std::uint8_t* bytes,
                                       std::size_t blocks, std::uint32_t* states, std::byte*& cursor) {
    // By number of ones, 9 and up unused. An escaped number has rank 0 always: its frequency does not
    // multiply.
    alignas(64) std::array<std::uint32_t, 16> multiplier{}, shift{}, rest{}, limit{};
    alignas(64) std::array<std::uint16_t, 32> first{}, each{};
    for (unsigned c = 0; c <= 8; ++c) {
        const std::uint8_t some = order.byte[order.first[c]];
        const std::uint32_t step = tables.step[some], f = slots - (step >> 12 & 0xfff);
        multiplier[c] = tables.multiplier[some];
        shift[c] = step >> 24;
        rest[c] = slots - f;
        limit[c] = f << 20;
        first[c] = static_cast<std::uint16_t>(step & 0xfff);
        each[c] = (*tables.by_ones)[c];
    }
    const __m512i multipliers = _mm512_load_si512(&multiplier), shifts = _mm512_load_si512(&shift),
                  rests = _mm512_load_si512(&rest), limits = _mm512_load_si512(&limit),
                  firsts = _mm512_load_si512(&first), eaches = _mm512_load_si512(&each);
    const byte_table ranks(order.rank);
    const __m512i low_words = _mm512_load_si512(&word_indices.low_words);

    __m512i x[4];
    for (unsigned v = 0; v < 4; ++v) x[v] = _mm512_loadu_si512(states + 16 * v);
    std::byte* to = cursor;

    // One byte each of 16 lanes: a mask of those that write a word, and the new state.
    const auto one = [&](__m512i& state, __m512i number, __m512i start, __m512i& written) POSY_AVX512 {
        const __mmask16 full = _mm512_cmpge_epu32_mask(state, _mm512_permutexvar_epi32(number, limits));
        written = state;
        state = _mm512_mask_srli_epi32(state, full, state, 16);
        const __m512i by = _mm512_permutexvar_epi32(number, multipliers);
        const __m512i even = _mm512_mul_epu32(state, by);
        const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(state, 32), _mm512_srli_epi64(by, 32));
        const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, static_cast<_MM_PERM_ENUM>(0xf5));
        const __m512i quotient = _mm512_srlv_epi32(high, _mm512_permutexvar_epi32(number, shifts));
        state = _mm512_add_epi32(_mm512_add_epi32(state, start),
                                 _mm512_mullo_epi32(quotient, _mm512_permutexvar_epi32(number, rests)));
        return full;
    };
    // One byte each of 32 lanes, number and rank in 16-bit elements.
    const auto row = [&](__m512i& a, __m512i& b, __m512i number, __m512i rank) POSY_AVX512 {
        const __m512i start =
            _mm512_add_epi16(_mm512_permutexvar_epi16(number, firsts),
                             _mm512_mullo_epi16(rank, _mm512_permutexvar_epi16(number, eaches)));
        __m512i written_a, written_b;
        const __mmask32 full_b = one(b, upper_half(number), upper_half(start), written_b);
        const __mmask32 full_a = one(a, lower_half(number), lower_half(start), written_a);
        const __mmask32 full = _mm512_kunpackw(full_b, full_a);
        const __m512i words = _mm512_permutex2var_epi16(written_a, low_words, written_b);
        put_words_below(to, full, words);
    };

    const __m512i low_bytes = _mm512_set1_epi16(0xff);
    for (std::size_t block = blocks; block-- > 0;) {
        __m512i number[2], rank[2];
        for (unsigned half = 0; half < 2; ++half) {
            const __m512i in = _mm512_loadu_si512(bytes + 128 * block + 64 * half);
            number[half] = _mm512_popcnt_epi8(in);
            rank[half] = ranks[in];
        }
        for (unsigned half = 2; half-- > 0;)
            row(x[2 * half], x[2 * half + 1], _mm512_srli_epi16(number[half], 8),
                _mm512_srli_epi16(rank[half], 8));
        for (unsigned half = 2; half-- > 0;)
            row(x[2 * half], x[2 * half + 1], _mm512_and_si512(number[half], low_bytes),
                _mm512_and_si512(rank[half], low_bytes));
    }
    for (unsigned v = 0; v < 4; ++v) _mm512_storeu_si512(states + 16 * v, x[v]);
    cursor = to;
}

// ---- Decoder -------------------------------------------------------------------------------------------

namespace {

struct run_tables {
    // By run: where it begins, its frequency, 2^16/frequency rounded up (0 for a run of one byte), its first
    // byte in `order`.
    alignas(64) std::array<std::uint16_t, 32> start{}, frequency{}, inverse{}, first{};
    // By slot/64: the run that the 64 slots begin in << 8 | how many of them it has, at most 64.
    alignas(64) std::array<std::uint16_t, 64> run{};

    explicit run_tables(const std::array<std::uint16_t, 9>& by_ones) {
        unsigned count = 0, at = 0;
        std::array<unsigned, 33> begins{};
        const auto add = [&](unsigned f, unsigned bytes, unsigned first_byte) {
            start[count] = static_cast<std::uint16_t>(at);
            frequency[count] = static_cast<std::uint16_t>(f);
            inverse[count] = static_cast<std::uint16_t>(bytes == 1 ? 0 : (65536 + f - 1) / f);
            first[count] = static_cast<std::uint16_t>(first_byte);
            begins[count++] = at;
            at += f * bytes;
        };
        for (unsigned c = 0; c <= 8; ++c) {
            const unsigned f = by_ones[c];
            if (f == 0) continue;
            unsigned bytes = choose8[c];
            while (bytes > 1 && bytes * f * f >= 65536)
                bytes /= 2;  // 8, 4, 2 or 1: only single ones are this frequent
            for (unsigned i = 0; i < choose8[c]; i += bytes) add(f, bytes, order.first[c] + i);
        }
        add(slots - at, 1, 255);
        begins[count] = slots;
        for (unsigned i = 0, r = 0; i < 64; ++i) {
            while (begins[r + 1] <= 64 * i) ++r;
            const unsigned left = begins[r + 1] - 64 * i;
            run[i] = static_cast<std::uint16_t>(r << 8 | (left < 64 ? left : 64));
        }
    }
};

}  // namespace

POSY_AVX512 std::size_t decode_by_ones_avx512(const rans_tables& tables, std::uint8_t* bytes,
                                              std::size_t blocks, std::uint32_t* states,
                                              const std::byte*& cursor, const std::byte* end) {
    const run_tables runs(*tables.by_ones);
    const __m512i starts = _mm512_load_si512(&runs.start), frequencies = _mm512_load_si512(&runs.frequency),
                  inverses = _mm512_load_si512(&runs.inverse), firsts = _mm512_load_si512(&runs.first),
                  run_low = _mm512_load_si512(&runs.run), run_high = _mm512_load_si512(&runs.run[32]);
    const byte_table in_order(order.byte);

    __m512i high[2], low[2];  // of lanes 0..31 and 32..63
    for (unsigned v = 0; v < 2; ++v) {
        const __m512i a = _mm512_loadu_si512(states + 32 * v), b = _mm512_loadu_si512(states + 32 * v + 16);
        low[v] = _mm512_permutex2var_epi16(a, _mm512_load_si512(&word_indices.low_words), b);
        high[v] = _mm512_permutex2var_epi16(a, _mm512_load_si512(&word_indices.high_words), b);
    }

    // One byte each of 32 lanes: its index in `order`.
    const std::byte* from = cursor;
    const auto row = [&](__m512i& h, __m512i& l) POSY_AVX512 {
        const __m512i slot = _mm512_and_si512(l, _mm512_set1_epi16(slots - 1));
        const __m512i entry = _mm512_permutex2var_epi16(run_low, _mm512_srli_epi16(slot, 6), run_high);
        const __mmask32 next = _mm512_cmpge_epu16_mask(_mm512_and_si512(l, _mm512_set1_epi16(63)),
                                                       _mm512_and_si512(entry, _mm512_set1_epi16(0xff)));
        const __m512i run_before = _mm512_srli_epi16(entry, 8);
        const __m512i run = _mm512_mask_add_epi16(run_before, next, run_before, _mm512_set1_epi16(1));
        const __m512i f = _mm512_permutexvar_epi16(run, frequencies);
        const __m512i in_run = _mm512_sub_epi16(slot, _mm512_permutexvar_epi16(run, starts));
        const __m512i rank = _mm512_mulhi_epu16(in_run, _mm512_permutexvar_epi16(run, inverses));
        const __m512i remainder = _mm512_sub_epi16(in_run, _mm512_mullo_epi16(rank, f));
        const __m512i f16 = _mm512_slli_epi16(f, 4);
        const __m512i below = _mm512_add_epi16(_mm512_mullo_epi16(f, _mm512_srli_epi16(l, 12)), remainder);
        l = _mm512_add_epi16(_mm512_mullo_epi16(f16, h), below);
        h = _mm512_mulhi_epu16(f16, h);
        h = _mm512_mask_add_epi16(h, _mm512_cmplt_epu16_mask(l, below), h, _mm512_set1_epi16(1));
        const __mmask32 empty = _mm512_testn_epi16_mask(h, h);
        h = _mm512_mask_mov_epi16(h, empty, l);
        l = _mm512_mask_expand_epi16(l, empty, _mm512_loadu_si512(from));
        from += 2 * _mm_popcnt_u32(empty);
        return _mm512_add_epi16(rank, _mm512_permutexvar_epi16(run, firsts));
    };

    std::size_t block = 0;
    for (; block < blocks && end - from >= 4 * 64; ++block) {
        const __m512i even0 = row(high[0], low[0]), even1 = row(high[1], low[1]);
        const __m512i odd0 = row(high[0], low[0]), odd1 = row(high[1], low[1]);
        _mm512_storeu_si512(bytes + 128 * block,
                            in_order[_mm512_or_si512(even0, _mm512_slli_epi16(odd0, 8))]);
        _mm512_storeu_si512(bytes + 128 * block + 64,
                            in_order[_mm512_or_si512(even1, _mm512_slli_epi16(odd1, 8))]);
    }

    for (unsigned v = 0; v < 2; ++v) {
        const auto* index = &word_indices.interleave;
        _mm512_storeu_si512(states + 32 * v,
                            _mm512_permutex2var_epi16(low[v], _mm512_load_si512(index->data()), high[v]));
        _mm512_storeu_si512(states + 32 * v + 16,
                            _mm512_permutex2var_epi16(low[v], _mm512_load_si512(&(*index)[32]), high[v]));
    }
    cursor = from;
    return block;
}

}  // namespace posy::codec
#endif
