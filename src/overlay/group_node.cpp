// What both do: their own objects, becoming leader, leaving.
#include "posy/overlay/group_node.hpp"

#include <algorithm>

#include "wire.hpp"

namespace posy::overlay {

group_node::group_node(node_id self, std::string address, const group_settings& how, std::uint32_t life,
                       std::uint64_t seed, shared_filters* pool)
    : self_(self),
      address_(std::move(address)),
      how_(how),
      pool_(pool),
      random_(seed),
      objects_(how.terms.geometry, random_()),
      lookups_(how.lookups),
      to_leader_(how.terms, life) {}

result<group_node> group_node::make(node_id self, std::string address, const group_settings& how,
                                    std::optional<node_id> leader, std::uint32_t life, std::uint64_t seed,
                                    std::uint64_t now, shared_filters* pool) {
    if (auto right = check(how.terms.geometry); !right) return right.error();
    if (how.terms.levels != 1 || how.beat == 0 || how.silent_beats == 0 || how.kept_beats == 0)
        return error::invalid("a group needs links of one level, and beats above zero");
    group_node node(self, std::move(address), how, life, seed, pool);
    if (leader) {
        node.move_to(*leader, now);
    } else if (!node.become_leader(now)) {
        return error::too_large("no memory for the union of a group's filters");
    }
    return node;
}

bool group_node::insert(digest d, std::uint64_t now) {
    return objects_.insert(d, [&](position p) { flip_own(p, now); });
}

bool group_node::remove(digest d, std::uint64_t now) {
    return objects_.remove(d, [&](position p) { flip_own(p, now); });
}

void group_node::flip_own(position p, std::uint64_t now) {
    if (!mesh_) return to_leader_.flip(0, p, now);
    objects_.test(p) ? mesh_->own_summary().raise(p) : mesh_->own_summary().lower(p);
}

void group_node::add_contact(node_id leader) {
    if (mesh_) mesh_->add_contact(leader);
}

// Its own objects are the first of the union; members come with theirs. False if there is no memory for it.
bool group_node::become_leader(std::uint64_t now) {
    constexpr unsigned counter_bits = 8;
    auto set = counting_filter::make(how_.terms.geometry, counter_bits);
    if (!set) return false;
    for (const position p : objects_.ones()) set->raise(p);
    gossip_settings mesh = how_.mesh;
    mesh.incarnation += now;
    mesh.publish.first_generation += now;
    auto made = gossip_node::make(self_, address_, std::move(*set), mesh, random_(), now, pool_);
    if (!made) return false;
    mesh_.emplace(std::move(*made));
    for (const node_id other : leaders_) mesh_->add_contact(other);
    for (const node_id other : silent_) mesh_->add_contact(other);
    if (leader_) mesh_->add_contact(*leader_);
    leader_.reset(), heir_.reset();
    next_beat_ = now + how_.beat;
    return true;
}

// The members come when they have noticed that the leader is silent, each at a beat of its own, and so do the
// unions of the other leaders.
void group_node::inherit(std::uint64_t now) {
    if (!become_leader(now)) return;
    ++counted_.promotions;
    complete_at_ = now + how_.beat * how_.silent_beats;
}

void group_node::move_to(node_id leader, std::uint64_t now) {
    leader_ = leader;
    heir_.reset();
    to_leader_.start_over(now);
    leader_heard_ = now;
    next_beat_ = now;
    ++counted_.moves;
}

void group_node::leave(std::uint64_t now, outbox& out) {
    left_ = true;
    if (!mesh_) {
        if (leader_) out.push_back({*leader_, begin_message(group_kind::leave)});
        return;
    }
    // The heir hears that there is no leader any more, and so do the others, who turn to it.
    for (const auto& [id, m] : members_) {
        auto message = begin_message(group_kind::elsewhere);
        const std::vector<node_id> to = heir_ ? std::vector<node_id>{*heir_} : other_leaders();
        put_nodes(message, to, 8);
        out.push_back({id, std::move(message)});
    }
    mesh_->leave(now, out);
}

std::vector<node_id> group_node::members_with(digest key) const {
    std::vector<node_id> found;
    if (!mesh_) return found;
    const auto bits = positions_of(how_.terms.geometry, key);
    const auto all = [&](const auto& has) {
        return std::ranges::all_of(bits, [&](std::uint64_t p) { return has(static_cast<position>(p)); });
    };
    if (all([&](position p) { return objects_.test(p); })) found.push_back(self_);
    for (const auto& entry : members_) {
        const auto& filter = entry.second.filter;
        if (all([&](position p) { return filter.level(0).test(p); })) found.push_back(entry.first);
    }
    return found;
}

std::vector<node_id> group_node::leaders_with(digest key) const {
    std::vector<node_id> found;
    if (!mesh_) return found;
    mesh_->directory().each_summary([&](const gossip_directory::member& m) {
        const auto& filter = *m.summary.filter();
        if (filter.geometry() == how_.terms.geometry && filter.may_contain(key))
            found.push_back(m.version.id);
    });
    return found;
}

std::vector<node_id> group_node::member_ids() const {
    std::vector<node_id> all;
    for (const auto& entry : members_) all.push_back(entry.first);
    return all;
}

std::vector<node_id> group_node::other_leaders() const {
    std::vector<node_id> others;
    if (!mesh_) return others;
    for (const node_id id : mesh_->directory().live()) {
        if (id != self_) others.push_back(id);
    }
    // A different few for everybody, so that a group that dissolves does not go to one place.
    if (!others.empty())
        std::rotate(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(self_ % others.size()),
                    others.end());
    return others;
}

}  // namespace posy::overlay
