#include <algorithm>
#include <cmath>

#include "posy/intersection_plan.hpp"
#include "posy/theory.hpp"
#include "posy/theory/intersection.hpp"

namespace posy {
namespace {

// The array with the least total for this number of hashes: the total is convex around the formula's optimum.
double best_bits(double a, double b, double name_bits, unsigned hashes) {
    const auto total = [&](double m) {
        return m + name_bits * b * theory::false_positive_rate_mean_fill(a, m, hashes);
    };
    double low = a, high = 64 * a + 64;
    while (high - low > 0.5) {
        const double third = (high - low) / 3;
        if (total(low + third) < total(high - third))
            high -= third;
        else
            low += third;
    }
    return (low + high) / 2;
}

}  // namespace

intersection_plan plan_intersection(std::uint64_t mine, std::uint64_t others, double name_bits,
                                    std::uint64_t common) {
    const auto a = static_cast<double>(mine), c = static_cast<double>(common);
    const double absent = std::max(0.0, static_cast<double>(others) - c);
    intersection_plan best{0, 0, 1, absent, name_bits * static_cast<double>(others)};
    const double near = theory::optimal_hashes(a, theory::intersection_filter_bits(a, absent, 0, name_bits));
    const auto around = static_cast<unsigned>(std::clamp(std::lround(near), 1L, 31L));
    for (unsigned k = std::max(1U, around - 1); k <= around + 1; ++k) {
        const double m = std::ceil(best_bits(a, absent, name_bits, k));
        const double rate = theory::spread_rate(a, m, k);
        const double total = m + name_bits * (c + rate * absent);
        if (total < best.total_bits) best = {static_cast<std::uint64_t>(m), k, rate, rate * absent, total};
    }
    return best;
}

}  // namespace posy
