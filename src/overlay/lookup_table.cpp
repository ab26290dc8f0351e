#include "posy/overlay/lookup_table.hpp"

namespace posy::overlay {

std::optional<std::uint32_t> lookup_table::add(digest key, std::uint64_t now) {
    if (waiting_.size() >= terms_.most) return std::nullopt;
    const std::uint32_t id = ++last_;
    waiting_.insert_or_assign(id, pending{key, now, now + terms_.patience, 1});
    due_.emplace(now + terms_.patience, id);
    return id;
}

bool lookup_table::answer(std::uint32_t id, const digest& key, std::optional<node_id> holder, unsigned hops,
                          std::uint64_t now) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end() || found->second.key != key) return false;
    answers_.push_back({id, key, holder, false, hops, found->second.attempts, now - found->second.began});
    due_.erase({found->second.due, id});
    waiting_.erase(found);
    return true;
}

std::vector<std::pair<std::uint32_t, digest>> lookup_table::take_due(std::uint64_t now) {
    std::vector<std::pair<std::uint32_t, digest>> again;
    while (!due_.empty() && due_.begin()->first <= now) {
        const auto found = waiting_.find(due_.begin()->second);
        due_.erase(due_.begin());
        auto& [id, lookup] = *found;
        if (lookup.attempts >= terms_.attempts) {
            answers_.push_back({id, lookup.key, {}, true, 0, lookup.attempts, now - lookup.began});
            waiting_.erase(found);
            continue;
        }
        ++lookup.attempts;
        lookup.due = now + terms_.patience;
        due_.emplace(lookup.due, id);
        again.emplace_back(id, lookup.key);
    }
    return again;
}

std::optional<std::uint64_t> lookup_table::next_tick() const {
    return due_.empty() ? std::nullopt : std::optional(due_.begin()->first);
}

}  // namespace posy::overlay
