#include "count_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace posy {

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double normal_deviations(double level) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; ++i) {
        const double middle = (low + high) / 2;
        (2 * normal_below(-middle) > 1 - level ? low : high) = middle;
    }
    return low;
}

distribution count_distribution(double mean, double variance) {
    constexpr double negligible = 1e-10;
    if (mean < negligible || variance < negligible)
        return {static_cast<std::int64_t>(std::llround(std::max(mean, 0.0))), {1}};
    // p(j + 1) / p(j) = (mean/ρ + (1 − 1/ρ) j) / (j + 1) with ρ = variance / mean. From the middle outwards.
    const double rho = variance / mean, constant = mean / rho, slope = 1 - 1 / rho;
    const auto ratio = [&](double j) { return (constant + slope * j) / (j + 1); };
    const double middle = std::floor(mean);
    std::vector<double> down, up{1};
    for (double j = middle; j > 0; --j) {
        const double r = ratio(j - 1), last = down.empty() ? 1 : down.back();
        if (r <= 0 || last / r < negligible) break;
        down.push_back(last / r);
    }
    for (double j = middle;; ++j) {
        const double next = up.back() * ratio(j);
        if (!(next > negligible)) break;
        up.push_back(next);
    }
    distribution d{static_cast<std::int64_t>(middle) - static_cast<std::int64_t>(down.size()), {}};
    d.p.assign(down.rbegin(), down.rend());
    d.p.insert(d.p.end(), up.begin(), up.end());
    const double sum = std::accumulate(d.p.begin(), d.p.end(), 0.0);
    for (double& p : d.p) p /= sum;
    return d;
}

tails tails_of(const distribution& d, std::int64_t seen, double level) {
    tails t;
    const auto size = static_cast<std::int64_t>(d.p.size()), at = seen - d.first;
    for (std::int64_t i = 0; i < size; ++i)
        (i < at ? t.below : i > at ? t.above : t.here) += d.p[static_cast<std::size_t>(i)];
    const bool low = t.below < t.above;
    const double near = (low ? t.below : t.above) + t.here;
    // The values of the other side that are as far out.
    double far = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const double p = d.p[static_cast<std::size_t>(low ? size - 1 - i : i)];
        if (far + p > near * (1 + 1e-9) || (low ? size - 1 - i <= at : i >= at)) break;
        far += p;
    }
    const double weight = t.here > 0.3 * (1 - level) ? 1 : 0.5;
    t.acceptability = near + far - (1 - weight) * t.here;
    return t;
}

}  // namespace posy
