#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#include "posy/layout/lanes.hpp"

#define POSY_TARGET __attribute__((target("avx2,bmi2"), no_sanitize("thread")))
#define POSY_INLINE __attribute__((always_inline)) POSY_TARGET
#define POSY_INSTRUCTIONS avx2

namespace posy::kernels {
namespace {

POSY_INLINE inline bool covers(const lanes64& line, const lanes64& mask) {
    const lanes64 missing = mask & ~line;
    __m256i half[2];
    std::memcpy(half, &missing, sizeof half);
    const __m256i either = _mm256_or_si256(half[0], half[1]);
    return _mm256_testz_si256(either, either) != 0;
}
POSY_INLINE inline bool covers(const lanes16& line, const lanes16& mask) {
    return _mm_testc_si128(reinterpret_cast<__m128i>(line), reinterpret_cast<__m128i>(mask)) != 0;
}

}  // namespace
}  // namespace posy::kernels

#include "counting_lines.hpp"
#include "line_kernels.hpp"

namespace posy::kernels {
const filter_kernel* avx2_kernel(const geometry& g) { return kernel_of(g); }
const counting_kernel* avx2_counting_kernel(unsigned hashes) { return counted_kernel(hashes); }
}  // namespace posy::kernels
#else
#include "counting_kernels.hpp"
#include "kernels.hpp"
namespace posy::kernels {
const filter_kernel* avx2_kernel(const geometry&) { return nullptr; }
const counting_kernel* avx2_counting_kernel(unsigned) { return nullptr; }
}  // namespace posy::kernels
#endif
