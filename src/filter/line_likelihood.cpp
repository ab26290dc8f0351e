#include "line_likelihood.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace posy {
namespace {

// P(y ones | x keys), row after row. A key sets d different bits of the line with probability distinct[d];
// how many of them are new is hypergeometric.
class occupancy_table {
  public:
    occupancy_table(std::size_t bits, std::span<const double> distinct, std::size_t largest_load)
        : width_(bits + 1), rows_((largest_load + 1) * width_) {
        rows_[0] = 1;
        for (std::size_t x = 0; x < largest_load; ++x) {
            for (std::size_t y = 0; y < width_; ++y) {
                const double here = rows_[x * width_ + y];
                if (here < 1e-300) continue;
                for (unsigned d = 0; d < distinct.size(); ++d) {
                    if (distinct[d] > 0)
                        add_key(&rows_[(x + 1) * width_ + y], here * distinct[d], bits, y, d);
                }
            }
        }
    }
    double operator()(std::size_t y, std::size_t x) const { return rows_[x * width_ + y]; }

  private:
    // next[j] += weight · P(j of `d` different bits are new in a line with y ones of `bits`).
    static void add_key(double* next, double weight, std::size_t bits, std::size_t y, unsigned d) {
        const auto all = static_cast<double>(bits), ones = static_cast<double>(y), zeros = all - ones;
        // The support starts at j = 0, where P = C(ones, d) / C(bits, d), or, in a line with fewer than d
        // ones, where all of them are met: P = C(zeros, d − y) / C(bits, d). Then from j to j + 1 by the
        // ratio.
        const unsigned least = y >= d ? 0 : d - static_cast<unsigned>(y);
        double p = 1;
        for (unsigned i = 0; i < d - least; ++i) p *= (least == 0 ? ones - i : d - i) / (all - i);
        for (unsigned j = least; j <= d && j <= bits - y; ++j) {
            next[j] += weight * p;
            p *= (zeros - j) * (d - j) / ((j + 1.0) * (ones - d + j + 1));
        }
    }

    std::size_t width_;
    std::vector<double> rows_;
};

}  // namespace

line_estimate estimate_from_lines(std::span<const double> histogram, std::span<const double> distinct) {
    const std::size_t bits = histogram.size() - 1;
    double lines = 0, ones = 0;
    for (std::size_t y = 0; y <= bits; ++y) {
        lines += histogram[y];
        ones += histogram[y] * static_cast<double>(y);
    }
    if (ones == 0) return {};
    const double infinite = std::numeric_limits<double>::infinity();
    if (ones >= lines * static_cast<double>(bits)) return {infinite, infinite};

    // The moment estimate starts the iteration and says how large a load can matter.
    double mean_distinct = 0;
    for (std::size_t d = 0; d < distinct.size(); ++d) mean_distinct += static_cast<double>(d) * distinct[d];
    double load = std::log1p(-ones / lines / static_cast<double>(bits)) /
                  std::log1p(-mean_distinct / static_cast<double>(bits));
    const auto largest = static_cast<std::size_t>(std::min(4096.0, 2 * load + 12 * std::sqrt(load) + 40));
    const occupancy_table likelihood(bits, distinct, largest);

    double variance = 0;
    for (int step = 0; step < 200; ++step) {
        std::vector<double> prior(largest + 1);
        for (std::size_t x = 0; x <= largest; ++x) {
            const auto n = static_cast<double>(x);
            prior[x] = std::exp(n * std::log(load) - load - std::lgamma(n + 1));
        }
        double mean = 0;
        variance = 0;
        for (std::size_t y = 0; y <= bits; ++y) {
            if (histogram[y] == 0) continue;
            double p0 = 0, p1 = 0, p2 = 0;
            for (std::size_t x = 0; x <= largest; ++x) {
                const double p = prior[x] * likelihood(y, x), n = static_cast<double>(x);
                p0 += p, p1 += p * n, p2 += p * n * n;
            }
            if (p0 <= 0) return {infinite, infinite};  // beyond what the table holds
            mean += histogram[y] * p1 / p0;
            variance += histogram[y] * (p2 / p0 - p1 / p0 * (p1 / p0));
        }
        const double next = mean / lines;
        // A plain step closes only the share 1 − φ of the gap; dividing by it is Newton's.
        const double lost = std::clamp(variance / mean, 0.0, 0.99);
        const double change = (next - load) / (1 - lost);
        load = std::max(load + change, load / 2);
        if (std::abs(change) < 1e-10 * load) break;
    }
    const double items = load * lines;
    return {items, variance / std::max(1 - variance / items, 1e-6)};
}

}  // namespace posy
