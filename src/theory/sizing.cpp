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

}  // namespace posy::theory
