// The counting filter: insertion and removal, one a call and many a call.
#include "posy/counting_filter.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

// What one pass inserts the next one removes, so that the counters stay where they are; both are counted.
template <class Change>
auto changing(Change change) {
    return [=](benchmark::State& state, layout_id layout, std::size_t items) {
        auto filter = *counting_filter::make(shape(items, layout));
        const auto keys = random_keys(items / 2, 2);
        filter.insert(random_keys(items / 2));
        for (auto _ : state) change(filter, keys);
        per_item(state, 2 * keys.size());
    };
}

const bool single = for_every_layout("counting_insert_and_remove", in_cache_and_out,
                                     changing([](counting_filter& filter, const auto& keys) {
                                         const hasher hash = filter.hash();
                                         for (const std::uint64_t key : keys) filter.insert(hash(key));
                                         for (const std::uint64_t key : keys) filter.remove(hash(key));
                                     }));
const bool batched =
    for_every_layout("counting_insert_and_remove_batched", in_cache_and_out,
                     changing([](counting_filter& filter, const auto& keys) {
                         const std::unique_ptr<bool[]> answers(new bool[keys.size()]);
                         filter.insert(keys);
                         benchmark::DoNotOptimize(filter.remove(keys, std::span(answers.get(), keys.size())));
                     }));

}  // namespace
}  // namespace posy::bench
