// What is known of lines whose bits are dealt as posy/layout/line_bits.hpp says.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "layout/traits.hpp"
#include "posy/layout/line_bits.hpp"

namespace posy::layouts {

template <unsigned WordBits>
struct dealt_line : line_bits<WordBits> {
    using line_bits<WordBits>::bits;
    using line_bits<WordBits>::choose;

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
};

}  // namespace posy::layouts
