// blocked: all bits of a key in one 512-bit line (Putze, Sanders and Singler 2007): one cache miss a lookup.
//
// The line is 8 words of 64 bits. Hashes are dealt out evenly: every word gets ⌊k/8⌋ bits of the key, and a
// random subset of k mod 8 words gets one more. So up to k = 8 the bits lie in different words, and a SIMD
// kernel makes the whole mask with one shift a layer, no multiplication and no scatter:
//
//   line     = ⌊low · lines / 2^64⌋
//   layer 0  : word w, bit (high >> 6w) & 63
//   layer 1  : word w, bit (source >> 6w) & 63, with source = low · 0x9e3779b97f4a7c15 >> 16
//   subset   : entry ⌊(high >> 48) · C(8, k mod 8) / 2^16⌋ of the bytes with k mod 8 ones, in ascending order
//
// These choices are the format. The loads of the lines differ, so the rate is a mixture over them and not the
// classic formula: theory::blocked_rate.
#pragma once

#include <array>
#include <cmath>

#include "posy/geometry.hpp"
#include "posy/layout/probe.hpp"
#include "posy/layout/traits.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

class blocked {
  public:
    static constexpr layout_id id = layout_id::blocked;
    static constexpr std::string_view name = "blocked";
    static constexpr unsigned max_hashes = 16;
    static constexpr std::uint64_t line_bits = 512;
    static constexpr std::uint64_t granule(unsigned) { return line_bits; }
    static constexpr std::uint64_t fold_unit = line_bits;

    explicit blocked(const geometry& g) : lines_(g.bits / line_bits), hashes_(g.hashes) {}

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        const std::uint64_t line = scale(d.low, lines_) * line_bits;
        std::uint64_t source = d.high;
        const auto layer = [&](unsigned words) {
            for (; words != 0; words &= words - 1) {
                const auto w = static_cast<unsigned>(std::countr_zero(words));
                if (!visit(line + 64 * w + (source >> 6 * w & 63))) return false;
            }
            return true;
        };
        for (unsigned full = hashes_ / 8; full != 0; --full) {
            if (!layer(0xff)) return false;
            source = d.low * 0x9e3779b97f4a7c15 >> 16;
        }
        return layer(subset(d.high >> 48, hashes_ % 8));
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        visit(scale(d.low, lines_) * line_bits);
    }

    static double expected_rate(double items, double bits, unsigned hashes) {
        return theory::blocked_rate(items, bits, hashes);
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::blocked_counter_tail(j, items, bits, hashes);
    }

    // The mean over the lines of P(all bits of a random key are set), which is Π φ_w^⌊k/8⌋ times the mean of
    // Π φ_w over the subsets: an elementary symmetric polynomial of the fills φ of the 8 words.
    double rate_now(std::span<const std::uint64_t> words) const {
        const unsigned some = hashes_ % 8;
        double sum = 0;
        for (std::size_t line = 0; line < words.size(); line += 8) {
            double all = 1;
            std::array<double, 9> symmetric{1};
            for (std::size_t w = 0; w < 8; ++w) {
                const double fill = std::popcount(words[line + w]) / 64.0;
                for (unsigned layer = hashes_ / 8; layer != 0; --layer) all *= fill;
                for (unsigned j = some; j > 0; --j) symmetric[j] += fill * symmetric[j - 1];
            }
            sum += all * symmetric[some];
        }
        return sum / static_cast<double>(lines_) / static_cast<double>(choose[some]);
    }
    group_shape groups() const {
        const unsigned full = hashes_ / 8, rest = hashes_ % 8;
        const double each = full, some = rest / 8.0;  // bits that every word gets; P(a word gets one more)
        const double miss = std::pow(63 / 64.0, each) * (1 - some / 64);
        const double both_same_word = std::pow(62 / 64.0, each) * (1 - 2 * some / 64);
        const double other_too = rest == 0 ? 0 : some * (rest - 1) / 7;
        const double both_two_words = std::pow(63 / 64.0, 2 * each) * (1 - 2 * some / 64 + other_too / 4096);
        return {.groups = static_cast<double>(lines_),
                .bits = line_bits,
                .random_load = true,
                .log_miss = std::log(miss),
                .log_pair = std::log((63 * both_same_word + 448 * both_two_words) / 511 / (miss * miss)),
                .hashes = hashes_,
                .may_meet = hashes_ > 8 ? hashes_ - 8 : 0,
                .meet = 1 / 64.0};
    }

    // The words of the partial layer, as a mask: a uniformly random byte with `size` ones.
    static unsigned subset(std::uint64_t random16, unsigned size) {
        return subsets[first[size] + (random16 * choose[size] >> 16)];
    }

  private:
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

    std::uint64_t lines_;
    unsigned hashes_;
};

}  // namespace posy::layouts
