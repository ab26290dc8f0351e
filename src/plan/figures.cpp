#include "plan/figures.hpp"

#include <algorithm>
#include <cmath>

#include "layout/all.hpp"
#include "posy/plan.hpp"
#include "posy/theory.hpp"

namespace posy {
namespace figures {

double rate(std::uint64_t items, const geometry& g) {
    return layouts::expected_rate(g, static_cast<double>(items));
}

double fill(std::uint64_t items, const geometry& g) {
    const auto shape = layouts::with_layout(g, [](const auto& layout) { return layout.groups(); });
    return items == 0 ? 0 : -std::expm1(static_cast<double>(items) * shape.log_untouched());
}

double message(std::uint64_t items, const geometry& g) {
    return static_cast<double>(g.bits) * theory::binary_entropy(fill(items, g));
}

double delta_fill(std::uint64_t items, const geometry& g, double fraction) {
    return theory::delta_density(1 - fill(items, g), fraction);
}

double delta(std::uint64_t items, const geometry& g, double fraction) {
    return static_cast<double>(g.bits) * theory::binary_entropy(delta_fill(items, g, fraction));
}

std::uint64_t granule(unsigned hashes, layout_id layout) { return round_up_bits(1, hashes, layout); }

}  // namespace figures

result<plan> predict(std::uint64_t items, const geometry& g, std::optional<double> delta_fraction) {
    if (auto valid = check(g); !valid) return valid.error();
    plan p{.items = items, .bits = g.bits, .hashes = g.hashes, .layout = g.layout, .hash = g.hash};
    p.fill = figures::fill(items, g);
    p.false_positive_rate = figures::rate(items, g);
    p.message_bits = figures::message(items, g);
    if (delta_fraction) {
        p.delta_fill = figures::delta_fill(items, g, *delta_fraction);
        p.delta_bits = figures::delta(items, g, *delta_fraction);
    }
    return p;
}

counting_plan predict_counters(const plan& p, unsigned counter_bits) {
    const auto n = static_cast<double>(p.items), m = static_cast<double>(p.bits);
    const unsigned largest = (1u << counter_bits) - 1;
    counting_plan c{.counter_bits = counter_bits,
                    .memory_bytes = (p.bits * counter_bits + 63) / 64 * 8 + p.memory_bytes()};
    layouts::with_layout(p.geometry(), [&]<class Layout>(const Layout&) {
        const auto tail = [&](unsigned j) { return Layout::counter_tail(j, n, m, p.hashes); };
        const auto reaches = [&](unsigned j) { return Layout::overflow(j, n, m, p.hashes); };
        c.overflow_bound = std::min(1.0, m * tail(largest));
        c.overflow = reaches(largest);
        for (unsigned j = 0; j <= largest; ++j) {
            const double share = tail(j) - (j < largest ? tail(j + 1) : 0);
            c.shares.push_back(std::max(share, 0.0));
            if (share > 0) c.message_bits -= m * share * std::log2(share);
        }
        // Σ P(highest ≥ j); some counter is at or above the mean.
        auto j = static_cast<unsigned>(std::min(std::ceil(n * p.hashes / m), double(largest)));
        c.highest_counter = j;
        for (double more = 1; j < largest && more > 1e-9; ++j) c.highest_counter += more = reaches(j + 1);
    });
    return c;
}

std::optional<std::uint64_t> smallest_bits(std::uint64_t items, double rate, unsigned hashes,
                                           layout_id layout, hash_family hash) {
    const std::uint64_t granule = figures::granule(hashes, layout), most = max_bits / granule;
    if (!check(geometry{granule, hashes, layout})) return std::nullopt;
    const auto too_few = [&](std::uint64_t granules) {
        return figures::rate(items, {granules * granule, hashes, layout, hash}) > rate;
    };
    // The asymptotic size of the classic filter is close to it in every layout: look around that first, in
    // growing steps. A rate costs microseconds, and a comparison asks for some hundred sizes.
    const double close = rate > 0 && rate < 1 ? -static_cast<double>(items) * hashes /
                                                    std::log1p(-std::pow(rate, 1.0 / hashes))
                                              : 1;
    std::uint64_t low = 0, high = most + 1;
    auto at = static_cast<std::uint64_t>(
        std::clamp(close / static_cast<double>(granule), 1.0, static_cast<double>(most)));
    for (std::uint64_t step = at / 32 + 1; low < at && at < high; step *= 2) {
        if (too_few(at)) {
            low = at, at += step;
        } else {
            high = at, at -= std::min(at, step);
        }
    }
    const std::uint64_t too_small =
        low + figures::last_that(high - low - 1, [&](std::uint64_t more) { return too_few(low + more); });
    if (too_small == most) return std::nullopt;
    return (too_small + 1) * granule;
}

}  // namespace posy
