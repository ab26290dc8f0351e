#include "item_count.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace posy::foreign {

void item_count::add(std::uint64_t bits, double places, std::uint64_t ones, std::uint64_t blocks) {
    const auto m = static_cast<double>(bits), k = places;
    const double load = -std::log1p(-static_cast<double>(ones) / m);  // λ; infinite if all are set
    items_ += load * m / k;
    variance_ += m / (k * k) * (std::expm1(load) - load);
    ones_ += ones;
    if (blocks == 0 || !std::isfinite(load)) return;
    // A block has N items, about Poisson with mean a, and q^N of its bits are zeros on average, q = 1 - k/w
    // with w bits. What varies with N beyond what their fixed sum explains is exp(-2a(1-q)) (exp(a(1-q)²) - 1
    // - a(1-q)²), and a zero more is m/k/zeros items fewer.
    const double b = static_cast<double>(blocks), a = load * m / k / b, step = k * b / m;
    variance_ += b * std::pow(m / k / b, 2) * (std::expm1(a * step * step) - a * step * step);
}

estimate item_count::items() const {
    constexpr double wide = 1.959963984540054;
    if (!std::isfinite(items_)) {
        constexpr double none = std::numeric_limits<double>::infinity();
        return {none, 1, none};
    }
    const double margin = wide * std::sqrt(variance_);
    const double least = ones_ == 0 ? 0 : 1;  // some bit is set
    return {items_, std::max(least, std::floor(items_ - margin)),
            std::max(least, std::ceil(items_ + margin))};
}

}  // namespace posy::foreign
