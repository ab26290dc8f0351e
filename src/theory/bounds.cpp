// What no filter can escape: how far its fill strays, and how small it can be.
#include <cmath>

#include "posy/theory.hpp"

namespace posy::theory {

double azuma_bound(double epsilon, double n, double m, double k) {
    return 2 * std::exp(-epsilon * epsilon * m * m / (2 * n * k));
}

double mcdiarmid_bound(double epsilon, double n, double m, double k) {
    return 2 * std::exp(-2 * epsilon * epsilon * m * m / (n * k));
}

double lower_bound_bits(double n, double rate) { return -n * std::log2(rate); }

double bloom_bits(double n, double rate) { return bloom_overhead * lower_bound_bits(n, rate); }

}  // namespace posy::theory
