// Keys → filter: one a call, many a call, on two cores.
#include "posy/parallel.hpp"
#include "support.hpp"

namespace posy::bench {
namespace {

template <class Insert>
auto inserting(Insert insert) {
    return [=](benchmark::State& state, layout_id layout, std::size_t items) {
        auto filter = full(items, layout);  // pages touched; what is inserted again changes no bit
        const auto keys = random_keys(items);
        for (auto _ : state) insert(filter, keys);
        per_item(state, items);
    };
}

const bool single =
    for_every_layout("insert", in_cache_and_out, inserting([](bloom_filter& filter, const auto& keys) {
                         const hasher hash = filter.hash();
                         for (const std::uint64_t key : keys) filter.insert(hash(key));
                     }));
const bool batched =
    for_every_layout("insert_batched", in_cache_and_out,
                     inserting([](bloom_filter& filter, const auto& keys) { filter.insert(keys); }));
const bool threaded = for_every_layout(
    "insert_on_two_threads", in_cache_and_out,
    inserting([](bloom_filter& filter, const auto& keys) { posy::insert(filter, keys, 2); }), timing::wall);

}  // namespace
}  // namespace posy::bench
