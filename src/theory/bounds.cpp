// Bounds: how far the fill of a filter deviates, and how small a filter can be; and the simplest alternative
// to a filter, the list of hash values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "posy/theory.hpp"

namespace posy::theory {

double azuma_bound(double epsilon, double n, double m, double k) {
    return 2 * std::exp(-epsilon * epsilon * m * m / (2 * n * k));
}

double mcdiarmid_bound(double epsilon, double n, double m, double k) {
    return 2 * std::exp(-2 * epsilon * epsilon * m * m / (n * k));
}

double lower_bound_bits(double n, double rate) { return -n * std::log2(rate); }

// The two coefficients are of the size n log2 u each, and their difference n log2(1/ε): of 16 digits that
// leaves 13 even at u = 10^300.
double lower_bound_bits(double n, double rate, double universe) {
    if (!(universe >= n)) return std::numeric_limits<double>::quiet_NaN();
    return log2_binomial(universe, n) - log2_binomial(n + rate * (universe - n), n);
}

double bloom_bits(double n, double rate) { return bloom_overhead * lower_bound_bits(n, rate); }

double hash_list_rate(double n, double value_bits) {
    return -std::expm1(n * std::log1p(-std::exp2(-value_bits)));
}

unsigned hash_list_value_bits(double n, double rate) {
    // 1 − (1 − v)^n ≤ ε where v ≤ 1 − (1 − ε)^(1/n); then one step either way, for our own rounding.
    constexpr double most = 1023;  // 2^b is still a number
    double b = std::min(most, std::ceil(-std::log2(-std::expm1(std::log1p(-rate) / n))));
    if (!(b > 0)) b = 0;
    while (b > 0 && hash_list_rate(n, b - 1) <= rate) --b;
    while (b < most && hash_list_rate(n, b) > rate) ++b;
    return static_cast<unsigned>(b);
}

double hash_list_values(double n, double value_bits) {
    return std::exp2(value_bits) * hash_list_rate(n, value_bits);
}

double hash_list_coded_bits(double n, double value_bits) {
    return log2_binomial(std::exp2(value_bits), hash_list_values(n, value_bits));
}

}  // namespace posy::theory
