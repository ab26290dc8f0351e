#include "posy/theory/routing.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {

double coded_positions_bits(double m, double j) {
    if (j <= 0) return 0;
    const double mean = std::floor(std::numbers::ln2 * m / j);
    const double r = mean < 2 ? 0 : std::floor(std::log2(mean));
    const double step = std::exp2(r);
    const auto log_ways = [&](double places) {
        return std::lgamma(places + 1) - std::lgamma(places - j + 1);
    };
    double unary = 0;
    for (double x = step; x <= m - j; x += step) {
        const double more = std::exp(log_ways(m - x) - log_ways(m));
        unary += more;
        if (more < 1e-12) break;
    }
    return j * (r + 1 + unary);
}

double coded_positions_bytes(double m, double j, double header) {
    return header + (coded_positions_bits(m, j) + 3.5) / 8;
}

double change_bytes(double n, double m, unsigned k, double header, double reply) {
    const double p = zero_probability(n, m, k);
    double bytes = 0;
    double choose = 1;  // C(k, j)
    for (unsigned j = 1; j <= k; ++j) {
        choose *= static_cast<double>(k - j + 1) / j;
        const double odds = choose * std::pow(p, j) * std::pow(1 - p, k - j);
        bytes += odds * (coded_positions_bytes(m, j, header) + reply);
    }
    return bytes;
}

tree_shape::tree_shape(std::vector<std::uint32_t> parents, std::vector<double> objects_of_each)
    : parents_(std::move(parents)), children_(parents_.size()), below_(std::move(objects_of_each)) {
    for (std::uint32_t i = 1; i < parents_.size(); ++i) children_[parents_[i]].push_back(i);
    for (std::size_t i = parents_.size(); i-- > 1;) below_[parents_[i]] += below_[i];
}

std::vector<std::uint32_t> tree_shape::way_up(std::uint32_t node) const {
    std::vector<std::uint32_t> way{node};
    while (way.back() != 0) way.push_back(parents_[way.back()]);
    return way;
}

std::vector<double> false_forwards_into(const tree_shape& tree, double m, unsigned k) {
    std::vector<double> into(tree.size(), 0);
    for (auto i = static_cast<std::uint32_t>(tree.size()); i-- > 0;) {
        const double n = tree.objects_below(i);
        if (n > 0) into[i] += false_positive_rate_mean_fill(n, m, k);
        if (i > 0) into[tree.parent(i)] += into[i];
    }
    return into;
}

namespace {

// F over the branches of a node but these.
double branches(const tree_shape& tree, std::span<const double> into, std::uint32_t node,
                std::initializer_list<std::uint32_t> but) {
    double sum = 0;
    for (const std::uint32_t c : tree.children(node)) {
        if (std::ranges::find(but, c) == but.end()) sum += into[c];
    }
    return sum;
}

}  // namespace

double false_forwards(const tree_shape& tree, std::span<const double> into, std::uint32_t asker,
                      std::uint32_t holder) {
    auto up = tree.way_up(asker), down = tree.way_up(holder);
    while (up.size() > 1 && down.size() > 1 && up[up.size() - 2] == down[down.size() - 2]) {
        up.pop_back(), down.pop_back();
    }
    double wrong = 0;
    std::uint32_t from = asker;  // it is nobody's branch that is tried
    for (std::size_t i = 0; i + 1 < up.size(); from = up[i++]) wrong += branches(tree, into, up[i], {from});
    for (std::size_t i = down.size(); i-- > 1; from = down[i]) {
        wrong += branches(tree, into, down[i], {from, down[i - 1]}) / 2;
    }
    return wrong;
}

double false_forwards_of_absent(const tree_shape& tree, std::span<const double> into, std::uint32_t asker) {
    double wrong = 0;
    std::uint32_t from = asker;
    for (const std::uint32_t node : tree.way_up(asker)) {
        wrong += branches(tree, into, node, {from});
        from = node;
    }
    return wrong;
}

double tree_change_bytes(const tree_shape& tree, std::uint32_t node, double m, unsigned k, double header,
                         double reply) {
    double bytes = 0;
    for (std::uint32_t at = node; at != 0; at = tree.parent(at)) {
        bytes += change_bytes(tree.objects_below(at) - 1, m, k, header, reply);
    }
    return bytes;
}

// ---- Ways through nodes that fail ----------------------------------------------------------------------

double open_way_probability(double rate, double outage, double nodes) {
    return std::exp(-nodes * std::log1p(rate * outage));
}

double wait_for_repair(double down, double repair, double patience, double shut) {
    const double mean = down + repair / 2, square = mean * mean + repair * repair / 12;
    return (mean > 0 ? square / (2 * mean) / (1 - shut) : 0) + patience / 2;
}

double both_failed_probability(double rate, double period) {
    const double x = rate * period;
    if (x < 1e-4) return x * x / 3;  // where the terms below cancel
    return 1 + 2 * std::expm1(-x) / x - std::expm1(-2 * x) / (2 * x);
}

double both_failed_variance(double rate, double period, double periods) {
    const double x = rate * period;
    return x * x / 6 / std::max(periods, 1.0);
}

// ---- Attenuated filters --------------------------------------------------------------------------------

namespace {

// P(at least one of `ways` says yes at a rate f).
double any(double f, double ways) { return -std::expm1(ways * std::log1p(-f)); }

// `inner` is the probability at level `behind`, which is that of a part of what said yes before.
double wasted_hops(std::span<const double> rates, unsigned degree, unsigned ways, int behind, double inner) {
    double sum = 0, none = 1;
    for (std::size_t level = 0; level < rates.size(); ++level) {
        const double yes = static_cast<int>(level) == behind ? inner : any(rates[level], ways);
        if (const double here = none * yes; here > 0) {
            const double part =
                level > 0 ? any(std::min(rates[level - 1] / rates[level], 1 - 1e-15), degree - 1) : 0;
            sum += here * (1 + wasted_hops(rates.first(rates.size() - 1), degree, degree - 1,
                                           static_cast<int>(level) - 1, part));
        }
        none *= 1 - yes;
    }
    return sum;
}

}  // namespace

double attenuated_false_forwards(std::span<const double> rates, unsigned degree) {
    return wasted_hops(rates, degree, degree, -1, 0);
}

double attenuated_straying(std::span<const double> rates, unsigned degree, unsigned distance) {
    double right = 1;
    for (unsigned left = distance; left > 0; --left) {
        const unsigned ways = left == distance ? degree : degree - 1;
        for (unsigned level = 0; level + 1 < left; ++level) right *= 1 - any(rates[level], ways);
        const double f = rates[left - 1];
        if (f > 0) right *= any(f, ways) / (ways * f);
    }
    return 1 - right;
}

double attenuated_change_bytes(std::span<const double> objects, unsigned degree, double m, unsigned k,
                               double header, double reply) {
    double bytes = 0, links = degree;
    for (const double n : objects) {
        bytes += links * change_bytes(n - 1, m, k, header, reply);
        links *= degree - 1;
    }
    return bytes;
}

double near_copy_probability(double near, double nodes, double copies) {
    return -std::expm1(copies * std::log1p(-near / nodes));
}

double ring_hops(double nodes) { return std::log2(nodes) / 2 + 1; }

}  // namespace posy::theory
