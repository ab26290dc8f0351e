#include "posy/standing.hpp"

#include <cmath>

#include "layout/all.hpp"
#include "posy/estimate.hpp"

namespace posy {
namespace {

// The level at which the bits contradict a count: high enough that different keys are hardly ever taken for
// repeated ones.
constexpr double surely = 0.999999;

}  // namespace

std::optional<standing> standing_of(const bloom_filter& filter) {
    const provenance& of = filter.provenance();
    if (of.intersection) return std::nullopt;
    const estimate different = estimate_items(filter, surely);
    const bool counted = of.items && static_cast<double>(*of.items) <= different.high;
    standing s;
    s.items = counted ? static_cast<double>(*of.items) : different.value;
    if (std::isinf(s.items)) return std::nullopt;
    s.expected_rate = layouts::expected_rate(filter.geometry(), s.items);
    s.past_plan = of.planned && (counted ? s.items : different.low) > static_cast<double>(of.planned->items);
    return s;
}

bool past_plan(const bloom_filter& filter) {
    const provenance& of = filter.provenance();
    if (!of.planned || (of.items && *of.items <= of.planned->items)) return false;
    const auto stands = standing_of(filter);
    return stands && stands->past_plan;
}

}  // namespace posy
