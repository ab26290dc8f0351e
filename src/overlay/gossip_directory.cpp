#include "posy/overlay/gossip_directory.hpp"

#include <algorithm>

#include "base/mix.hpp"

namespace posy::overlay {
namespace {

std::uint64_t hash_of(const member_version& v) {
    std::uint64_t h = base::mix(v.id + 0x9e3779b97f4a7c15);
    for (const std::uint64_t part : {v.incarnation, static_cast<std::uint64_t>(v.status), v.generation})
        h = base::mix(h ^ (part + 0x9e3779b97f4a7c15));
    return h;
}

}  // namespace

const gossip_directory::member* gossip_directory::find(node_id id) const {
    const auto found = members_.find(id);
    return found == members_.end() ? nullptr : &found->second;
}

gossip_directory::member* gossip_directory::find(node_id id) {
    const auto found = members_.find(id);
    return found == members_.end() ? nullptr : &found->second;
}

gossip_directory::member& gossip_directory::add(member m) {
    member& added = members_.emplace(m.version.id, std::move(m)).first->second;
    enter(added);
    return added;
}

void gossip_directory::forget(node_id id) {
    if (member* m = find(id)) {
        withdraw(*m);
        members_.erase(id);
    }
}

void gossip_directory::change(member& m, const member_version& to, std::uint64_t now) {
    withdraw(m);
    if (m.version.status != to.status || m.version.incarnation != to.incarnation) m.since = now;
    m.version = to;
    enter(m);
}

void gossip_directory::enter(member& m) {
    if (m.version.status != standing::alive) not_alive_.insert(m.version.id);
    if (!is_live(m.version.status)) return;
    m.live_at = live_.size();
    live_.push_back(m.version.id);
    hashes_[part_of(m.version.id)] ^= hash_of(m.version);
}

void gossip_directory::withdraw(member& m) {
    not_alive_.erase(m.version.id);
    if (!is_live(m.version.status)) return;
    hashes_[part_of(m.version.id)] ^= hash_of(m.version);
    live_[m.live_at] = live_.back();
    find(live_.back())->live_at = m.live_at;
    live_.pop_back();
}

std::uint64_t gossip_directory::hash() const {
    std::uint64_t all = 0;
    for (const std::uint64_t part : hashes_) all = base::mix(all ^ part);
    return all;
}

unsigned gossip_directory::part_of(node_id id) { return static_cast<unsigned>(base::mix(id) >> 59); }

std::vector<node_id> gossip_directory::who(std::string_view key) const {
    std::vector<node_id> found;
    std::optional<hasher> hash;
    digest d{};
    each_summary([&](const member& m) {
        if (const hasher theirs = m.summary.filter()->hash(); hash != theirs) {
            hash = theirs;
            d = theirs(key);
        }
        if (m.summary.filter()->may_contain(d)) found.push_back(m.version.id);
    });
    return found;
}

}  // namespace posy::overlay
