// Digest → positions, with no memory behind them: what a layout computes.
#include "support.hpp"

#include "layout/all.hpp"

namespace posy::bench {
namespace {

const bool registered =
    for_every_layout("positions", {4096}, [](benchmark::State& state, layout_id layout, std::size_t count) {
        const auto digests = random_digests(count);
        layouts::with_layout(shape(1'000'000, layout), [&](auto with) {
            for (auto _ : state) {
                std::uint64_t sum = 0;
                for (const digest d : digests)
                    with.positions(d, [&](std::uint64_t position) { return sum += position, true; });
                benchmark::DoNotOptimize(sum);
            }
        });
        per_item(state, count);
    });

}  // namespace
}  // namespace posy::bench
