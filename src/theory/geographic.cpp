#include "posy/theory/geographic.hpp"

#include <cmath>
#include <vector>

namespace posy::theory {
namespace {

// V_i for i = 0 … L.
std::vector<double> visits_in_vain(std::span<const double> rates) {
    std::vector<double> visits{0};
    for (const double rate : rates) visits.push_back(std::fma(1 + visits.back(), 3 * rate, visits.back()));
    return visits;
}

// The host is among the siblings of level i, seen from a searcher in a square of this level.
double sibling_probability(unsigned level, unsigned levels) {
    return 3 * std::ldexp(1.0, -2 * static_cast<int>(levels - level));
}

}  // namespace

double geographic_absent_forwards(std::span<const double> rates) { return visits_in_vain(rates).back(); }

double geographic_false_forwards(std::span<const double> rates) {
    const std::vector<double> vain = visits_in_vain(rates);
    std::vector<double> before(rates.size() + 1, 0.0);
    for (unsigned level = 1; level <= rates.size(); ++level) {
        for (unsigned i = 0; i < level; ++i)
            before[level] += sibling_probability(i, level) * (vain[i] + rates[i] * (1 + vain[i]) + before[i]);
    }
    return before.back();
}

double geographic_true_forwards(unsigned levels) { return 0.75 * levels; }

double geographic_crossing(unsigned level, unsigned levels) {
    return std::expm1(std::log(2.0) * (levels - level)) / std::expm1(std::log(2.0) * levels);
}

}  // namespace posy::theory
