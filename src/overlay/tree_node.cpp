#include "posy/overlay/tree_node.hpp"

#include <algorithm>

#include "position_code.hpp"
#include "requests.hpp"

namespace posy::overlay {

tree_node::tree_node(node_id me, const tree_settings& settings, std::uint32_t life, std::uint64_t secret)
    : me_(me),
      settings_(settings),
      secret_(secret),
      objects_(settings.terms.geometry, secret),
      up_(settings.terms, life),
      lookups_(settings.lookups) {}

// ---- The filter ----------------------------------------------------------------------------------------

bool tree_node::insert(digest key, std::uint64_t now, outbox& out) {
    if (!objects_.insert(key, [&](position p) { flip_own(p, now); })) return false;
    send_update(now, out);
    return true;
}

bool tree_node::remove(digest key, std::uint64_t now, outbox& out) {
    if (!objects_.remove(key, [&](position p) { flip_own(p, now); })) return false;
    send_update(now, out);
    return true;
}

void tree_node::flip_own(position p, std::uint64_t now) {
    if (!below_has(p, nullptr)) up_.flip(0, p, now);
}

bool tree_node::below_has(position p, const branch* but) const {
    return std::ranges::any_of(
        children_, [&](const auto& entry) { return &entry.second != but && entry.second.test(p); });
}

void tree_node::merge(const branch* from, const std::vector<position>& flips, std::uint64_t now) {
    for (const position p : flips) {
        if (!objects_.test(p) && !below_has(p, from)) up_.flip(0, p, now);
    }
}

std::vector<position> tree_node::union_ones() const {
    std::vector<position> ones = objects_.ones();
    for (const auto& [id, child] : children_) {
        for (const one_set* set : {&child.held.level(0), child.former ? &*child.former : nullptr}) {
            if (!set) continue;
            const auto more = set->sorted();
            ones.insert(ones.end(), more.begin(), more.end());
        }
    }
    unite(ones);
    return ones;
}

void tree_node::send_update(std::uint64_t now, outbox& out) {
    if (!parent_) return;
    auto update = up_.next(static_cast<std::uint8_t>(tree_kind::update), now,
                           [this](unsigned) { return union_ones(); });
    if (update) out.push_back({*parent_, std::move(*update)});
}

bool tree_node::may_be_below(node_id id, digest key) const {
    const one_set& ones = children_.at(id).held.level(0);
    return std::ranges::all_of(positions_of(settings_.terms.geometry, key),
                               [&](std::uint64_t p) { return ones.test(static_cast<position>(p)); });
}

// ---- The machine ---------------------------------------------------------------------------------------

void tree_node::receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
    if (message.empty()) return void(++counted_.damaged);
    const byte_view body = message.subspan(1);
    switch (static_cast<tree_kind>(message[0])) {
        case tree_kind::update:
            return take_update(from, body, now, out);
        case tree_kind::have:
            take_have(from, body, now);
            return send_update(now, out);
        case tree_kind::beat:
            return take_beat(from, body, now, out);
        case tree_kind::family:
            take_family(from, body, now);
            return send_update(now, out);
        case tree_kind::leave:
            take_leave(from, body, now, out);
            return send_update(now, out);
        case tree_kind::full:
            return take_refusal(from, now, out);
        case tree_kind::ask:
            return take_request(from, body, now, out);
        case tree_kind::found:
        case tree_kind::absent:
            return take_answer(from, body, static_cast<tree_kind>(message[0]) == tree_kind::found, lookups_,
                               now, counted_);
    }
    ++counted_.damaged;
}

void tree_node::tick(std::uint64_t now, outbox& out) {
    drop_silent(now);
    forget_former(now);
    if (parent_ && now >= parent_heard_ + silence()) lose_parent(now, out);
    if (parent_ && now >= next_beat_) {
        send_beat(*parent_, out);
        next_beat_ = now + settings_.beat;
    }
    if (!parent_ && try_at_ && now >= *try_at_) try_next(now, out);
    lookups_.tick(now, [&](std::uint32_t id, digest key) { begin(id, key, now, out); });
    send_update(now, out);
}

std::optional<std::uint64_t> tree_node::next_tick() const {
    std::optional<std::uint64_t> first = lookups_.next_tick();
    const auto consider = [&](std::optional<std::uint64_t> at) {
        if (at && (!first || *at < *first)) first = at;
    };
    for (const auto& [id, child] : children_) {
        consider(child.heard + silence_of_a_child());
        if (child.former) consider(child.former_until);
    }
    if (parent_) {
        consider(up_.next_tick());
        consider(std::min(next_beat_, parent_heard_ + silence()));
    } else {
        consider(try_at_);
    }
    return first;
}

std::vector<node_id> tree_node::children() const {
    std::vector<node_id> ids;
    for (const auto& [id, child] : children_) ids.push_back(id);
    return ids;
}

std::size_t tree_node::memory() const {
    std::size_t bytes = objects_.memory();
    for (const auto& [id, child] : children_)
        bytes += child.held.memory() + (child.former ? child.former->memory() : 0);
    return bytes;
}

}  // namespace posy::overlay
