#include "zero_counts.hpp"

#include <algorithm>
#include <cmath>

#include "layout/all.hpp"

namespace posy {

zero_counts::zero_counts(const geometry& g)
    : zero_counts(layouts::with_layout(g, [](const auto& layout) { return layout.groups(); })) {}

zero_counts::zero_counts(const layouts::group_shape& g)
    : parts_(g.parts),
      bits_(g.all_bits()),
      part_bits_(g.lines * g.bits),
      thrown_(g.parts * g.hashes),
      log_untouched_(g.log_untouched()) {
    const double touch = -std::expm1(g.log_miss);  // P(a key of the line sets a given bit)
    const double alone = std::exp(log_untouched_);
    for (std::size_t i = 0; i < g.pairs.size(); ++i) {
        // q₂ − q₁² = (P(key of the line leaves both) − P(leaves one)² + touch²(1 − 1/L)) / L
        const double tie = std::exp(2 * g.log_miss) * std::expm1(g.pairs[i].log_pair);
        const double excess = (tie + touch * touch * (1 - 1 / g.lines)) / g.lines;
        pairs_[i] = {g.pairs[i].others, std::log1p(excess / (alone * alone))};
    }
    const double apart = touch / g.lines / alone;  // q₃ − q₁² = −(touch / L)²
    pairs_[2] = {part_bits_ - g.bits, g.lines == 1 ? 0 : std::log1p(-apart * apart)};
}

double zero_counts::expected(double items) const {
    return items == 0 ? bits_ : bits_ * std::exp(items * log_untouched_);
}

double zero_counts::items(double zeros) const { return std::log(zeros / bits_) / log_untouched_; }

double zero_counts::covariance(double s, double t, double w) const {
    if (w == 0) return 0;
    const double both = std::exp((s + t) * log_untouched_);
    if (both == 0) return 0;
    double sum = std::expm1(-w * log_untouched_);
    for (const auto& [others, log_ratio] : pairs_)
        if (others > 0) sum += others * std::expm1(w * log_ratio);
    return parts_ * part_bits_ * both * sum;
}

}  // namespace posy
