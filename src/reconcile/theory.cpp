#include "posy/reconcile/theory.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace posy::theory {
namespace {

// Keys share at most so many leading bits; far below that no two of them do.
constexpr int levels = 128;

// P(X ≥ least), X Poisson.
double poisson_tail(double mean, unsigned least) {
    double term = std::exp(-mean), below = 0;
    for (unsigned x = 0; x < least; ++x) {
        below += term;
        term *= mean / (x + 1);
    }
    return std::max(0.0, 1 - below);
}

}  // namespace

double symbols_needed(double d) { return d <= 1 ? 1 : 1.352 * d + 0.36 + 1.13 * std::pow(d, 0.44); }
double symbols_deviation(double d) { return d <= 1 ? 0 : std::sqrt(d); }

double filter_found(double false_positive_rate) { return 1 - false_positive_rate; }

double tree_nodes(double n, unsigned grain) {
    double nodes = 0;
    for (int k = 0; k < levels; ++k) {
        const double mean = std::ldexp(n, -k);
        // Σ P(x) (1 − 2·2^−x) over x ≥ grain, and P(x) 2^−x is a Poisson of half the mean times e^(−mean/2).
        const double here =
            poisson_tail(mean, grain) - 2 * std::exp(-mean / 2) * poisson_tail(mean / 2, grain);
        nodes += std::ldexp(std::max(0.0, here), k);
        if (mean < 1e-9) break;
    }
    return nodes;
}

double tree_found(double n, unsigned grain, unsigned corrections, double node_rate, double leaf_rate) {
    // From the deepest level up: how many others are below (all from grain − 1 on are alike) and how many
    // nodes in a row, up to here, are taken for members. A row is the same from either end.
    const unsigned enough = std::max(grain, 2u) - 1;
    const std::size_t rows = corrections + 1;
    std::vector<double> now((enough + 1) * rows), next(now.size());
    const auto at = [rows](std::size_t others, std::size_t row) { return others * rows + row; };
    now[at(0, 0)] = 1;
    for (int k = levels - 1; k >= 0; --k) {
        const double mean = std::ldexp(std::max(n - 1, 0.0), -k - 1);
        if (mean < 1e-15) continue;
        std::fill(next.begin(), next.end(), 0.0);
        for (std::size_t others = 0; others <= enough; ++others) {
            double term = std::exp(-mean), left = 1;  // P(x leave here); P(x or more)
            for (std::size_t x = 0; x <= enough; ++x) {
                const bool last = x == enough;
                const std::size_t then = std::min<std::size_t>(others + x, enough);
                for (std::size_t row = 0; row < rows; ++row) {
                    const double p = now[at(others, row)] * (last ? left : term);
                    if (x == 0 || then < enough) {
                        next[at(then, row)] += p;
                    } else {
                        next[at(then, 0)] += p * (1 - node_rate);
                        if (row + 1 < rows) next[at(then, row + 1)] += p * node_rate;
                    }
                }
                left = std::max(0.0, left - term);
                term *= mean / static_cast<double>(x + 1);
            }
        }
        std::swap(now, next);
    }
    double reached = 0;
    for (const double p : now) reached += p;
    return reached * (1 - leaf_rate);
}

}  // namespace posy::theory
