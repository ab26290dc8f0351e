// The one-line layouts deal k bits over a line of 8 words, and this is how: every word gets ⌊k/8⌋ bits of the
// key, and a random subset of k mod 8 words gets one more. So up to k = 8 the bits lie in different words,
// and a SIMD kernel makes the whole mask with one shift a layer, no multiplication and no scatter:
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

#include "posy/digest.hpp"
#include "posy/layout/traits.hpp"

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

    // The lines as the estimates see them.
    static group_shape groups(std::uint64_t lines, unsigned hashes) {
        constexpr double size = WordBits;
        const unsigned full = hashes / 8, rest = hashes % 8;
        const double each = full, some = rest / 8.0;  // bits that every word gets; P(a word gets one more)
        const double miss = std::pow(1 - 1 / size, each) * (1 - some / size);
        const double both_same_word = std::pow(1 - 2 / size, each) * (1 - 2 * some / size);
        const double other_too = rest == 0 ? 0 : some * (rest - 1) / 7;
        const double both_two_words =
            std::pow(1 - 1 / size, 2 * each) * (1 - 2 * some / size + other_too / (size * size));
        const double pair = ((size - 1) * both_same_word + 7 * size * both_two_words) / (8 * size - 1);
        return {.groups = static_cast<double>(lines),
                .bits = bits,
                .random_load = true,
                .log_miss = std::log(miss),
                .log_pair = std::log(pair / (miss * miss)),
                .hashes = hashes,
                .may_meet = hashes > 8 ? hashes - 8 : 0,
                .meet = 1 / size};
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
