// Whole arrays: union, intersection, folding, counting the ones. Bytes are those of one array.
#include "posy/algebra.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

template <class Work>
void over_arrays(benchmark::State& state, Work work) {
    const auto items = static_cast<std::uint64_t>(state.range(0));
    auto a = full(items, layout_id::spread, 1);
    const auto b = full(items, layout_id::spread, 2);
    for (auto _ : state) benchmark::DoNotOptimize(work(a, b));
    array_bytes(state, a.bits());
}

void unite(benchmark::State& state) {
    over_arrays(state, [](bloom_filter& a, const bloom_filter& b) { return posy::unite(a, b).ok(); });
}
void intersect(benchmark::State& state) {
    over_arrays(state, [](bloom_filter& a, const bloom_filter& b) { return posy::intersect(a, b).ok(); });
}
void fold(benchmark::State& state) {
    over_arrays(state, [](bloom_filter& a, const bloom_filter&) { return posy::fold(a, 2).ok(); });
}
void count_ones(benchmark::State& state) {
    over_arrays(state, [](bloom_filter& a, const bloom_filter&) { return a.ones(); });
}

// 1.25 MB, which a cache holds, and 125 MB, which it does not.
void sizes(benchmark::internal::Benchmark* of) {
    of->Arg(1'000'000)->Arg(100'000'000)->Unit(benchmark::kMillisecond);
}
BENCHMARK(unite)->Apply(sizes);
BENCHMARK(intersect)->Apply(sizes);
BENCHMARK(fold)->Apply(sizes);
BENCHMARK(count_ones)->Apply(sizes);

}  // namespace
}  // namespace posy::bench
