#include "posy/group_hitters.hpp"

#include <algorithm>

#include "base/saturate.hpp"

namespace posy {

result<group_hitters> group_hitters::make(count_min sketch, rooms room) {
    if (sketch.total() != 0) return error::invalid("the sketch has counted already");
    if (room.keys == 0 || room.keys > candidate_set::max_room)
        return error::invalid("room for " + std::to_string(room.keys) +
                              " keys per group; 1 to 2^31 are possible");
    auto second = sketch.clone();
    if (!second) return second.error();
    auto groups = heavy_hitters::top(std::move(*second), room.groups);
    if (!groups) return groups.error();
    return group_hitters(std::move(sketch), std::move(*groups), room.keys);
}

// The candidates of a group live on for a while when it is no longer kept.
void group_hitters::add(const member& m, std::uint64_t weight) {
    groups_.add(m.group, m.of_group, weight);
    const std::uint64_t estimate = pairs_.add(m.of_both, weight);
    auto at = members_.find(m.of_group);
    if (at == members_.end()) {
        if (!groups_.keeps(m.of_group)) return;
        if (members_.size() >= 4 * groups_.room())
            std::erase_if(members_, [&](const auto& each) { return !groups_.keeps(each.first); });
        const std::uint64_t counted = groups_.sketch().estimate(m.of_group);
        at = members_.emplace(m.of_group, members{candidate_set(room_), counted - std::min(counted, weight)})
                 .first;
    }
    at->second.keys.offer(m.key, m.of_both, estimate);
}

group_hitters::group group_hitters::list_of(const heavy_hitter& name, const members& in,
                                            std::uint64_t most) const {
    group found{.name = name.key, .count = name.count};
    found.complete_from = saturating_sum<std::uint64_t>(std::max(in.missed, in.keys.dropped()), 1);
    for (const auto& [d, candidate] : in.keys.keys())
        found.keys.push_back({candidate.key, pairs_.estimate(d)});
    std::ranges::sort(found.keys, before_in_list);
    if (found.keys.size() > most) {
        found.complete_from =
            std::max(found.complete_from, saturating_sum<std::uint64_t>(found.keys[most].count, 1));
        found.keys.resize(most);
    }
    return found;
}

std::vector<group_hitters::group> group_hitters::report(std::uint64_t groups, std::uint64_t keys) const {
    std::vector<group> all;
    for (const auto& [d, kept] : groups_.candidates().keys())
        if (const auto at = members_.find(d); at != members_.end())
            all.push_back(list_of({kept.key, groups_.sketch().estimate(d)}, at->second, keys));
    std::ranges::sort(all, [](const group& a, const group& b) {
        return a.count != b.count ? a.count > b.count : a.name < b.name;
    });
    if (all.size() > groups) all.resize(groups);
    return all;
}

std::uint64_t group_hitters::groups_complete_from() const {
    return saturating_sum<std::uint64_t>(groups_.candidates().dropped(), 1);
}

}  // namespace posy
