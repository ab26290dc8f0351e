#include "posy/reconcile/plan.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "posy/plan.hpp"
#include "posy/reconcile/coded_symbols.hpp"
#include "posy/reconcile/difference_sketch.hpp"
#include "posy/reconcile/theory.hpp"
#include "posy/reconcile/tree.hpp"

namespace posy::reconcile {
namespace {

// The frame of a message with a payload of medium size.
constexpr double frame = 24;

// P(X > x) of a normal X.
double above(double x, double deviation) {
    return deviation > 0 ? std::erfc(x / deviation / std::numbers::sqrt2) / 2 : (x < 0 ? 1 : 0);
}

// 64 sums with a deviation of √n/2 each, in one byte up to 64, in two up to 8192, …
double sketch_bytes(double n) {
    double each = 1;
    for (double limit = 64; limit < n; limit *= 128) each += 2 * above(limit, std::sqrt(n) / 2);
    return 4 + static_cast<double>(difference_sketch::size) * each;
}

// The mean of f(z) over a normal z.
template <class Function>
double mean(Function f) {
    double sum = 0, weights = 0;
    for (double z = -3; z <= 3; z += 0.25) {
        const double weight = std::exp(-z * z / 2);
        sum += weight * f(z);
        weights += weight;
    }
    return sum / weights;
}

// What is sent first depends on sketches that are off by z deviations, what is sent after one question on the
// symbols so far, which are off by w; where that is not enough, a third answer is a step of the session's.
// Fourth ones are rare.
double symbol_bytes_sent(double d, double each) {
    const double needed = theory::symbols_needed(d), deviation = theory::symbols_deviation(d);
    // The sketches' relative deviation; and a question with its answer.
    const double doubt = std::sqrt(2.0 / difference_sketch::size * (1 - 1 / std::max(d, 1.0)));
    constexpr double turn = 2 * frame;
    return mean([&](double z) {
        const double first = std::ceil(theory::first_symbols(d * std::max(0.0, 1 + doubt * z)));
        const double rest = mean([&](double w) {
            const double now = d * std::max(0.0, 1 + std::sqrt(2 / first) * w);
            const double enough =
                std::max(theory::enough_symbols(now, first), first + std::max(first / 32, 4.0));
            return above(first - needed, deviation) * ((enough - first) * each + turn) +
                   above(enough - needed, deviation) * (std::max(enough / 16, 8.0) * each + turn);
        });
        return first * each + rest;
    });
}

forecast expect_exact(double n, double d, digest_width width) {
    const double whole = n * static_cast<double>(bytes_of(width));
    const double symbols = symbol_bytes_sent(d, static_cast<double>(symbol_bytes(width)));
    return {2 * frame + sketch_bytes(n) + std::min(symbols, whole), 1};
}

// Both send a summary that has so many filters in it, one of them an offer.
forecast expect_summaries(std::initializer_list<plan> filters, double found, double d, digest_width width) {
    double bits = 0;
    for (const plan& filter : filters) bits += filter.message_bits + 8 * frame;
    return {2 * (frame + bits / 8) + frame + found * d / 2 * static_cast<double>(bytes_of(width)), found};
}

}  // namespace

result<forecast> expect(std::uint64_t items, std::uint64_t difference, const settings& how,
                        digest_width width) {
    const std::uint64_t n = std::max<std::uint64_t>(items, 1);
    const auto d = static_cast<double>(difference);
    if (difference > 2 * n) return error{"a difference of more items than both sets have"};
    if (how.method == method::exact) return expect_exact(static_cast<double>(n), d, width);
    if (how.method == method::filter) {
        const auto p = choose({.items = n, .bits_per_item = how.bits_per_item, .layout = layout_id::spread});
        if (!p) return p.error();
        return expect_summaries({*p}, theory::filter_found(p->false_positive_rate), d, width);
    }
    const auto shape = plan_tree(n, how.bits_per_item);
    if (!shape) return shape.error();
    const auto inner = std::max(1.0, std::round(theory::tree_nodes(static_cast<double>(n), shape->grain)));
    const auto nodes =
        predict(static_cast<std::uint64_t>(inner), {shape->node_bits, shape->node_hashes, layout_id::spread});
    const auto leaves = predict(n, {shape->leaf_bits, shape->leaf_hashes, layout_id::spread});
    if (!nodes) return nodes.error();
    if (!leaves) return leaves.error();
    const double found =
        theory::tree_found(theory::tree_path(static_cast<double>(n), shape->grain), shape->corrections,
                           nodes->false_positive_rate, leaves->false_positive_rate);
    return expect_summaries({*nodes, *leaves}, found, d, width);
}

}  // namespace posy::reconcile
