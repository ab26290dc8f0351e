// The guarantee of a sketch, and its expected error.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

constexpr double grid_size = 1 << 14;

struct jump {
    std::size_t size;
    double rate;
};

// How often jumps of each size come, sizes being whole numbers of steps; those beyond the grid are left out.
std::vector<jump> jumps_on_grid(std::span<const double> frequencies, double step, double width) {
    std::vector<double> rate(static_cast<std::size_t>(grid_size) + 2);
    for (const double frequency : frequencies) {
        const double steps = frequency / step, below = std::floor(steps);
        if (below > grid_size) continue;
        rate[static_cast<std::size_t>(below)] += (below + 1 - steps) / width;
        rate[static_cast<std::size_t>(below) + 1] += (steps - below) / width;
    }
    std::vector<jump> jumps;
    for (std::size_t size = 1; size < rate.size(); ++size)
        if (rate[size] > 0) jumps.push_back({size, rate[size]});
    return jumps;
}

// P(X > i steps), i = 0 … grid_size, of the sum X of all jumps, of which `rate` are expected. Jumps that are
// left out matter only beyond the grid. Panjer: i·p_i = Σ_s s·rate_s·p_{i−s}, from p_0 = e^−rate, which may
// be far too small for a double: it starts at 1, the powers of e that it lacks are kept aside.
std::vector<double> tails(const std::vector<jump>& jumps, double rate) {
    std::vector<double> p(static_cast<std::size_t>(grid_size) + 1);
    p[0] = 1;
    double log_scale = -rate;
    for (std::size_t i = 1; i < p.size(); ++i) {
        double sum = 0;
        for (const auto& [size, each] : jumps) {
            if (size > i) break;
            sum += static_cast<double>(size) * each * p[i - size];
        }
        p[i] = sum / static_cast<double>(i);
        if (p[i] > 1e200) {
            for (std::size_t j = 0; j <= i; ++j) p[j] *= 1e-200;
            log_scale += 200 * std::numbers::ln10;
        }
    }
    double left = 1;
    for (double& each : p) {
        left -= each * std::exp(log_scale);
        each = std::max(left, 0.0);
    }
    return p;
}

}  // namespace

double count_min_epsilon(double width) { return std::numbers::e * (1 / width + 0x1p-32); }
double count_min_delta(unsigned depth) { return std::exp(-static_cast<double>(depth)); }
double count_min_width(double epsilon) {
    const double share = epsilon / std::numbers::e - 0x1p-32;
    return share > 0 ? std::ceil(1 / share) : std::numeric_limits<double>::infinity();
}
double count_min_depth(double delta) { return std::max(1.0, std::ceil(-std::log(delta))); }

double count_min_error(std::span<const double> frequencies, double width, unsigned depth) {
    double mean = 0;
    for (const double frequency : frequencies) mean += frequency / width;
    if (depth <= 1 || !(mean > 0) || std::isinf(mean)) return mean;
    for (double range = std::max(2 * mean, grid_size);; range *= 2) {
        const double step = std::max(1.0, range / grid_size);
        const auto jumps = jumps_on_grid(frequencies, step, width);
        double rate = 0;
        for (const double frequency : frequencies) rate += std::min(frequency / step, 1.0) / width;
        const auto above = tails(jumps, rate);
        double expected = 0;
        for (const double p : above) expected += step * std::pow(p, depth);
        // ∫ P(X > t)^d beyond the grid is at most P(X > grid)^(d−1) · E X.
        const double cut = std::pow(above.back(), depth - 1) * mean;
        if (cut <= 1e-3 * expected) return expected + cut;
    }
}

}  // namespace posy::theory
