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
#include <cmath>
#include <cstdint>
#include <span>

#include "layout/traits.hpp"
#include "posy/digest.hpp"

namespace posy::layouts {

template <unsigned WordBits>
struct dealt_line {
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

    // The mean over the lines of P(all bits of a random key are set), which is Π φ_w^⌊k/8⌋ times the mean of
    // Π φ_w over the subsets: an elementary symmetric polynomial of the fills φ of the 8 words.
    static double rate_now(std::span<const std::uint64_t> array, std::uint64_t lines, unsigned hashes) {
        constexpr unsigned per_array_word = 64 / WordBits;
        constexpr std::uint64_t low_word = ~std::uint64_t{0} >> (64 - WordBits);
        const unsigned some = hashes % 8;
        double sum = 0;
        for (std::uint64_t line = 0; line < lines; ++line) {
            double all = 1;
            std::array<double, 9> symmetric{1};
            for (unsigned w = 0; w < 8; ++w) {
                const std::uint64_t at = line * 8 + w;
                const std::uint64_t word =
                    array[at / per_array_word] >> at % per_array_word * WordBits & low_word;
                const double fill = std::popcount(word) / double{WordBits};
                for (unsigned layer = hashes / 8; layer != 0; --layer) all *= fill;
                for (unsigned j = some; j > 0; --j) symmetric[j] += fill * symmetric[j - 1];
            }
            sum += all * symmetric[some];
        }
        return sum / static_cast<double>(lines) / static_cast<double>(choose[some]);
    }

    // The lines as the estimates see them. The bits of a key in two words depend on each other only through
    // the subset.
    static group_shape groups(std::uint64_t lines, unsigned hashes) {
        constexpr double size = WordBits;
        const unsigned full = hashes / 8;
        const double each = full, rest = hashes % 8;  // bits that every word gets; words with one more
        const double some = rest / 8, both = some * (rest - 1) / 7;
        const double miss = std::log1p(-1 / size), one = 1 - some / size;
        const double same_word = each * (std::log1p(-2 / size) - 2 * miss) +
                                 std::log1p(-(some / size) * (some / size) / (one * one));
        const double other_word = std::log1p((both - some * some) / (size * size) / (one * one));
        return {.lines = static_cast<double>(lines),
                .bits = bits,
                .hashes = static_cast<double>(hashes),
                .log_miss = each * miss + std::log(one),
                .pairs = {{{size - 1, same_word}, {7 * size, other_word}}}};
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
