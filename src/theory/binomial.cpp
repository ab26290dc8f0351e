// Both functions start from Stirling's formula and add its error as a small correction (Loader 2000, "Fast
// and Accurate Computation of Binomial Probabilities"): what is large is then never subtracted.
#include "binomial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

// ln x! − ((x + 1/2) ln x − x + ln √2π), for x > 0. From 16 on, five terms of the series are good to 2e-16;
// below, x is raised to there one by one.
double stirling_error(double x) {
    double error = 0;
    while (x < 16) {
        error += (x + 0.5) * std::log1p(1 / x) - 1;
        x += 1;
    }
    const double r = 1 / (x * x);
    return error + (1 / 12.0 - r * (1 / 360.0 - r * (1 / 1260.0 - r * (1 / 1680.0 - r / 1188)))) / x;
}

// ln √(n/2πxy) and the three corrections: what both functions share, y = n − x.
double log_scale(double n, double x, double y) {
    return 0.5 * std::log(n / x / y / (2 * std::numbers::pi)) + stirling_error(n) - stirling_error(x) -
           stirling_error(y);
}

// x ln(x/mean) + mean − x with excess = mean − x handed in, so that no digit is lost when they are close.
double deviance(double x, double excess) {
    const double u = excess / x;
    return x * (u - std::log1p(u));
}

}  // namespace

double log_gamma(double x) {
    return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + stirling_error(x);
}

double log_binomial(double n, double x) {
    if (x < 0 || x > n) return -std::numeric_limits<double>::infinity();
    const double less = std::min(x, n - x), more = n - less;
    if (less == 0) return 0;
    return less * std::log(n / less) - more * std::log1p(-less / n) + log_scale(n, less, more);
}

double binomial_weight(double x, double n, double p) {
    if (x < 0 || x > n) return 0;
    if (p <= 0) return x == 0 ? 1 : 0;
    if (p >= 1) return x == n ? 1 : 0;
    if (x == 0) return std::exp(n * std::log1p(-p));
    if (x == n) return std::exp(n * std::log(p));
    const double excess = n * p - x;
    return std::exp(log_scale(n, x, n - x) - deviance(x, excess) - deviance(n - x, -excess));
}

double log2_binomial(double m, double x) { return log_binomial(m, x) * std::numbers::log2e; }

}  // namespace posy::theory
