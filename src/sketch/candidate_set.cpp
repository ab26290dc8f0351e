#include "posy/candidate_set.hpp"

#include <algorithm>
#include <vector>

namespace posy {

bool before_in_list(const heavy_hitter& a, const heavy_hitter& b) {
    return a.count != b.count ? a.count > b.count : a.key < b.key;
}

void candidate_set::take(std::string_view key, digest d, std::uint64_t estimate, double least) {
    const auto [at, fresh] = keys_.try_emplace(d);
    at->second.count = estimate;
    if (!fresh) return;
    at->second.key = key;
    if (keys_.size() >= 2 * room_) prune(least);
}

// Candidates never count less than `dropped_`: those that stay are no smaller than the largest that goes, and
// later ones are above it.
void candidate_set::prune(double least) {
    std::vector<map::const_iterator> order;
    for (auto at = keys_.begin(); at != keys_.end(); ++at)
        if (static_cast<double>(at->second.count) >= least) order.emplace_back(at);
    std::ranges::sort(order,
                      [](const auto& a, const auto& b) { return before_in_list(a->second, b->second); });
    if (order.size() > room_) {
        dropped_ = std::max(dropped_, order[room_]->second.count);
        order.resize(room_);
    }
    map kept;
    for (const auto& at : order) kept.insert(keys_.extract(at));
    keys_ = std::move(kept);
}

void candidate_set::unite(const candidate_set& from, std::uint64_t dropped, double least,
                          const std::function<std::uint64_t(digest)>& estimate) {
    room_ = std::max(room_, from.room_);
    dropped_ = dropped;
    for (const auto& [d, candidate] : from.keys_) keys_.try_emplace(d, candidate);
    for (auto& [d, candidate] : keys_) candidate.count = estimate(d);
    std::erase_if(keys_, [&](const auto& each) { return each.second.count < dropped_; });
    if (keys_.size() >= 2 * room_) prune(least);
}

candidate_set candidate_set::of(map keys, std::uint64_t room, std::uint64_t dropped) {
    candidate_set set(room);
    set.dropped_ = dropped;
    set.keys_ = std::move(keys);
    return set;
}

}  // namespace posy
