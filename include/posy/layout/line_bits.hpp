// The one-line layouts deal k bits over a line of 8 words, and this is how: every word gets ⌊k/8⌋ bits of the
// key, and a random subset of k mod 8 words gets one more. So up to k = 8 the bits lie in different words,
// and a SIMD kernel makes the whole mask with one shift per layer, no multiplication and no scatter:
//
//   layer 0  : word w, bit (high >> sw) mod 2^s                      words of 2^s bits: 64 or 16
//   layer 1  : word w, bit (source >> sw) mod 2^s, with source = low · 0x9e3779b97f4a7c15 >> 16
//   subset   : entry ⌊(high >> 48) · C(8, k mod 8) / 2^16⌋ of the bytes with k mod 8 ones, in ascending order
//
// These choices are the format.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "posy/digest.hpp"

namespace posy::layouts {

// The digest that rules the second of two lines; posy/geometry.hpp, layout paired.
constexpr digest in_second_line(digest d) {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
    return {(d.low + d.high) * odd, d.low * odd};
}

template <unsigned WordBits>
struct line_bits {
    static constexpr unsigned max_hashes = 16;
    static constexpr unsigned shift = static_cast<unsigned>(std::countr_zero(WordBits));
    static constexpr std::uint64_t bits = 8 * WordBits;

    static constexpr std::uint64_t second_source(std::uint64_t low) { return low * 0x9e3779b97f4a7c15 >> 16; }

    // Calls visit(position in the line) until it answers false; was it never false?
    template <class Visit>
    static bool positions(digest d, unsigned hashes, Visit visit) {
        std::uint64_t source = d.high;
        const auto layer = [&](unsigned words) {
            for (; words != 0; words &= words - 1) {
                const auto w = static_cast<unsigned>(std::countr_zero(words));
                if (!visit(WordBits * w + (source >> shift * w & (WordBits - 1)))) return false;
            }
            return true;
        };
        for (unsigned full = hashes / 8; full != 0; --full) {
            if (!layer(0xff)) return false;
            source = second_source(d.low);
        }
        return layer(subset(d.high >> 48, hashes % 8));
    }

    // The words of the partial layer, as a mask: a uniformly random byte with `size` ones.
    static unsigned subset(std::uint64_t random16, unsigned size) {
        return subsets[first[size] + (random16 * choose[size] >> 16)];
    }

    static constexpr std::array<unsigned, 8> choose{1, 8, 28, 56, 70, 56, 28, 8};
    static constexpr std::array<unsigned, 8> first{0, 1, 9, 37, 93, 163, 219, 247};
    static constexpr std::array<std::uint8_t, 255> subsets = [] {
        std::array<std::uint8_t, 255> sorted{};
        auto next = first;
        for (unsigned byte = 0; byte < 255; ++byte) {
            sorted[next[static_cast<std::size_t>(std::popcount(byte))]++] = static_cast<std::uint8_t>(byte);
        }
        return sorted;
    }();
};

}  // namespace posy::layouts
