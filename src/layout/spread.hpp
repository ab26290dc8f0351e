// spread: the classic filter. Every hash ranges over the whole array; k cache misses, the best rate.
#pragma once

#include <cmath>

#include "bits/word_kernels.hpp"
#include "layout/by_probes.hpp"
#include "layout/traits.hpp"
#include "posy/geometry.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

class spread : public by_probes<spread> {
  public:
    static constexpr layout_id id = layout_id::spread;
    static constexpr std::uint64_t granule(unsigned) { return 1; }

    explicit spread(const geometry& g) : by_probes(g.hashes), bits_(g.bits) {}

    std::uint64_t position(unsigned, std::uint64_t random) const { return scale(random, bits_); }

    static double expected_rate(double items, double bits, unsigned hashes) {
        return theory::spread_rate(items, bits, hashes);
    }
    static double counter_tail(unsigned j, double items, double bits, unsigned hashes) {
        return theory::counter_tail(j, items, bits, hashes);
    }
    static double overflow(unsigned j, double items, double bits, unsigned hashes) {
        return theory::overflow_probability(j, items, bits, hashes);
    }
    double rate_now(std::span<const std::uint64_t> words) const {
        return std::pow(static_cast<double>(bits::count_ones(words)) / static_cast<double>(bits_), hashes_);
    }
    group_shape groups() const {
        const auto m = static_cast<double>(bits_);
        const double k = hashes_;
        return {.bits = m,
                .hashes = k,
                .log_miss = k * std::log1p(-1 / m),
                .pairs = {{{m - 1, k * std::log1p(-1 / ((m - 1) * (m - 1)))}}}};
    }

  private:
    std::uint64_t bits_;
};

}  // namespace posy::layouts
