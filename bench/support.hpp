// What the benchmarks of the stages share: keys, filters full of them, and one benchmark per layout.
//
// Every benchmark reports nanoseconds per item ("per_item"), or bytes per second where an array is the item.
// POSY_KERNEL=scalar|avx2|avx512 chooses the instructions; taskset keeps a run on one core.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"

namespace posy::bench {

inline std::vector<std::uint64_t> random_keys(std::size_t count, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> keys(count);
    for (std::uint64_t& key : keys) key = random();
    return keys;
}

inline std::vector<digest> random_digests(std::size_t count, std::uint64_t seed = 1) {
    std::vector<digest> digests(count);
    hasher()(random_keys(count, seed), digests);
    return digests;
}

// Ten bits an item, with the number of hashes that is best for the layout.
inline geometry shape(std::uint64_t items, layout_id layout) {
    return choose({.items = items, .bits_per_item = 10, .layout = layout})->geometry();
}

inline bloom_filter full(std::uint64_t items, layout_id layout, std::uint64_t seed = 1) {
    auto filter = *bloom_filter::make(shape(items, layout));
    filter.insert(random_keys(items, seed));
    return filter;
}

inline void per_item(benchmark::State& state, std::size_t items) {
    using benchmark::Counter;
    state.counters["per_item"] =
        Counter(static_cast<double>(items), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

inline void array_bytes(benchmark::State& state, const bit_array& bits) {
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bits.words().size_bytes()));
}

// Registers name/layout/items for every layout: body(state, layout, items). What runs on several threads is
// measured by the clock on the wall.
enum class timing { cpu, wall };
template <class Body>
bool for_every_layout(const std::string& name, const std::vector<std::int64_t>& sizes, Body body,
                      timing by = timing::cpu) {
    for (const layout_id layout : members<layout_id>) {
        auto* registered = benchmark::RegisterBenchmark(
            (name + "/" + std::string(name_of(layout))).c_str(),
            [=](benchmark::State& state) { body(state, layout, static_cast<std::size_t>(state.range(0))); });
        for (const std::int64_t size : sizes) registered->Arg(size);
        registered->Unit(benchmark::kMillisecond);
        if (by == timing::wall) registered->UseRealTime();
    }
    return true;
}

inline const std::vector<std::int64_t> in_cache_and_out{1'000'000, 10'000'000};

}  // namespace posy::bench
