// What a filter tells of itself and of its likeness to another: items, rate, comparison.
#include "posy/estimate.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

template <class Ask>
auto asking(Ask ask) {
    return [=](benchmark::State& state, layout_id layout, std::size_t items) {
        const auto a = full(items, layout, 1), b = full(items, layout, 2);
        for (auto _ : state) benchmark::DoNotOptimize(ask(a, b));
        array_bytes(state, a.bits());
    };
}

const bool items =
    for_every_layout("estimate_items", {1'000'000},
                     asking([](const auto& a, const auto&) { return estimate_items(a).value; }));
const bool likeness =
    for_every_layout("compare", {1'000'000},
                     asking([](const auto& a, const auto& b) { return compare(a, b)->jaccard.value; }));
const bool rate = for_every_layout(
    "rate_now", {1'000'000}, asking([](const auto& a, const auto&) { return a.false_positive_rate(); }));

}  // namespace
}  // namespace posy::bench
