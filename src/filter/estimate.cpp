#include "posy/estimate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "line_likelihood.hpp"

namespace posy {
namespace {

using layouts::group_shape;

// The z for which a normal variable lies within ±z deviations with probability `level`.
double deviations(double level) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (std::erfc(middle / std::sqrt(2.0)) > 1 - level ? low : high) = middle;
    }
    return low;
}

double zeros_expected(const group_shape& g, double items) {
    return g.groups * g.bits * std::exp(items * g.log_miss);
}

// Covariance of the zero counts of two sets of s and t keys, w of them in both, in one group that all of them
// touch. From P(bit i untouched by S and bit j by T), summed over i = j and i ≠ j.
double zero_covariance(const group_shape& g, double s, double t, double w) {
    return g.bits * std::exp(g.log_miss * (s + t)) *
           (std::expm1(-g.log_miss * w) + (g.bits - 1) * std::expm1(g.log_pair * w));
}

// The same where a group gets a random, Poisson share of the keys: given the loads, averaged over them, with
// E[a^x] = exp(λ(a − 1)).
double zero_covariance_averaged(const group_shape& g, double s, double t, double w) {
    const double miss = std::expm1(g.log_miss), other = (s - w + t - w) * miss;
    return g.bits * (std::exp(other + w * miss) +
                     (g.bits - 1) * std::exp(other + w * std::expm1(2 * g.log_miss + g.log_pair)) -
                     g.bits * std::exp(other + w * std::expm1(2 * g.log_miss)));
}

// Covariance of two estimates of n: that of the zeros over the slopes at which zeros vanish with n.
double estimate_covariance(const group_shape& g, double s, double t, double w) {
    if (!g.random_load) {
        const auto slope = [&](double items) { return zeros_expected(g, items) * g.log_miss; };
        return g.groups * zero_covariance(g, s, t, w) / (slope(s) * slope(t));
    }
    const auto slope = [&](double load) {
        return g.bits * g.log_miss * std::exp(load * std::expm1(g.log_miss));
    };
    const double share = g.touched / g.groups;
    s *= share, t *= share, w *= share;
    return zero_covariance_averaged(g, s, t, w) / (slope(s) * slope(t)) * g.groups / (g.touched * g.touched);
}

double items_from_zeros(const group_shape& g, double zeros) {
    const double log_miss =
        g.random_load ? g.touched * std::log1p(std::expm1(g.log_miss) / g.groups) : g.log_miss;
    return std::log(zeros / (g.groups * g.bits)) / log_miss;
}

// P(a key sets d different bits of its line): all but those that meet another.
std::vector<double> distinct_bits(const group_shape& g) {
    std::vector<double> p(g.hashes + 1);
    double weight = std::pow(1 - g.meet, g.may_meet);
    for (unsigned met = 0; met <= g.may_meet; ++met) {
        p[g.hashes - met] = weight;
        weight *= (g.may_meet - met) / (met + 1.0) * g.meet / (1 - g.meet);
    }
    return p;
}

// The n at which `zeros` would lie z deviations of its own below (sign −1) or above (+1) the expectation.
double end_of_interval(const group_shape& g, double zeros, double start, double z, double sign) {
    const auto beyond = [&](double n) {
        const double deviation = std::sqrt(std::max(0.0, g.groups * zero_covariance(g, n, n, n)));
        return zeros_expected(g, n) + sign * z * deviation < zeros;
    };
    double low = 0, high = start + 1;
    while (!beyond(high) && high < 1e18) high *= 2;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (beyond(middle) ? high : low) = middle;
    }
    return low;
}

estimate around(double value, double deviation, double least, double most) {
    const double v = std::clamp(value, least, most);
    return {v, std::clamp(value - deviation, least, v), std::clamp(value + deviation, v, most)};
}

std::vector<double> ones_by_line(const bit_array& a, const bit_array& b, std::size_t line_bits) {
    const std::size_t line_words = line_bits / 64;
    std::vector<double> histogram(line_bits + 1);
    for (std::size_t at = 0; at < a.words().size(); at += line_words) {
        unsigned ones = 0;
        for (std::size_t w = at; w < at + line_words; ++w)
            ones += static_cast<unsigned>(std::popcount(a.words()[w] | b.words()[w]));
        ++histogram[ones];
    }
    return histogram;
}

// The estimate of a ∪ b, which need not exist; that of one array is that of its union with itself.
estimate estimate_union(const group_shape& g, const bit_array& a, const bit_array& b, double z) {
    const double infinite = std::numeric_limits<double>::infinity();
    const double all = g.groups * g.bits;
    const double zeros = all - static_cast<double>(ones_of_union(a, b));
    if (zeros == all) return {};
    if (g.bits < 2) return {1, 1, infinite};  // one bit a group is set by any key
    if (g.random_load) {
        const auto histogram = ones_by_line(a, b, static_cast<std::size_t>(g.bits));
        const auto [touches, variance] = estimate_from_lines(histogram, distinct_bits(g));
        if (std::isinf(touches)) return {infinite, items_from_zeros(g, std::max(zeros, 0.5)), infinite};
        return around(touches / g.touched, z * std::sqrt(variance) / g.touched, 0, infinite);
    }
    const double value = zeros == 0 ? infinite : items_from_zeros(g, zeros);
    const double start = items_from_zeros(g, std::max(zeros, 0.5));
    return {value, std::min(value, end_of_interval(g, zeros, start, z, -1)),
            zeros == 0 ? infinite : std::max(value, end_of_interval(g, zeros, start, z, +1))};
}

// A bound from above that holds at the level, from the zeros alone: fewer zeros never lower it, which makes
// it a bound for any array whose ones are among these. (The likelihood of lines does not: it takes a line
// with fewer ones than one key sets for impossible.) One end alone at a level is that of the two-sided
// interval that misses twice as often.
double most_items(const group_shape& g, const bit_array& bits, double level) {
    const double z = deviations(std::max(0.0, 2 * level - 1));
    const double all = g.groups * g.bits, zeros = all - static_cast<double>(bits.ones());
    if (!g.random_load || zeros == 0 || zeros == all) return estimate_union(g, bits, bits, z).high;
    const double value = items_from_zeros(g, zeros);
    return value + z * std::sqrt(std::max(0.0, estimate_covariance(g, value, value, value)));
}

}  // namespace

estimate estimate_items(const bloom_filter& filter, double level) {
    const auto g =
        layouts::with_layout(filter.geometry(), [](const auto& layout) { return layout.groups(); });
    if (filter.provenance().intersection) {
        const double most = most_items(g, filter.bits(), level);
        return {most, 0, most};
    }
    return estimate_union(g, filter.bits(), filter.bits(), deviations(level));
}

result<comparison> compare(const bloom_filter& a, const bloom_filter& b, double level) {
    if (a.geometry() != b.geometry()) return mismatch(a.geometry(), b.geometry());
    if (a.provenance().intersection || b.provenance().intersection) {
        return error{
            "the bits of an intersection do not tell how many items it has; compare the filters that it was "
            "made from"};
    }
    const auto g = layouts::with_layout(a.geometry(), [](const auto& layout) { return layout.groups(); });
    const double z = deviations(level);
    comparison c;
    c.a = estimate_union(g, a.bits(), a.bits(), z);
    c.b = estimate_union(g, b.bits(), b.bits(), z);
    c.united = estimate_union(g, a.bits(), b.bits(), z);

    const double na = c.a.value, nb = c.b.value, nu = c.united.value;
    if (std::isinf(nu)) {
        c.intersection = {0, 0, std::min(c.a.high, c.b.high)};
        c.jaccard = {0, 0, 1};
        return c;
    }
    const double common = std::clamp(na + nb - nu, 0.0, std::min(na, nb));
    // Covariances of the three estimates; then the variance of the combination weights · (A, B, A ∪ B).
    const auto cov = [&](double s, double t, double w) {
        return s > 0 && t > 0 ? estimate_covariance(g, s, t, w) : 0;
    };
    const double aa = cov(na, na, na), bb = cov(nb, nb, nb), uu = cov(nu, nu, nu);
    const double ab = cov(na, nb, common), au = cov(na, nu, na), bu = cov(nb, nu, nb);
    // The averaged formula uses one slope for all lines, the likelihood each line's own: take over its
    // variance.
    const double likelihood = (c.united.high - c.united.low) / 2 / z;
    const double scale = g.random_load && uu > 0 ? std::max(1.0, likelihood * likelihood / uu) : 1;
    const auto deviation = [&](double of_union) {
        const double v = aa + bb + of_union * of_union * uu + 2 * (ab - of_union * (au + bu));
        return z * std::sqrt(std::max(v, 0.0) * scale);
    };
    c.intersection = around(na + nb - nu, deviation(1), 0, std::min(c.a.high, c.b.high));
    const double j = nu > 0 ? common / nu : 0;  // dJ = (da + db − (1 + J) du) / u
    c.jaccard = around(j, nu > 0 ? deviation(1 + j) / nu : 0, 0, 1);
    return c;
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
