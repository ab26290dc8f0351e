// Filters to and from messages in memory, framing and checksum included; and deltas.
#include "posy/message.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

constexpr std::uint64_t items = 1'000'000;

// A filter that is meant to travel: sparser than one that stays.
bloom_filter travelling(std::uint64_t seed = 1) {
    auto filter = *bloom_filter::make({14 * items, 2, layout_id::spread});
    filter.insert(random_keys(items, seed));
    return filter;
}

void to_bytes(benchmark::State& state, coding want) {
    const auto filter = travelling();
    std::size_t size = 0;
    for (auto _ : state) size = posy::to_bytes(filter, {.want = want}).size();
    array_bytes(state, filter.bits());
    state.counters["message_bytes"] = static_cast<double>(size);
}
void from_bytes(benchmark::State& state, coding want) {
    const auto filter = travelling();
    const auto bytes = posy::to_bytes(filter, {.want = want});
    for (auto _ : state) benchmark::DoNotOptimize(posy::from_bytes(bytes).ok());
    array_bytes(state, filter.bits());
}
void delta(benchmark::State& state) {
    const auto from = travelling();
    auto to = *from.clone();
    to.insert(random_keys(items / 20, 2));
    for (auto _ : state) {
        const auto difference = make_delta(from, to);
        benchmark::DoNotOptimize(posy::to_bytes(*difference, {.want = coding::fastest}).size());
    }
    array_bytes(state, from.bits());
}

BENCHMARK_CAPTURE(to_bytes, raw, coding::raw)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(to_bytes, fastest, coding::fastest)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(to_bytes, smallest, coding::smallest)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(from_bytes, raw, coding::raw)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(from_bytes, fastest, coding::fastest)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(from_bytes, smallest, coding::smallest)->Unit(benchmark::kMillisecond);
BENCHMARK(delta)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace posy::bench
