#include "family/rate_deviation.hpp"

#include <algorithm>
#include <cmath>

#include "layout/all.hpp"
#include "posy/theory.hpp"
#include "theory/binomial.hpp"

namespace posy {
namespace {

using layouts::group_shape;

// Relative variance of fill^k, from that of the number of zeros; where that is none, rounding may make it
// less.
double variance_of_power(double items, double bits, double k) {
    const double ones = bits * (1 - theory::zero_probability(items, bits, k));
    const double zeros = std::max(0.0, theory::zero_count_variance(items, bits, k));
    return ones > 0 ? k * k * zeros / (ones * ones) : 0;
}

// Relative variance of the mean, over the lines, of what they cover. Lines differ in load, and lines of equal
// load in their bits. The loads have a given sum: what a straight line through (load, cover) explains of the
// scatter comes out the same in every filter.
double variance_in_lines(double items, const group_shape& g) {
    const double lines = g.lines, mean = items / lines, reach = 12 * std::sqrt(mean) + 60;
    if (mean > 4096) return 0;  // a line is full, and all are alike
    double cover = 0, square = 0, product = 0, loads = 0;
    for (double x = std::floor(std::max(0.0, mean - reach)); x <= std::min(items, mean + reach); ++x) {
        const double weight = theory::binomial_weight(x, items, 1 / lines);
        const double here = x > 0 ? theory::blocked_rate(x, g.bits, static_cast<unsigned>(g.hashes),
                                                         static_cast<unsigned>(g.bits) / 8)
                                  : 0;
        cover += weight * here;
        square += weight * here * here * (1 + variance_of_power(x, g.bits, g.hashes));
        product += weight * here * (x - mean);
        loads += weight * (x - mean) * (x - mean);
    }
    if (!(cover > 0)) return 0;
    const double explained = loads > 0 ? product * product / loads : 0;
    return std::max(0.0, square - cover * cover - explained) / (lines * cover * cover);
}

}  // namespace

double rate_deviation(const geometry& g, double items) {
    if (!(items > 0)) return 0;
    return layouts::with_layout(g, [&]<class Layout>(const Layout& layout) {
        const group_shape groups = layout.groups();
        const double of_part = groups.lines > 1 ? variance_in_lines(items, groups)
                                                : variance_of_power(items, groups.bits, groups.hashes);
        return Layout::expected_rate(items, static_cast<double>(g.bits), g.hashes) *
               std::sqrt(groups.parts * of_part);
    });
}

}  // namespace posy
