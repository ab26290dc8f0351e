// Eight columns per vector, their parities by one population count.
#if defined(__x86_64__)
#include <immintrin.h>

#include "sealed/kernels.hpp"

#define POSY_AVX512 __attribute__((target("avx512f,avx512vpopcntdq")))

namespace posy::sealed {
namespace {

// The lanes of the columns from `from` on.
POSY_AVX512 inline __mmask8 lanes(unsigned from, unsigned columns) {
    const unsigned left = columns - from;
    return static_cast<__mmask8>(left >= 8 ? 0xff : (1u << left) - 1);
}

}  // namespace

POSY_AVX512 std::uint64_t add_avx512(const std::byte* first, const std::byte* second, std::uint64_t low,
                                     std::uint64_t high, unsigned columns) {
    const __m512i lows = _mm512_set1_epi64(static_cast<long long>(low));
    const __m512i highs = _mm512_set1_epi64(static_cast<long long>(high));
    std::uint64_t sum = 0;
    for (unsigned j = 0; j < columns; j += 8) {
        const __mmask8 used = lanes(j, columns);
        const __m512i a = _mm512_maskz_loadu_epi64(used, first + 8 * j);
        const __m512i b = _mm512_maskz_loadu_epi64(used, second + 8 * j);
        const __m512i word = _mm512_xor_si512(_mm512_and_si512(a, lows), _mm512_and_si512(b, highs));
        const __mmask8 odd = _mm512_test_epi64_mask(_mm512_popcnt_epi64(word), _mm512_set1_epi64(1));
        sum |= std::uint64_t{odd} << j;
    }
    return sum;
}

POSY_AVX512 void substitute_avx512(const std::uint64_t* coefficients, const std::uint64_t* rhs,
                                   unsigned rhs_words, unsigned columns, std::uint64_t* states) {
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i numbers = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    for (unsigned j = 0; j < columns; j += 8) {
        const __mmask8 used = lanes(j, columns);
        const __m512i shifts = _mm512_add_epi64(numbers, _mm512_set1_epi64(j % 64));
        const std::uint64_t* known = rhs + j / 64;
        __m512i state = _mm512_maskz_loadu_epi64(used, states + j);
        for (unsigned i = 64; i-- > 0;) {
            state = _mm512_add_epi64(state, state);  // GCC 12 gives a false warning about slli
            const __m512i row = _mm512_set1_epi64(static_cast<long long>(coefficients[i]));
            const __m512i sum = _mm512_popcnt_epi64(_mm512_and_si512(state, row));
            const __m512i right = _mm512_maskz_srlv_epi64(
                used, _mm512_set1_epi64(static_cast<long long>(known[std::size_t{i} * rhs_words])), shifts);
            state = _mm512_or_si512(state, _mm512_and_si512(_mm512_xor_si512(sum, right), one));
        }
        _mm512_mask_storeu_epi64(states + j, used, state);
    }
}

}  // namespace posy::sealed
#endif
