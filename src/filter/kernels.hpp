// The table of kernels: what a filter does with its digests, by layout and instruction set. All columns give
// the same bits; the scalar one is the layouts' own positions and the reference for the others.
//
// Kernels work on a window: while digest now[i] is inserted or looked up, the lines of now[i + window] are
// prefetched, if there are more after the last of `count`. Prefetches go to the second-level cache: the first
// level can track only a dozen or two misses and would be the bottleneck (measured in 150 MB: 9.1 ns per line
// through the first level, 4.0 through the second).
#pragma once

#include <cstddef>
#include <cstdint>

#include "posy/base/instructions.hpp"
#include "posy/geometry.hpp"

namespace posy::kernels {

// The prefetch distance in digests.
inline constexpr std::size_t window = 64;

// Smaller arrays stay in the second-level cache, or nearly: prefetching then costs more than it saves. With k
// prefetches per key this holds up to larger sizes.
inline constexpr std::uint64_t cached_bits = std::uint64_t{5} << 21;        // 1.25 MiB
inline constexpr std::uint64_t cached_probe_bits = std::uint64_t{4} << 23;  // 4 MiB

struct filter_kernel {
    void (*fetch)(const std::uint64_t* words, const geometry&, const digest* later, std::size_t count);
    void (*insert)(std::uint64_t* words, const geometry&, const digest* now, std::size_t count, bool more);
    // Returns how many of the answers are yes.
    std::size_t (*may_contain)(const std::uint64_t* words, const geometry&, const digest* now,
                               std::size_t count, bool more, bool* answers);
    // The halves of the digest are passed separately: GCC tends to pack a digest in registers into a vector
    // through memory (measured: 15.0 ns per lookup instead of 12.0).
    bool (*may_contain_one)(const std::uint64_t* words, const geometry&, std::uint64_t low,
                            std::uint64_t high);
    bool lookup_fetches_itself;  // and needs neither fetch() nor `more`
    std::uint64_t cached_bits;   // up to here nothing needs them
};

// Precondition: check(g).
const filter_kernel& kernel_for(const geometry&, base::instruction_set = base::best_instruction_set());

inline void prefetch(const std::uint64_t* words, std::uint64_t bit) {
    __builtin_prefetch(words + bit / 64, 0, 2);
    asm volatile("");  // GCC takes a function that only prefetches for one without effect and drops the call
}

// What the instruction sets have for a geometry; null where the scalar kernel is as good.
const filter_kernel* avx2_kernel(const geometry&);
const filter_kernel* avx512_kernel(const geometry&);

}  // namespace posy::kernels
