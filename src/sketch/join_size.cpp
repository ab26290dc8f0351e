#include "posy/join_size.hpp"

#include <algorithm>
#include <cmath>

#include "filter/count_distribution.hpp"

namespace posy {
namespace {

result<void> check_joined(const count_min& a, const count_min& b) {
    if (a.hash() != b.hash())
        return error::mismatch(
            "the sketches differ in hash family or seed; count both sides with the same --hash and --seed");
    if (a.width() != b.width() || a.depth() != b.depth())
        return error::mismatch("the sketches differ in size: " + std::to_string(a.depth()) + " rows of " +
                               std::to_string(a.width()) + ", and " + std::to_string(b.depth()) +
                               " rows of " + std::to_string(b.width()) +
                               "; count both sides into sketches of one size");
    if (a.rule() != update_rule::plain || b.rule() != update_rule::plain)
        return error::invalid(
            "the size of a join needs sketches of the plain rule; count both sides with --plain");
    if (a.width() < 2) return error::invalid("the size of a join needs rows of two counters or more");
    return {};
}

// The inner products of two tables, row by row: their sum, and the least, which is an upper bound.
struct inner_products {
    double sum = 0, least = 0;

    inner_products(const count_min& a, const count_min& b) {
        for (unsigned row = 0; row < a.depth(); ++row) {
            double product = 0;
            for (std::uint64_t i = row * a.width(); i < (row + 1) * a.width(); ++i)
                product += static_cast<double>(a.counter(i)) * static_cast<double>(b.counter(i));
            sum += product;
            least = row == 0 ? product : std::min(least, product);
        }
    }
};

// Without what other keys have added by chance.
double corrected(const count_min& a, const count_min& b, const inner_products& found) {
    const auto width = static_cast<double>(a.width());
    const double all = static_cast<double>(a.total()) * static_cast<double>(b.total());
    return (width * (found.sum / a.depth()) - all) / (width - 1);
}

bool is_saturated(const count_min& s) {
    const std::uint64_t largest = largest_of(s.counter_width());
    for (std::uint64_t i = 0; i < s.counters(); ++i)
        if (s.counter(i) == largest) return true;
    return false;
}

}  // namespace

result<estimate> join_size(const count_min& a, const count_min& b, double level) {
    if (auto fits = check_joined(a, b); !fits) return fits.error();
    if (is_saturated(a) || is_saturated(b))
        return error::invalid("a counter has reached its largest value; count with 64-bit counters");
    const inner_products both(a, b);
    const double joined = std::clamp(corrected(a, b, both), 0.0, both.least);
    // No Σ f² is below Σ f, because frequencies are whole numbers.
    const auto squares = [](const count_min& s) {
        return std::max(corrected(s, s, {s, s}), static_cast<double>(s.total()));
    };
    const double variance =
        (squares(a) * squares(b) + joined * joined) / (static_cast<double>(a.width()) - 1) / a.depth();
    const double margin = normal_deviations(level) * std::sqrt(variance);
    return estimate{joined, std::max(0.0, std::floor(joined - margin)),
                    std::min(both.least, std::ceil(joined + margin))};
}

}  // namespace posy
