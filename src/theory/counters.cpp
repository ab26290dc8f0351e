// How high the counters of a counting filter climb.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "binomial.hpp"
#include "posy/theory.hpp"

namespace posy::theory {

using std::numbers::e;
using std::numbers::ln2;

double counter_probability(unsigned j, double n, double m, unsigned k) {
    return binomial_weight(j, n * k, 1 / m);
}

// Summed away from the mean, where terms only shrink: upwards, or downwards as the complement, which is then
// no smaller than about a half and loses nothing.
double counter_tail(unsigned j, double n, double m, unsigned k) {
    const double throws = n * k;
    if (j == 0) return 1;
    if (j > throws) return 0;
    if (m <= 1) return 1;
    double sum = 0;
    if (j > throws / m) {
        double term = counter_probability(j, n, m, k);
        for (double i = j; term > sum * 1e-17; ++i) {
            sum += term;
            term *= (throws - i) / (i + 1) / (m - 1);
        }
        return sum;
    }
    double term = counter_probability(j - 1, n, m, k);
    for (double i = j - 1; term > sum * 1e-17; --i) {
        sum += term;
        term *= i / (throws - i + 1) * (m - 1);
    }
    return 1 - sum;
}

// A key that meets the counter does so once, or (in two layers) twice: with p and q the chances of either
// layer in the key's line, c = once + 2·twice, and of the keys that do not meet it twice a binomial number
// meet it once.
double blocked_counter_tail(unsigned j, double n, double m, unsigned k, unsigned word_bits) {
    const double line = 8 * word_bits, lines = m / line;
    const double p = std::min(k, 8u) / line, q = k > 8 ? (k - 8) / line : 0;
    if (q == 0) return counter_tail(j, n, lines / p, 1);
    const double both = p * q / lines, one = (p + q - 2 * p * q) / lines;
    double tail = counter_tail((j + 1) / 2, n, 1 / both, 1);
    for (unsigned twice = 0; 2 * twice < j && twice <= n; ++twice) {
        tail += binomial_weight(twice, n, both) * counter_tail(j - 2 * twice, n - twice, (1 - both) / one, 1);
    }
    return tail;
}

double overflow_bound_binomial(unsigned j, double n, double m, unsigned k) {
    return std::exp(log_binomial(n * k, j) + (1.0 - j) * std::log(m));
}

double overflow_bound_power(unsigned j, double n, double m, unsigned k) {
    return m * std::pow(e * n * k / (j * m), j);
}

double overflow_bound_half_full(unsigned j, double m) { return m * std::pow(e * ln2 / j, j); }

double overflow_bound_sets(double m, double t, unsigned j) { return t * overflow_bound_half_full(j, m); }

double inverse_gamma(double y) {
    double low = 2, high = 180;  // Γ(180) is beyond a double
    for (int halving = 0; halving < 60; ++halving) {
        const double middle = (low + high) / 2;
        (log_gamma(middle) < std::log(y) ? low : high) = middle;
    }
    return high;
}

double expected_maximum_counter(double n, double m, unsigned k) {
    const double height = inverse_gamma(m);
    return height * (1 + std::log(k * n / m) / std::log(height));
}

unsigned likely_maximum_counter(double n, double m, unsigned k) {
    auto j = static_cast<unsigned>(n * k / m);  // some counter is at or above the mean
    while (m * counter_tail(j + 1, n, m, k) >= 0.5) ++j;
    return j;
}

}  // namespace posy::theory
