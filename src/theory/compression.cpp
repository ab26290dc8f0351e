// The filter as a message: entropy of the array, and of the difference of two arrays.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {

double binary_entropy(double p) {
    const double rare = std::min(p, 1 - p);
    if (rare <= 0) return 0;
    return -(rare * std::log(rare) + (1 - rare) * std::log1p(-rare)) * std::numbers::log2e;
}

// H is symmetric, and the fill 1 − p keeps its digits in a sparse array where p has rounded towards 1.
double compressed_bits(double n, double m, double k) { return m * binary_entropy(-std::expm1(-k * n / m)); }

double gamma(double p) {
    if (p <= 0 || p >= 1) return -1;
    return p / std::log1p(-p) + (1 - p) / std::log(p);
}

double beta(double p) { return std::exp2(1 / gamma(p)); }

double compressed_limit(double bits_per_item) { return std::exp2(-bits_per_item); }

double compressed_array_for(double bits_per_item, double k) {
    // In s = kn/m the message takes k H(1−e^−s)/s bits per item, falling in s. Bisect on ln s.
    double low = -700, high = 10;
    const auto fits = [&](double log_s) {
        const double s = std::exp(log_s);
        return k * binary_entropy(-std::expm1(-s)) / s <= bits_per_item;
    };
    if (fits(low)) return std::numeric_limits<double>::infinity();
    for (int halving = 0; halving < 64; ++halving) {
        const double middle = (low + high) / 2;
        (fits(middle) ? high : low) = middle;
    }
    return k / std::exp(high);
}

double delta_density(double p, double c) { return p > 0 ? -2 * p * std::expm1(c * std::log(p)) : 0; }

double delta_bits(double n, double m, double k, double c) {
    const double s = k * n / m;
    return m * binary_entropy(-2 * std::exp(-s) * std::expm1(-c * s));
}

double delta_beta(double p, double c) {
    if (p <= 0) return std::numbers::sqrt2 / 2;
    if (p >= 1) return std::exp2(-0.5 / c);
    return std::exp(-std::log(p) * std::log1p(-p) / binary_entropy(delta_density(p, c)));
}

double delta_limit(double bits_per_item, double c) { return std::exp2(-bits_per_item / (2 * c)); }

double delta_limit_bits(double n, double rate, double c) { return 2 * c * lower_bound_bits(n, rate); }

}  // namespace posy::theory
