#include "posy/theory/intersection.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {

double intersection_bits(double a, double b, double common, double name_bits, double filter_bits) {
    return filter_bits + name_bits * (common + optimal_rate(filter_bits / a) * (b - common));
}

double intersection_filter_bits(double a, double b, double common, double name_bits) {
    constexpr double square = std::numbers::ln2 * std::numbers::ln2;
    const double worth = name_bits * (b - common) * square / a;
    return worth <= 1 ? 0 : a / square * std::log(worth);
}

}  // namespace posy::theory
