// How many hashes, how many bits.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {

using std::numbers::ln2;

double optimal_hashes(double n, double m) { return ln2 * m / n; }

double optimal_hashes_exact(double n, double m) { return -ln2 / (n * std::log1p(-1 / m)); }

unsigned optimal_hashes_integral(double n, double m) {
    // ln f has one minimum over real k, so the whole one is next to it; logarithms, because f may underflow.
    const auto log_rate = [&](double k) { return k * std::log(-std::expm1(-k * n / m)); };
    const double below = std::max(1.0, std::floor(optimal_hashes(n, m)));
    return static_cast<unsigned>(log_rate(below + 1) < log_rate(below) ? below + 1 : below);
}

double optimal_rate(double bits_per_item) { return std::exp(-ln2 * ln2 * bits_per_item); }

std::uint64_t hadoop_bits(double n, double rate) {
    const double bits = std::ceil(-n * std::log(rate) / (ln2 * ln2));
    if (bits >= 0x1p64) return std::numeric_limits<std::uint64_t>::max();
    return bits > 1 ? static_cast<std::uint64_t>(bits) : 1;
}

unsigned hadoop_hashes(double n, double m) {
    return static_cast<unsigned>(std::max(1.0, std::round(optimal_hashes(n, m))));
}

namespace {

// Java's (int) of a double: towards zero, NaN to 0, and what does not fit to the nearest that does.
std::int32_t java_int(double x) {
    if (std::isnan(x)) return 0;
    return static_cast<std::int32_t>(std::clamp(x, -0x1p31, 0x1p31 - 1));
}

}  // namespace

std::int32_t hadoop_printed_bits(std::int32_t n, float rate) {
    const float product = -static_cast<float>(n) * static_cast<float>(std::log(static_cast<double>(rate)));
    return java_int(static_cast<double>(product) / std::pow(ln2, 2));
}

std::int32_t hadoop_printed_hashes(float n, float m) {
    return java_int(std::floor(static_cast<double>(m) * ln2 / static_cast<double>(n) + 0.5));
}

}  // namespace posy::theory
