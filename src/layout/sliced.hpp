// sliced: hash i ranges over slice i, of bits / hashes bits (Broder and Mitzenmacher 2004, 2.1). Slightly
// above the classic rate; a key always has k different bits, and the slices can be probed in parallel or kept
// apart.
#pragma once

#include <cmath>

#include "bits/word_kernels.hpp"
#include "layout/by_probes.hpp"
#include "layout/traits.hpp"
#include "posy/geometry.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

class sliced : public by_probes<sliced> {
  public:
    static constexpr layout_id id = layout_id::sliced;
    static constexpr std::uint64_t granule(unsigned hashes) { return hashes; }

    explicit sliced(const geometry& g) : by_probes(g.hashes), slice_(g.bits / g.hashes) {}

    std::uint64_t position(unsigned i, std::uint64_t random) const {
        return i * slice_ + scale(random, slice_);
    }

    static double expected_rate(double items, double bits, unsigned hashes) {
        return theory::sliced_rate(items, bits, hashes);
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::counter_tail(j, items, bits / hashes, 1);
    }
    static double overflow(unsigned j, double items, double bits, unsigned hashes) {
        const double slice = theory::overflow_probability(j, items, bits / hashes, 1);
        return -std::expm1(hashes * std::log1p(-slice));
    }
    double rate_now(std::span<const std::uint64_t> words) const {
        double rate = 1;
        for (unsigned i = 0; i < hashes_; ++i) {
            rate *= static_cast<double>(ones_between(words, i * slice_, (i + 1) * slice_)) /
                    static_cast<double>(slice_);
        }
        return rate;
    }
    group_shape groups() const {
        const auto s = static_cast<double>(slice_);
        return {.parts = static_cast<double>(hashes_),
                .bits = s,
                .hashes = 1,
                .log_miss = std::log1p(-1 / s),
                .pairs = {{{s - 1, std::log1p(-1 / ((s - 1) * (s - 1)))}}}};
    }

  private:
    static std::uint64_t ones_between(std::span<const std::uint64_t> words, std::uint64_t from,
                                      std::uint64_t to) {
        const auto below = [&](std::uint64_t end) {  // ones of the word that holds bit `end`, below it
            return end % 64 == 0 ? 0u
                                 : static_cast<unsigned>(std::popcount(words[end / 64] << (64 - end % 64)));
        };
        return bits::count_ones(words.subspan(from / 64, to / 64 - from / 64)) + below(to) - below(from);
    }

    std::uint64_t slice_;
};

}  // namespace posy::layouts
