#include "summary.hpp"

#include <algorithm>

#include "derive.hpp"
#include "posy/plan.hpp"

namespace posy::reconcile {

result<geometry> filter_geometry(std::uint64_t items, double bits_per_item, const hasher& hash) {
    wishes w{.items = std::max<std::uint64_t>(items, 1), .layout = layout_id::spread};
    w.bits_per_item = bits_per_item;
    const auto plan = choose(w);
    if (!plan) return plan.error();
    return plan->geometry(hash.family(), hash.seed());
}

result<bloom_filter> filter_of(const digest_set& set, const geometry& shape) {
    auto filter = bloom_filter::make(shape);
    if (!filter) return filter;
    for (const digest& element : set.elements()) filter->insert(probe_of(element, set.width()));
    return filter;
}

std::vector<std::byte> payload_of_filter(const bloom_filter& filter) {
    return to_bytes(filter, {.want = coding::smallest});
}

}  // namespace posy::reconcile
