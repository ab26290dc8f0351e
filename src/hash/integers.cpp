// Keys of 8 bytes, eight at a time with AVX-512: in a batch the hash is half of the work, and this takes a
// third of its time (measured for XXH3-128: 0.8 ns per key instead of 2.0). The steps are those of
// posy/hash/of_words.hpp.
#include "families.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#ifndef __clang__  // GCC 12 warns about its own intrinsics (its bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define POSY_AVX512 __attribute__((target("avx512f,avx512dq")))
#define POSY_ALL(value) _mm512_set1_epi64(static_cast<long long>(value))
#endif

namespace posy::hash {
namespace {

#if defined(__x86_64__)
// Eight products with one factor, of 128 bits, each from four of 32 × 32 bits.
struct products {
    __m512i low, high;

    POSY_AVX512 products(__m512i x, std::uint64_t factor) {
        const __m512i by_low = POSY_ALL(factor & 0xffffffff), by_high = POSY_ALL(factor >> 32);
        const __m512i low_half = POSY_ALL(0xffffffff), x_high = _mm512_srli_epi64(x, 32);
        const __m512i ll = _mm512_mul_epu32(x, by_low), lh = _mm512_mul_epu32(x, by_high);
        const __m512i hl = _mm512_mul_epu32(x_high, by_low), hh = _mm512_mul_epu32(x_high, by_high);
        const __m512i middle = _mm512_add_epi64(lh, _mm512_srli_epi64(ll, 32));
        const __m512i cross = _mm512_add_epi64(hl, _mm512_and_si512(middle, low_half));
        low = _mm512_or_si512(_mm512_slli_epi64(cross, 32), _mm512_and_si512(ll, low_half));
        high = _mm512_add_epi64(
            hh, _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(cross, 32)));
    }
};

// Eight digests, whose halves go side by side.
POSY_AVX512 inline void store(__m512i low, __m512i high, digest* to) {
    const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                  second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi64(low, first, high));
    _mm512_storeu_si512(to + 4, _mm512_permutex2var_epi64(low, second, high));
}

// How many of the keys were done: a multiple of eight.
POSY_AVX512 std::size_t xxh3_eights(std::span<const std::uint64_t> keys, digest* digests,
                                    std::uint64_t seed) {
    seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
    const __m512i flip = POSY_ALL(xxh3_secret_of_8 + seed);
    const __m512i mix_low = POSY_ALL(0x9fb21c651e98df25), mix_high = POSY_ALL(0x165667919e3779f9);
    std::size_t done = 0;
    for (; done + 8 <= keys.size(); done += 8) {
        const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(keys.data() + done), flip);
        auto [lo, hi] = products(x, xxh3_multiplier_of_8);
        hi = _mm512_add_epi64(hi, _mm512_slli_epi64(lo, 1));
        lo = _mm512_xor_si512(lo, _mm512_srli_epi64(hi, 3));
        lo = _mm512_mullo_epi64(_mm512_xor_si512(lo, _mm512_srli_epi64(lo, 35)), mix_low);
        lo = _mm512_xor_si512(lo, _mm512_srli_epi64(lo, 28));
        hi = _mm512_mullo_epi64(_mm512_xor_si512(hi, _mm512_srli_epi64(hi, 37)), mix_high);
        hi = _mm512_xor_si512(hi, _mm512_srli_epi64(hi, 32));
        store(lo, hi, digests + done);
    }
    return done;
}

POSY_AVX512 std::size_t fold64_eights(std::span<const std::uint64_t> keys, digest* digests,
                                      std::uint64_t salt) {
    std::size_t done = 0;
    for (; done + 8 <= keys.size(); done += 8) {
        const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(keys.data() + done), POSY_ALL(salt));
        const products mixed(x, fold64_first);
        const products wide(_mm512_xor_si512(mixed.low, mixed.high), fold64_second);
        store(_mm512_xor_si512(wide.low, wide.high),
              _mm512_add_epi64(wide.high, _mm512_slli_epi64(wide.low, 3)), digests + done);
    }
    return done;
}
#endif

}  // namespace

void xxh3_integers(std::span<const std::uint64_t> keys, std::span<digest> digests, std::uint64_t seed,
                   [[maybe_unused]] base::instruction_set set) {
    std::size_t done = 0;
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) done = xxh3_eights(keys, digests.data(), seed);
#endif
    for (; done < keys.size(); ++done) digests[done] = xxh3_of_8_bytes(keys[done], seed);
}

void fold64_integers(std::span<const std::uint64_t> keys, std::span<digest> digests, std::uint64_t seed,
                     [[maybe_unused]] base::instruction_set set) {
    const std::uint64_t salt = fold64_salt(seed);
    std::size_t done = 0;
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) done = fold64_eights(keys, digests.data(), salt);
#endif
    for (; done < keys.size(); ++done) digests[done] = fold64_of_word(keys[done], salt);
}

}  // namespace posy::hash
