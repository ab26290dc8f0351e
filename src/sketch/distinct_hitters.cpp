#include "posy/distinct_hitters.hpp"

#include <algorithm>

#include "base/saturate.hpp"

namespace posy {

result<distinct_hitters> distinct_hitters::make(count_min sketch, std::uint64_t room) {
    auto frequent = heavy_hitters::top(std::move(sketch), room);
    if (!frequent) return frequent.error();
    return distinct_hitters(std::move(*frequent));
}

// A counter lives on for a while when its key is no longer kept. If the key is kept again in that time, it
// has missed nothing.
void distinct_hitters::add(std::string_view key, digest d, digest value) {
    frequent_.add(key, d);
    auto at = values_.find(d);
    if (at == values_.end()) {
        if (!frequent_.keeps(d)) return;
        if (values_.size() >= 4 * frequent_.room())
            std::erase_if(values_, [&](const auto& each) { return !frequent_.keeps(each.first); });
        at = values_.try_emplace(d).first;
        at->second.missed = frequent_.sketch().estimate(d) - 1;
    }
    at->second.values.add(value);
}

distinct_hitters::list distinct_hitters::report(std::uint64_t most) const {
    list found{.complete_from = saturating_sum<std::uint64_t>(frequent_.candidates().dropped(), 1)};
    for (const auto& [d, kept] : frequent_.candidates().keys()) {
        const auto& [values, missed] = values_.at(d);
        key_values each{kept.key, values.count(), frequent_.sketch().estimate(d)};
        // No more values than occurrences.
        each.different.high =
            std::min(each.different.high + static_cast<double>(missed), static_cast<double>(each.count));
        each.different.value = std::min(each.different.value, static_cast<double>(each.count));
        each.different.low = std::min(each.different.low, each.different.value);
        found.keys.push_back(std::move(each));
    }
    std::ranges::sort(found.keys, [](const key_values& a, const key_values& b) {
        return a.different.value != b.different.value ? a.different.value > b.different.value : a.key < b.key;
    });
    if (found.keys.size() > most) found.keys.resize(most);
    return found;
}

}  // namespace posy
