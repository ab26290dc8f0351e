// How AVX-512 moves words between registers and a stream that grows downwards.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace posy::codec {

struct word_index_tables {
    alignas(64) std::array<std::uint16_t, 32> low_words{}, high_words{};  // of two vectors of 16 states
    alignas(64) std::array<std::uint16_t, 64> interleave{};               // and back
    // 32 indices from n on move the first n words of a vector to its end.
    alignas(64) std::array<std::uint16_t, 64> slide{};

    constexpr word_index_tables() {
        for (unsigned i = 0; i < 32; ++i) {
            low_words[i] = static_cast<std::uint16_t>(2 * i);
            high_words[i] = static_cast<std::uint16_t>(2 * i + 1);
            interleave[2 * i] = static_cast<std::uint16_t>(i);
            interleave[2 * i + 1] = static_cast<std::uint16_t>(32 + i);
            slide[32 + i] = static_cast<std::uint16_t>(i);
        }
    }
};
inline constexpr word_index_tables word_indices;

// Writes the selected words, in order, so that they end at `to`, and moves `to` below them. Compressing to
// the front of a register, sliding to its end and storing all of it beats a compressing store, which is
// microcode on Zen 4; what is below the words is overwritten next.
__attribute__((target("avx512f,avx512bw,avx512vbmi2,popcnt"))) inline void put_words_below(std::byte*& to,
                                                                                           __mmask32 which,
                                                                                           __m512i words) {
    const auto count = static_cast<std::size_t>(_mm_popcnt_u32(which));
    const __m512i slide = _mm512_loadu_si512(word_indices.slide.data() + count);
    const __m512i right = _mm512_permutexvar_epi16(slide, _mm512_maskz_compress_epi16(which, words));
    _mm512_storeu_si512(to - 64, right);
    to -= 2 * count;
}

}  // namespace posy::codec
#endif
