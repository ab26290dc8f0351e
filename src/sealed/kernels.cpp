#include "sealed/kernels.hpp"

namespace posy::sealed {
namespace {

// Without the instruction a popcount is a call of a function, and folding is faster.
template <bool has_popcount>
[[gnu::always_inline]] inline std::uint64_t parity(std::uint64_t word) {
    if constexpr (has_popcount) return static_cast<std::uint64_t>(__builtin_popcountll(word)) & 1;
    return static_cast<std::uint64_t>(__builtin_parityll(word));
}

template <bool has_popcount>
[[gnu::always_inline]] inline std::uint64_t add(const std::byte* first, const std::byte* second,
                                                std::uint64_t low, std::uint64_t high, unsigned columns) {
    std::uint64_t sum = 0;
    for (unsigned j = 0; j < columns; ++j) {
        const std::uint64_t word = (load_little<std::uint64_t>(first + 8 * j) & low) ^
                                   (load_little<std::uint64_t>(second + 8 * j) & high);
        sum |= parity<has_popcount>(word) << j;
    }
    return sum;
}

template <bool has_popcount>
[[gnu::always_inline]] inline void substitute(const std::uint64_t* coefficients, const std::uint64_t* rhs,
                                              unsigned rhs_words, unsigned columns, std::uint64_t* states) {
    for (unsigned i = 64; i-- > 0;) {
        for (unsigned j = 0; j < columns; ++j) {
            const std::uint64_t state = states[j] << 1;
            const std::uint64_t known = rhs[i * rhs_words + j / 64] >> j % 64 & 1;
            states[j] = state | (parity<has_popcount>(state & coefficients[i]) ^ known);
        }
    }
}

std::uint64_t add_scalar(const std::byte* first, const std::byte* second, std::uint64_t low,
                         std::uint64_t high, unsigned columns) {
    return add<false>(first, second, low, high, columns);
}
void substitute_scalar(const std::uint64_t* coefficients, const std::uint64_t* rhs, unsigned rhs_words,
                       unsigned columns, std::uint64_t* states) {
    substitute<false>(coefficients, rhs, rhs_words, columns, states);
}

#if defined(__x86_64__)
[[gnu::target("popcnt")]] std::uint64_t add_popcount(const std::byte* first, const std::byte* second,
                                                     std::uint64_t low, std::uint64_t high,
                                                     unsigned columns) {
    return add<true>(first, second, low, high, columns);
}
[[gnu::target("popcnt")]] void substitute_popcount(const std::uint64_t* coefficients,
                                                   const std::uint64_t* rhs, unsigned rhs_words,
                                                   unsigned columns, std::uint64_t* states) {
    substitute<true>(coefficients, rhs, rhs_words, columns, states);
}
#endif

}  // namespace

kernels kernels::of([[maybe_unused]] base::instruction_set set) {
#if defined(__x86_64__)
    if (set == base::instruction_set::avx512) return {add_avx512, substitute_avx512};
    if (set == base::instruction_set::avx2) return {add_popcount, substitute_popcount};
#endif
    return {add_scalar, substitute_scalar};
}

}  // namespace posy::sealed
