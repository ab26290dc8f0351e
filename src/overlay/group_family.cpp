// What a leader and its members say to each other, and what follows from silence.
#include <algorithm>

#include "gossip_wire.hpp"
#include "posy/overlay/group_node.hpp"
#include "wire.hpp"

namespace posy::overlay {
namespace {

constexpr std::size_t most_named = 8;  // leaders in a message
constexpr std::size_t most_contacts = 64;

}  // namespace

void group_node::receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
    if (left_ || from == self_) return;
    if (message.empty()) {
        ++counted_.bad_messages;
        return;
    }
    const byte_view body = message.subspan(1);
    switch (static_cast<group_kind>(message[0])) {
        case group_kind::update:
            return on_update(from, body, now, out);
        case group_kind::beat:
            return on_beat(from, body, now, out);
        case group_kind::family:
            return on_family(from, body, now);
        case group_kind::leave:
            if (!body.empty())
                ++counted_.bad_messages;
            else
                drop(from);
            return;
        case group_kind::elsewhere:
            return on_elsewhere(from, body, now);
        case group_kind::ask:
            return on_ask(from, body, now, out);
        case group_kind::told:
            return on_told(from, body, now, out);
        case group_kind::have:
            return on_have(from, body, out);
        case group_kind::has:
            return on_has(from, body, now, out);
    }
    if (mesh_) return mesh_->receive(from, message, now, out);
    if (!gossip::read(message, how_.mesh)) return void(++counted_.bad_messages);
    // Mail among leaders reaches whoever led in an earlier life, or is named as a contact.
    ++counted_.strangers;
    send_elsewhere(from, now, out);
}

std::optional<std::uint64_t> group_node::next_tick() const {
    if (left_) return std::nullopt;
    std::uint64_t next = next_beat_;
    if (const auto lookup = lookups_.next_tick()) next = std::min(next, *lookup);
    if (mesh_) return std::min(next, mesh_->next_tick().value_or(next));
    if (const auto update = to_leader_.next_tick()) next = std::min(next, *update);
    return next;
}

void group_node::tick(std::uint64_t now, outbox& out) {
    if (left_) return;
    lookups_.tick(now, [&](std::uint32_t id, const digest& key) { begin(id, key, now, out); });
    if (!mesh_ && now - std::min(now, leader_heard_) >= how_.beat * how_.silent_beats) leader_is_silent(now);
    if (!mesh_) return speak_to_leader(now, out);
    mesh_->tick(now, out);
    if (now < next_beat_) return;
    next_beat_ = now + how_.beat;
    drop_silent_members(now);
}

// ---- A member ------------------------------------------------------------------------------------------

void group_node::speak_to_leader(std::uint64_t now, outbox& out) {
    const auto content = [this](unsigned) { return objects_.ones(); };
    if (auto update = to_leader_.next(static_cast<std::uint8_t>(group_kind::update), now, content))
        out.push_back({*leader_, std::move(*update)});
    if (now < next_beat_) return;
    next_beat_ = now + how_.beat;
    auto message = begin_message(group_kind::beat);
    put(message, to_leader_.state());
    out.push_back({*leader_, std::move(message)});
}

void group_node::leader_is_silent(std::uint64_t now) {
    ++counted_.lost;
    if (heir_ == self_) return inherit(now);
    silent_.push_back(*leader_);
    std::erase(leaders_, *leader_);
    if (heir_) return move_to(*heir_, now);
    if (!leaders_.empty()) return move_to(leaders_[random_() % leaders_.size()], now);
    inherit(now);  // nobody is left to turn to: a group of one, until others come
}

void group_node::on_family(node_id from, byte_view body, std::uint64_t now) {
    base::reader in(body);
    const link_state state = take_state(in);
    const auto heir = in.number<node_id>();
    const auto leaders = take_nodes(in, most_named);
    if (in.finish() || mesh_ || from != leader_) {
        ++counted_.bad_messages;
        return;
    }
    leader_heard_ = now;
    heir_ = heir;
    leaders_ = leaders;
    silent_.clear();
    to_leader_.acknowledged(state, now);
}

void group_node::on_elsewhere(node_id from, byte_view body, std::uint64_t now) {
    base::reader in(body);
    const auto to = take_nodes(in, most_named);
    if (in.finish()) return void(++counted_.bad_messages);
    if (mesh_) return learn_contacts(from, to);
    if (from != leader_) return void(++counted_.strangers);
    if (to.empty()) return;  // it has no leader itself; silence will tell
    const node_id next = to[random_() % to.size()];
    if (next == self_) {
        inherit(now);
    } else if (next != from) {
        move_to(next, now);
    }
}

// ---- A leader ------------------------------------------------------------------------------------------

// A contact that does not lead names a leader.
void group_node::learn_contacts(node_id from, const std::vector<node_id>& leaders) {
    const auto& known = mesh_->contacts();
    if (std::ranges::find(known, from) == known.end() || known.size() + leaders.size() > most_contacts)
        return void(++counted_.strangers);
    for (const node_id each : leaders) mesh_->add_contact(each);
}

group_node::member* group_node::admit(node_id id, std::uint64_t now, outbox& out) {
    if (mesh_) {
        if (const auto found = members_.find(id); found != members_.end()) {
            found->second.heard = now;
            return &found->second;
        }
        if (members_.size() < how_.most_members) {
            member m{filter_receiver(how_.terms, random_()), now, now,
                     allowance(how_.burst, how_.terms.batch)};
            member& added = members_.emplace(id, std::move(m)).first->second;
            choose_heir();
            return &added;
        }
        ++counted_.refused;
    }
    send_elsewhere(id, now, out);
    return nullptr;
}

// A member names its leader, but not one that may be gone.
void group_node::send_elsewhere(node_id to, std::uint64_t now, outbox& out) {
    auto message = begin_message(group_kind::elsewhere);
    std::vector<node_id> leaders = other_leaders();
    if (leader_ && now - std::min(now, leader_heard_) < 2 * how_.beat) leaders = {*leader_};
    put_nodes(message, leaders, most_named);
    out.push_back({to, std::move(message)});
}

void group_node::on_update(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    member* m = admit(from, now, out);
    if (!m) return;
    if (!m->updates.take(now)) {
        ++counted_.throttled;
        return;
    }
    const bool is_new = m->filter.state() == link_state{};
    const auto taken = m->filter.receive(body);
    switch (taken.outcome) {
        case link_outcome::applied:
            for (const position p : taken.flips[0])
                m->filter.level(0).test(p) ? mesh_->own_summary().raise(p) : mesh_->own_summary().lower(p);
            // What a new member brings, such as those of a leader that is gone, is missed until it is told.
            if (is_new) mesh_->own_summary().hurry();
            break;
        case link_outcome::repeated:
        case link_outcome::gap:
            break;
        case link_outcome::too_full:
        case link_outcome::mismatched:
            ++counted_.refused;
            break;
        case link_outcome::damaged:
            ++counted_.bad_messages;
            return;
    }
    send_family(from, *m, out);
}

void group_node::on_beat(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader in(body);
    take_state(in);
    if (in.finish()) {
        ++counted_.bad_messages;
        return;
    }
    if (const member* m = admit(from, now, out)) send_family(from, *m, out);
}

void group_node::send_family(node_id to, const member& m, outbox& out) {
    auto message = begin_message(group_kind::family);
    put(message, m.filter.answer());
    base::put_little(message, heir_.value_or(to));
    put_nodes(message, other_leaders(), most_named);
    out.push_back({to, std::move(message)});
}

void group_node::drop_silent_members(std::uint64_t now) {
    std::vector<node_id> silent;
    for (const auto& [id, m] : members_) {
        if (now - std::min(now, m.heard) > how_.beat * how_.kept_beats) silent.push_back(id);
    }
    for (const node_id id : silent) drop(id);
    counted_.lost += silent.size();
}

// Its bits leave the union, where nobody else has them.
void group_node::drop(node_id id) {
    const auto found = members_.find(id);
    if (found == members_.end()) return;
    for (const position p : found->second.filter.level(0).sorted()) mesh_->own_summary().lower(p);
    members_.erase(found);
    choose_heir();
}

// Whoever has been there longest is likely to stay.
void group_node::choose_heir() {
    const auto oldest = std::ranges::min_element(members_, {}, [](const auto& m) { return m.second.since; });
    heir_ = oldest == members_.end() ? std::nullopt : std::optional(oldest->first);
}

}  // namespace posy::overlay
