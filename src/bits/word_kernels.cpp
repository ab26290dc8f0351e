// Plain loops that the compiler vectorises, compiled once for every instruction set: with vpopcntdq it counts
// eight words per instruction, with popcnt one, and without either by arithmetic on nibbles.
#include "word_kernels.hpp"

#include <bit>
#include <cstddef>

#if defined(__x86_64__)
#define POSY_AVX512 __attribute__((target("avx512f,avx512vpopcntdq,popcnt")))
#define POSY_AVX2 __attribute__((target("avx2,popcnt")))
#endif
#define POSY_INLINE __attribute__((always_inline)) inline

namespace posy::bits {
namespace {

template <operation Op>
POSY_INLINE std::uint64_t apply(std::uint64_t a, std::uint64_t b) {
    if constexpr (Op == operation::unite) return a | b;
    if constexpr (Op == operation::intersect) return a & b;
    return a ^ b;
}

POSY_INLINE std::uint64_t ones_of(std::uint64_t word) {
    return static_cast<unsigned>(__builtin_popcountll(word));
}

// One word after the other; `to` may be null, or a.
template <operation Op>
POSY_INLINE std::uint64_t pass(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* to,
                               std::size_t count) {
    std::uint64_t ones = 0;
    if (to) {
        for (std::size_t i = 0; i < count; ++i) ones += ones_of(to[i] = apply<Op>(a[i], b[i]));
    } else {
        for (std::size_t i = 0; i < count; ++i) ones += ones_of(apply<Op>(a[i], b[i]));
    }
    return ones;
}

using pass_function = std::uint64_t(const std::uint64_t*, const std::uint64_t*, std::uint64_t*, std::size_t);

template <operation Op>
std::uint64_t pass_scalar(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* to, std::size_t n) {
    return pass<Op>(a, b, to, n);
}
#if defined(__x86_64__)
template <operation Op>
POSY_AVX2 std::uint64_t pass_avx2(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* to,
                                  std::size_t n) {
    return pass<Op>(a, b, to, n);
}
template <operation Op>
POSY_AVX512 std::uint64_t pass_avx512(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* to,
                                      std::size_t n) {
    return pass<Op>(a, b, to, n);
}
#endif

template <operation Op>
pass_function* pass_for([[maybe_unused]] instruction_set set) {
#if defined(__x86_64__)
    if (set == instruction_set::avx512) return pass_avx512<Op>;
    if (set == instruction_set::avx2) return pass_avx2<Op>;
#endif
    return pass_scalar<Op>;
}

pass_function* pass_for(operation op, instruction_set set) {
    switch (op) {
        case operation::unite:
            return pass_for<operation::unite>(set);
        case operation::intersect:
            return pass_for<operation::intersect>(set);
        case operation::exclude:
            break;
    }
    return pass_for<operation::exclude>(set);
}

}  // namespace

std::uint64_t count_ones(std::span<const std::uint64_t> words, instruction_set set) {
    return count_ones_of(operation::unite, words, words, set);
}

std::uint64_t count_ones_of(operation op, std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                            instruction_set set) {
    return pass_for(op, set)(a.data(), b.data(), nullptr, a.size());
}

std::uint64_t combine(operation op, std::span<std::uint64_t> into, std::span<const std::uint64_t> from,
                      instruction_set set) {
    return pass_for(op, set)(into.data(), from.data(), into.data(), into.size());
}

}  // namespace posy::bits
