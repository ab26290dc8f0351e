#include "occupancy.hpp"

#include <algorithm>
#include <cmath>

#include "binomial.hpp"
#include "posy/theory.hpp"

namespace posy::theory {
namespace {

constexpr unsigned most_multiplied_out = 512;
constexpr double rare = 3e-5;

double at_least_one(double probability, double of) { return -std::expm1(of * std::log1p(-probability)); }

// E b(X), X the load of one group: binomial, from N throws and 1/L.
double mean_fault(double throws, double groups, const faults& b) {
    const double mean = throws / groups, reach = 12 * std::sqrt(mean) + 60;
    double sum = counter_tail(static_cast<unsigned>(b.size()), throws, groups, 1);
    const auto from = static_cast<std::size_t>(std::max(0.0, mean - reach));
    for (std::size_t x = from; x < b.size() && static_cast<double>(x) < mean + reach; ++x) {
        if (b[x] > 0) sum += b[x] * binomial_weight(static_cast<double>(x), throws, 1 / groups);
    }
    return std::min(sum, 1.0);
}

using series = std::vector<double>;  // coefficients of z^0, z^1, …

series product(const series& a, const series& b) {
    series both(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        for (std::size_t j = 0; i + j < a.size(); ++j) both[i + j] += a[i] * b[j];
    }
    return both;
}

// The power series multiplied out: P(some group goes wrong) for 0 … most throws, as exact as its rounding
// allows, 1e-15 or so in absolute terms. z is scaled so that the terms stay in range, and the first one is 1:
// so no rounding error is raised to the power of L.
series multiplied_out(unsigned most, double groups, const faults& b) {
    const double scale = std::max(most, 8u) / 2.0 / groups;
    series one(most + 1), all(most + 1), every(most + 1);
    double term = 1, free = 1;
    for (unsigned x = 0; x <= most; ++x) {
        one[x] = (x < b.size() ? 1 - b[x] : 0) * term;
        every[x] = free;
        term *= scale / (x + 1);
        free *= scale * groups / (x + 1);
    }
    all[0] = 1;
    for (auto power = static_cast<std::uint64_t>(groups);; one = product(one, one)) {
        if ((power & 1) != 0) all = product(all, one);
        power >>= 1;
        if (power == 0) break;
    }
    for (unsigned x = 0; x <= most; ++x) all[x] = std::clamp(1 - all[x] / every[x], 0.0, 1.0);
    return all;
}

// The loads of groups that went well, where loads were Poisson with mean z.
struct well {
    double fault = 0;                          // P(a group goes wrong)
    double mean = 0;                           // of the load of the others
    double second = 0, third = 0, fourth = 0;  // its central moments

    well(double z, const faults& b) {
        double wrong = 0, lost = 0, p = std::exp(-z);  // lost: E b(X)(X − z)
        const auto size = static_cast<double>(b.size());
        const double first = std::max(0.0, std::floor(z - 12 * std::sqrt(z) - 60));
        if (first > 0) p = std::exp(first * std::log(z) - z - log_gamma(first + 1));
        const double begin = p;
        for (double x = first; x < size; p *= z / ++x) {
            const double bad = b[static_cast<std::size_t>(x)] * p;
            wrong += bad;
            lost += bad * (x - z);
        }
        lost += size * p;  // Σ (x − z) p(x) over x ≥ size
        for (double x = size; p > 1e-18 * wrong && p > 0; p *= z / ++x) wrong += p;
        fault = std::min(wrong, 1.0);
        mean = z - lost / (1 - fault);
        p = begin;
        for (double x = first; x < size; p *= z / ++x) {
            const double weight = (1 - b[static_cast<std::size_t>(x)]) * p / (1 - fault), off = x - mean;
            second += weight * off * off;
            third += weight * off * off * off;
            fourth += weight * off * off * off * off;
        }
    }
};

// z is where the loads of groups that go well have the mean N/L. Beside what plain Poisson loads would have,
// of which nothing must go wrong and Stirling's formula takes care, the logarithm of the answer is then
// L ln(1 − P(z)), what tilting the mean costs, and what it does to the width.
double by_saddle_point(double throws, double groups, const faults& b) {
    const double load = throws / groups;
    double z = load;
    // Newton's rule: the mean grows with z as the variance does over z. It rises from below, so it converges.
    for (int step = 0; step < 100; ++step) {
        const well at(z, b);
        const double further = (load - at.mean) * z / at.second;
        z += further;
        if (!(std::abs(further) > 1e-15 * load)) break;
    }
    const double tilt = (z - load) / load;
    const well loads(z, b);
    const double v = loads.second, fourth = loads.fourth - 3 * v * v;
    const double correction =
        (fourth / (8 * v * v) - 5 * loads.third * loads.third / (24 * v * v * v)) / groups;
    const double log_well = groups * std::log1p(-loads.fault) + throws * (tilt - std::log1p(tilt)) -
                            0.5 * std::log(v / load) + correction + 1 / (12 * throws);
    return -std::expm1(log_well);
}

}  // namespace

double any_fault(double throws, double groups, const faults& b) {
    if (throws > groups * (static_cast<double>(b.size()) - 1)) return 1;
    if (groups == 1) return b[static_cast<std::size_t>(throws)];
    const double mean = mean_fault(throws, groups, b), alone = at_least_one(mean, groups);
    if (groups * mean < rare || alone == 1) return alone;
    if (throws <= most_multiplied_out)
        return multiplied_out(static_cast<unsigned>(throws), groups, b)[static_cast<std::size_t>(throws)];
    const double near = by_saddle_point(throws, groups, b);
    return near > alone ? std::min({near, groups * mean, 1.0}) : alone;
}

std::vector<double> any_fault_from(unsigned least, unsigned most, double groups, const faults& b) {
    const auto exact = least <= most_multiplied_out
                           ? multiplied_out(std::min(most, most_multiplied_out), groups, b)
                           : series();
    std::vector<double> all(most + 1);
    for (unsigned throws = least; throws <= most; ++throws) {
        const double mean = mean_fault(throws, groups, b);
        all[throws] =
            throws < exact.size() && groups * mean >= rare ? exact[throws] : any_fault(throws, groups, b);
    }
    return all;
}

}  // namespace posy::theory
