// spread: the classic filter. Every hash ranges over the whole array; k cache misses, the best rate.
#pragma once

#include <cmath>

#include "bits/word_kernels.hpp"
#include "layout/probe.hpp"
#include "layout/traits.hpp"
#include "posy/geometry.hpp"
#include "posy/theory.hpp"

namespace posy::layouts {

class spread {
  public:
    static constexpr layout_id id = layout_id::spread;
    static constexpr unsigned max_hashes = 32;
    static constexpr unsigned hash_step = 1;
    static constexpr std::uint64_t granule(unsigned) { return 1; }
    static constexpr std::uint64_t fold_unit = 1;

    explicit spread(const geometry& g) : bits_(g.bits), hashes_(g.hashes) {}

    // Where hash i goes with its 64 random bits.
    std::uint64_t position(unsigned, std::uint64_t random) const { return scale(random, bits_); }

    template <class Visit>
    bool positions(digest d, Visit visit) const {
        probe_sequence probes(d);
        for (unsigned i = 0; i < hashes_; ++i) {
            if (!visit(position(i, probes.next()))) return false;
        }
        return true;
    }
    template <class Visit>
    void lines(digest d, Visit visit) const {
        positions(d, [&](std::uint64_t position) { return visit(position), true; });
    }

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
    unsigned hashes_;
};

}  // namespace posy::layouts
