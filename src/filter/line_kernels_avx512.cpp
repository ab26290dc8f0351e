#if defined(__x86_64__)
#include <immintrin.h>

#include "posy/layout/lanes.hpp"

#define POSY_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,bmi2"), no_sanitize("thread")))
#define POSY_INLINE __attribute__((always_inline)) POSY_TARGET
#define POSY_INSTRUCTIONS avx512

namespace posy::kernels {
namespace {

POSY_INLINE inline bool covers(const lanes64& line, const lanes64& mask) {
    const auto missing = reinterpret_cast<__m512i>(mask & ~line);
    return _mm512_test_epi64_mask(missing, missing) == 0;
}
POSY_INLINE inline bool covers(const lanes16& line, const lanes16& mask) {
    return _mm_testc_si128(reinterpret_cast<__m128i>(line), reinterpret_cast<__m128i>(mask)) != 0;
}

}  // namespace
}  // namespace posy::kernels

#include "counting_lines.hpp"
#include "line_kernels.hpp"

namespace posy::kernels {
const filter_kernel* avx512_kernel(const geometry& g) { return kernel_of(g); }
const counting_kernel* avx512_counting_kernel(unsigned hashes) { return counted_kernel(hashes); }
}  // namespace posy::kernels
#else
#include "counting_kernels.hpp"
#include "kernels.hpp"
namespace posy::kernels {
const filter_kernel* avx512_kernel(const geometry&) { return nullptr; }
const counting_kernel* avx512_counting_kernel(unsigned) { return nullptr; }
}  // namespace posy::kernels
#endif
