#include "reconcile/theory.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace posy::theory {
namespace {

// The deepest level considered. Keys hardly ever share as many leading bits.
constexpr int most_levels = 128;

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
double first_symbols(double d) { return symbols_needed(0.65 * d) + 3 * symbols_deviation(d) + 2; }
double enough_symbols(double d, double have) {
    return symbols_needed(d * (1 + 0.6 * std::sqrt(2 / have))) + symbols_deviation(d);
}

double filter_found(double false_positive_rate) { return 1 - false_positive_rate; }

double tree_nodes(double n, unsigned grain) {
    double nodes = 0;
    for (int k = 0; k < most_levels; ++k) {
        const double mean = std::ldexp(n, -k);
        // Σ P(x) (1 − 2·2^−x) over x ≥ grain, and P(x) 2^−x is a Poisson of half the mean times e^(−mean/2).
        const double here =
            poisson_tail(mean, grain) - 2 * std::exp(-mean / 2) * poisson_tail(mean / 2, grain);
        nodes += std::ldexp(std::max(0.0, here), k);
        if (mean < 1e-9) break;
    }
    return nodes;
}

std::vector<double> tree_path(double n, unsigned grain) {
    // From the deepest level up: how many others are below (all from grain − 1 on are alike), and how many
    // nodes of the filter there are so far.
    const unsigned enough = std::max(grain, 2u) - 1;
    constexpr std::size_t lengths = most_levels + 1;
    std::vector<std::vector<double>> now(enough + 1, std::vector<double>(lengths)), next = now;
    now[0][0] = 1;
    for (int k = most_levels - 1; k >= 0; --k) {
        const double mean = std::ldexp(std::max(n - 1, 0.0), -k - 1);
        if (mean < 1e-15) continue;
        for (auto& row : next) std::ranges::fill(row, 0.0);
        const auto longest = static_cast<std::size_t>(most_levels - k);
        for (unsigned others = 0; others <= enough; ++others) {
            double term = std::exp(-mean), more = 1;  // P(x leave here), P(x or more)
            for (unsigned x = 0; x <= enough; ++x) {
                const unsigned then = std::min(others + x, enough);
                const std::size_t node = x > 0 && then == enough ? 1 : 0;
                const double p = x == enough ? more : term;
                for (std::size_t length = 0; length < longest; ++length)
                    next[then][length + node] += p * now[others][length];
                more = std::max(0.0, more - term);
                term *= mean / (x + 1);
            }
        }
        std::swap(now, next);
    }
    std::vector<double> path(lengths);
    for (const auto& row : now) {
        for (std::size_t length = 0; length < lengths; ++length) path[length] += row[length];
    }
    return path;
}

double tree_found(const std::vector<double>& path, unsigned corrections, double node_rate, double leaf_rate) {
    std::vector<double> in_a_row(corrections + 1);  // P(not lost so far, and i mistakes at the end)
    in_a_row[0] = 1;
    double reached = 0;
    for (const double p : path) {
        const double alive = std::accumulate(in_a_row.begin(), in_a_row.end(), 0.0);
        reached += p * alive;
        for (std::size_t row = corrections; row > 0; --row) in_a_row[row] = in_a_row[row - 1] * node_rate;
        in_a_row[0] = alive * (1 - node_rate);
    }
    return std::min(1.0, reached) * (1 - leaf_rate);  // the sum of p is 1 but for rounding
}

double tree_found_deviation(const std::vector<double>& path, unsigned corrections, double node_rate,
                            double leaf_rate, double lacking) {
    if (lacking < 1) return 0;
    // P(not lost in the next n nodes, after i mistakes in a row)
    std::vector<std::vector<double>> survives(path.size(), std::vector<double>(corrections + 1, 1.0));
    for (std::size_t nodes = 1; nodes < path.size(); ++nodes) {
        for (std::size_t row = 0; row <= corrections; ++row) {
            const double after_mistake = row < corrections ? survives[nodes - 1][row + 1] : 0;
            survives[nodes][row] = (1 - node_rate) * survives[nodes - 1][0] + node_rate * after_mistake;
        }
    }
    std::vector<double> in_a_row(corrections + 1);  // P(not lost so far, and i mistakes at the end)
    in_a_row[0] = 1;
    double both = 0;
    for (std::size_t shared = 1; shared < path.size(); ++shared) {
        const double alive = std::accumulate(in_a_row.begin(), in_a_row.end(), 0.0);
        for (std::size_t row = corrections; row > 0; --row) in_a_row[row] = in_a_row[row - 1] * node_rate;
        in_a_row[0] = alive * (1 - node_rate);
        for (std::size_t row = 0; row <= corrections; ++row) {
            double one = 0;
            for (std::size_t x = 0; x < path.size(); ++x)
                one += path[x] * survives[x > shared ? x - shared : 0][row];
            both += std::ldexp(in_a_row[row] * one * one, -static_cast<int>(shared));
        }
    }
    const double found = tree_found(path, corrections, node_rate, leaf_rate);
    const double together = both * (1 - leaf_rate) * (1 - leaf_rate) - found * found;
    return std::sqrt(std::max(0.0, together) * (1 - 1 / lacking) + found * (1 - found) / lacking);
}

}  // namespace posy::theory
