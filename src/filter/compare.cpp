// How much two filters have in common. All of it comes from three numbers, the zeros of A, of B and of
// A OR B; given the zeros of A and of B, those of the OR test a size c of the intersection (docs/maths.md,
// section 6). O(1) after counting.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "count_distribution.hpp"
#include "farthest.hpp"
#include "unequal.hpp"
#include "zero_counts.hpp"

namespace posy {
namespace {

// Are this many zeros in the OR plausible for an intersection of c keys?
class overlap_test {
  public:
    overlap_test(const zero_counts& counts, double zeros_a, double zeros_b, double zeros_of_or, double level)
        : counts_(counts),
          zeros_{zeros_a, zeros_b, zeros_of_or},
          items_a_(counts.items(zeros_a)),
          items_b_(counts.items(zeros_b)),
          disjoint_(zeros_a * zeros_b / counts.bits()),
          level_(level) {}

    double sizes() const { return items_a_ + items_b_; }

    // The deviation of the zeros of the OR around what is expected of them, given c and the zeros of A and B;
    // or given c / (|A| + |B|) = share instead: then c moves with the zeros.
    double deviation(double common, double share = 0) const {
        const double a = std::max(items_a_, common), b = std::max(items_b_, common), u = a + b - common;
        // Z_OR is expected to be Z_A·Z_B / (m·q₁^c); its slopes by Z_A and Z_B:
        const double by_a = (1 - share) * counts_.expected(b - common) / counts_.bits();
        const double by_b = (1 - share) * counts_.expected(a - common) / counts_.bits();
        const auto cov = [&](double s, double t, double w) { return counts_.covariance(s, t, w); };
        const double variance =
            cov(u, u, u) + by_a * by_a * cov(a, a, a) + by_b * by_b * cov(b, b, b) +
            2 * (by_a * by_b * cov(a, b, common) - by_a * cov(u, a, a) - by_b * cov(u, b, b));
        return std::sqrt(std::max(variance, 0.0));
    }
    bool few(double common, double values) const { return deviation(common) < values; }

    // Value by value: the bits of the common keys, and given those the other bits of A among those of B.
    tails by_values(double common) const {
        const double bits = counts_.bits(), left = counts_.expected(common);
        const double variance = std::max(0.0, counts_.variance(common)), sigma = deviation(common);
        const double lost = counts_.thrown(common) - (bits - left);
        const auto set =
            lost < left ? count_distribution(lost, variance) : count_distribution(left, variance);
        const double slope = slope_by_own(left);
        const double given = std::max(0.0, sigma * sigma - slope * slope * variance);
        const double expected = zeros_.a * zeros_.b / left, width = 40 * sigma + 64;
        window sum{std::max(0.0, std::floor(expected - width)), {}};
        sum.p.resize(static_cast<std::size_t>(expected + width - sum.first) + 1);
        for (std::size_t i = 0; i < set.p.size(); ++i) {
            const auto count = static_cast<double>(set.first) + static_cast<double>(i);
            if (set.p[i] > 1e-9)
                add_given(lost < left ? bits - counts_.thrown(common) + count : count, given, set.p[i], sum);
        }
        // Fewer zeros than disjoint sets leave say the same as that many: nothing in common.
        const double least = std::floor(disjoint_) - sum.first;
        for (std::size_t i = 0; static_cast<double>(i) < least && i + 1 < sum.p.size(); ++i)
            sum.p[i + 1] += std::exchange(sum.p[i], 0);
        const double seen = std::max(zeros_.of_or, std::floor(disjoint_));
        return tails_of({0, std::move(sum.p)}, std::llround(seen - sum.first), level_);
    }

    // How well it fits a normal Z_OR. Values below those of disjoint sets may be observed, although c cannot
    // be negative: ordered by likelihood ratio (Feldman and Cousins 1998). That is two-sided far from 0 and
    // one-sided at 0.
    double acceptability(double common, double share = 0) const {
        const double sigma = deviation(common, share), left = counts_.expected(common);
        const double expected = zeros_.a * zeros_.b / left;
        if (sigma == 0) return std::abs(zeros_.of_or - expected) < 0.5;
        // What is due to the common keys' own zeros is straight in those, the rest in the zeros of the OR.
        const double slope = slope_by_own(left);
        const double own = share > 0 || zeros_.of_or == 0
                               ? 0
                               : std::min(1.0, slope * slope * counts_.variance(common) / (sigma * sigma));
        const double off = own == 0 ? 0 : own * slope * (left - zeros_.a * zeros_.b / zeros_.of_or);
        const double mean = (expected - disjoint_) / sigma;
        const double x = mean + (off + (1 - own) * (zeros_.of_or - expected)) / sigma;
        const double distance = x >= 0 ? std::abs(x - mean) : std::sqrt(mean * mean - 2 * x * mean);
        if (mean == 0) return normal_below(-distance);
        const double low = mean >= distance ? mean - distance : mean / 2 - distance * distance / (2 * mean);
        return normal_below(-distance) + normal_below(low - mean);
    }

  private:
    // How the zeros of the OR move with those of the common keys' own filter; neither A nor B has more.
    double slope_by_own(double left) const {
        return std::min(1.0, zeros_.a / left) * std::min(1.0, zeros_.b / left);
    }

    struct window {
        double first;
        std::vector<double> p;
        void add(double at, double weight) {
            const double i = std::max(0.0, std::round(at)) - first;
            if (i >= 0 && i < static_cast<double>(p.size())) p[static_cast<std::size_t>(i)] += weight;
        }
    };

    // Adds P(z zeros in the OR | this many zeros left by the common keys). Among those, A and B leave their
    // zeros at random: a two-by-two table, whose smallest number is the count. If the common keys leave fewer
    // zeros than A or B has, the expected count is beyond all that can be observed; it stays there.
    void add_given(double zeros, double variance, double weight, window& sum) const {
        const double most = std::min(zeros_.a, zeros_.b),
                     neither = zeros_.a * zeros_.b / std::max(zeros, 1.0);
        if (neither >= most) return sum.add(neither, weight);
        const double both = std::max(0.0, zeros - zeros_.a - zeros_.b + neither), one = most - neither;
        const double least = std::min({neither, both, one});
        const auto d = count_distribution(least, variance);
        for (std::size_t i = 0; i < d.p.size(); ++i) {
            const auto count = static_cast<double>(d.first) + static_cast<double>(i);
            sum.add(least == neither ? count
                    : least == both  ? zeros_.a + zeros_.b - zeros + count
                                     : most - count,
                    weight * d.p[i]);
        }
    }

    const zero_counts& counts_;
    struct {
        double a, b, of_or;
    } zeros_;
    double items_a_, items_b_, disjoint_, level_;
};

estimate intersection(const overlap_test& test, double value, double most, double level) {
    const double miss = 1 - level, start = std::min(std::round(value), most);
    const bool by_values = test.few(start, few_values / 2);
    std::map<double, tails> seen;  // a search comes by more than once
    const auto tails_at = [&](double c) {
        const auto [at, fresh] = seen.try_emplace(c);
        if (fresh) at->second = test.by_values(c);
        return at->second;
    };
    const auto accepted = [&](double c) {
        return (by_values ? tails_at(c).acceptability : test.acceptability(c)) > miss;
    };
    // With more in common than there is, the zeros of the OR seen are too few.
    const auto end = [&](double direction, double limit) {
        const auto outside = [&](double c, double here, double enough) {
            if (!by_values) return accepted(c);
            const tails t = tails_at(c);
            return (direction > 0 ? t.below : t.above) + here * t.here >= enough;
        };
        return farthest(
            start, direction, limit, [&](double c) { return outside(c, 1, miss / 2); },
            [&](double c) { return outside(c, 0.5, miss); }, accepted);
    };
    const double low = end(-1, start), high = end(+1, most - start);
    return {std::clamp(value, low, high), low, high};
}

// J = c / (a + b − c), so that c is the share J / (1 + J) of a + b.
estimate jaccard(const overlap_test& test, const comparison& c, double level) {
    const auto of = [](double common, double sizes) {
        return common <= 0 ? 0 : std::min(1.0, common / std::max(common, sizes - common));
    };
    const double value = of(c.intersection.value, c.a.value + c.b.value);
    if (test.few(c.intersection.value, 2)) {  // then the sizes are all but known
        const double low = of(c.intersection.low, c.a.high + c.b.high);
        const double high = of(c.intersection.high, c.a.low + c.b.low);
        return {std::clamp(value, low, high), low, high};
    }
    const auto accepted = [&](double j) {
        const double share = j / (1 + j);
        return test.acceptability(share * test.sizes(), share) > 1 - level;
    };
    const auto end = [&](double good, double bad) {
        if (accepted(bad)) return bad;
        for (int i = 0; i < 60; ++i) {
            const double middle = (good + bad) / 2;
            (accepted(middle) ? good : bad) = middle;
        }
        return good;
    };
    return {value, end(value, 0), end(value, 1)};
}

}  // namespace

comparison compare_zeros(const zero_counts& counts, double zeros_a, double zeros_b, double zeros_of_or,
                         double level) {
    comparison c;
    c.a = estimate_from_zeros(counts, zeros_a, level);
    c.b = estimate_from_zeros(counts, zeros_b, level);
    c.united = estimate_from_zeros(counts, zeros_of_or, level);
    if (std::max(zeros_a, zeros_b) == counts.bits()) return c;  // one of them is empty
    if (zeros_a == 0 || zeros_b == 0) {  // a full array looks like a set that has everything
        c.intersection = {0, 0, std::min(c.a.high, c.b.high)};
        c.jaccard = {0, 0, 1};
        return c;
    }
    const overlap_test test(counts, zeros_a, zeros_b, zeros_of_or, level);
    const double common =
        zeros_of_or == 0 ? 0 : counts.items(zeros_a) + counts.items(zeros_b) - counts.items(zeros_of_or);
    c.intersection = intersection(test, std::max(0.0, common), std::max(c.a.high, c.b.high), level);
    c.jaccard = jaccard(test, c, level);
    return c;
}

result<comparison> compare(const bloom_filter& a, const bloom_filter& b, double level) {
    if (a.geometry() != b.geometry()) return unequal(a.geometry(), b.geometry());
    if (a.provenance().intersection || b.provenance().intersection) {
        return error::invalid(
            "the bits of an intersection do not tell how many items it has; compare the filters that it was "
            "made from");
    }
    const zero_counts counts(a.geometry());
    const auto zeros = [&](std::uint64_t ones) { return counts.bits() - static_cast<double>(ones); };
    return compare_zeros(counts, zeros(a.ones()), zeros(b.ones()), zeros(ones_of_union(a.bits(), b.bits())),
                         level);
}

double intersection_from_inner_product(double inner, double items_a, double items_b, double bits,
                                       double hashes) {
    const double log_miss = hashes * std::log1p(-1 / bits);
    const double zeros_of_union =
        inner / bits - 1 + std::exp(items_a * log_miss) + std::exp(items_b * log_miss);
    return items_a + items_b - std::log(zeros_of_union) / log_miss;
}

double intersection_from_zeros(double zeros_a, double zeros_b, double zeros_of_and, double bits,
                               double hashes) {
    return std::log(bits * (zeros_a + zeros_b - zeros_of_and) / (zeros_a * zeros_b)) /
           (-hashes * std::log1p(-1 / bits));
}

}  // namespace posy
