// Keys → answers: absent and present, one a call and many a call.
#include "support.hpp"

namespace posy::bench {
namespace {

constexpr std::uint64_t inserted = 1, others = 2;  // seeds

auto one_by_one(std::uint64_t seed) {
    return [=](benchmark::State& state, layout_id layout, std::size_t items) {
        const auto filter = full(items, layout, inserted);
        const auto keys = random_keys(items, seed);
        const hasher hash = filter.hash();
        for (auto _ : state) {
            std::size_t yes = 0;
            for (const std::uint64_t key : keys) yes += filter.may_contain(hash(key));
            benchmark::DoNotOptimize(yes);
        }
        per_item(state, items);
    };
}

auto batched(std::uint64_t seed) {
    return [=](benchmark::State& state, layout_id layout, std::size_t items) {
        const auto filter = full(items, layout, inserted);
        const auto keys = random_keys(items, seed);
        const std::unique_ptr<bool[]> answers(new bool[items]);
        for (auto _ : state)
            benchmark::DoNotOptimize(filter.may_contain(keys, std::span(answers.get(), items)));
        per_item(state, items);
    };
}

const bool absent = for_every_layout("absent", in_cache_and_out, one_by_one(others));
const bool present = for_every_layout("present", in_cache_and_out, one_by_one(inserted));
const bool absent_batched = for_every_layout("absent_batched", in_cache_and_out, batched(others));
const bool present_batched = for_every_layout("present_batched", in_cache_and_out, batched(inserted));

}  // namespace
}  // namespace posy::bench
