#include "posy/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "count_distribution.hpp"
#include "farthest.hpp"
#include "zero_counts.hpp"

namespace posy {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Are this many zeros plausible for n keys?
class items_test {
  public:
    items_test(const zero_counts& counts, double zeros, double level)
        : counts_(counts), zeros_(zeros), level_(level) {}

    // Uses the distribution of the smaller of two counts: bits that are still 0, or bits that were already
    // set when a key set them. A wide distribution is taken as normal.
    tails at(double items) const {
        const double lost_seen = counts_.thrown(items) - (counts_.bits() - zeros_);
        if (lost_seen < 0) return {};  // more ones than n keys can set
        const double left = counts_.expected(items), variance = std::max(0.0, counts_.variance(items));
        const double lost = counts_.thrown(items) - (counts_.bits() - left);
        const bool by_lost = lost < left;
        const double mean = by_lost ? lost : left, seen = by_lost ? lost_seen : zeros_;
        if (variance < few_values * few_values)
            return tails_of(count_distribution(mean, variance), std::llround(seen), level_);
        const double deviation = std::sqrt(variance), x = (seen - mean) / deviation;
        const double skewness = (2 * variance / mean - 1) / deviation;
        const double below = normal_below(x - skewness / 6 * (x * x - 1));  // Cornish and Fisher 1938
        return {below, 0, 1 - below, 2 * std::min(below, 1 - below)};
    }
    bool accepts(double items) const { return at(items).acceptability > 1 - level_; }

  private:
    const zero_counts& counts_;
    double zeros_, level_;
};

}  // namespace

estimate estimate_from_zeros(const zero_counts& counts, double zeros, double level) {
    const double ones = counts.bits() - zeros, miss = 1 - level;
    if (ones == 0) return {};
    const double least = std::ceil(ones / counts.thrown(1));  // keys that it takes
    const items_test test(counts, zeros, level);
    const double value = zeros == 0 ? infinite : counts.items(zeros);
    const double start = std::max(least, std::round(zeros == 0 ? counts.items(0.1) : value));
    // With more keys the count seen is too high, with fewer too low, and ever less likely.
    const auto end = [&](double direction, double limit) {
        const auto outside = [&](double n, double here) {
            const tails t = test.at(n);
            return (direction > 0 ? t.above : t.below) + here * t.here;
        };
        return farthest(
            start, direction, limit, [&](double n) { return outside(n, 1) > miss / 2; },
            [&](double n) { return outside(n, 0.5) >= miss; }, [&](double n) { return test.accepts(n); });
    };
    const double low = end(-1, start - least), high = zeros == 0 ? infinite : end(+1, 1e18);
    return {std::clamp(value, low, high), low, high};
}

estimate estimate_items(const bloom_filter& filter, double level) {
    const zero_counts counts(filter.geometry());
    const double zeros = counts.bits() - static_cast<double>(filter.ones());
    if (filter.provenance().intersection) {
        // One end alone at this level is the end of the two-sided interval that misses twice as often.
        const double most = estimate_from_zeros(counts, zeros, std::max(0.0, 2 * level - 1)).high;
        return {most, 0, most};
    }
    return estimate_from_zeros(counts, zeros, level);
}

}  // namespace posy
