// Lookups in groups: the node that asks goes from its leader to the members and the other leaders that may
// know.
#include <algorithm>

#include "posy/overlay/group_node.hpp"
#include "wire.hpp"

namespace posy::overlay {
namespace {

constexpr std::size_t most_told = 64;  // members, and leaders, in an answer

std::vector<std::byte> about(group_kind kind, std::uint32_t id, const digest& key) {
    auto message = begin_message(kind);
    base::put_little(message, id);
    put(message, key);
    return message;
}

}  // namespace

std::optional<std::uint32_t> group_node::look_up(digest key, std::uint64_t now, outbox& out) {
    const auto id = lookups_.add(key, now);
    if (!id) return id;
    if (has(key)) {
        lookups_.answer(*id, key, self_, 0, now);
    } else {
        begin(*id, key, now, out);
    }
    return id;
}

std::vector<lookup_answer> group_node::take_answers() {
    auto answers = lookups_.take_answers();
    for (const auto& each : answers) searches_.erase(each.id);
    return answers;
}

// Also when it is asked again: from the start, since an answer was lost or a node has failed.
void group_node::begin(std::uint32_t id, const digest& key, std::uint64_t now, outbox& out) {
    search next{.key = key};
    search& s = searches_[id];
    next.silent = std::move(s.silent);
    if (s.waits_for) next.silent.insert(*s.waits_for);
    s = std::move(next);
    if (mesh_) {
        s.members = members_with(key);
        s.leaders = leaders_with(key);
    } else if (leader_) {
        s.guide = leader_;
        s.leaders.push_back(*leader_);
    } else {
        return;
    }
    go_on(id, s, now, out);
}

// The next question: to a member before a leader, because it may be the last. Whoever was silent comes after
// all others, one of which may have the object, too.
void group_node::go_on(std::uint32_t id, search& s, std::uint64_t now, outbox& out) {
    for (const bool silent : {false, true}) {
        if (ask_next(id, s, group_kind::have, silent, out)) return;
        if (ask_next(id, s, group_kind::ask, silent, out)) return;
    }
    if (!may_turn_up(s.key, now)) lookups_.answer(id, s.key, std::nullopt, s.hops, now);
}

// Found nowhere, but perhaps with a member on its way to this leader, or to the heir of one that is gone.
bool group_node::may_turn_up(const digest& key, std::uint64_t now) const {
    if (!mesh_) return false;
    if (now < complete_at_) return true;
    const auto& directory = mesh_->directory();
    return std::ranges::any_of(directory.not_alive(), [&](node_id id) {
        const auto& leader = *directory.find(id);
        if (is_live(leader.version.status) || !leader.summary.filter()) return false;
        const auto& filter = *leader.summary.filter();
        return now - std::min(now, leader.since) < how_.beat * how_.kept_beats &&
               filter.geometry() == how_.terms.geometry && filter.may_contain(key);
    });
}

bool group_node::ask_next(std::uint32_t id, search& s, group_kind kind, bool silent, outbox& out) const {
    const bool to_member = kind == group_kind::have;
    auto& rest = to_member ? s.members : s.leaders;
    auto& asked = to_member ? s.asked_members : s.asked_leaders;
    for (std::size_t i = rest.size(); i-- > 0;) {
        const node_id next = rest[i];
        if (s.silent.contains(next) != silent) continue;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        if (next == self_ || !asked.insert(next).second) continue;
        s.waits_for = next;
        ++s.hops;
        out.push_back({next, about(kind, id, s.key)});
        return true;
    }
    return false;
}

group_node::search* group_node::search_of(std::uint32_t id, const digest& key, node_id from) {
    const auto found = searches_.find(id);
    if (found == searches_.end() || found->second.key != key || found->second.waits_for != from) {
        ++counted_.strangers;
        return nullptr;
    }
    found->second.waits_for.reset();
    ++found->second.hops;
    return &found->second;
}

void group_node::on_ask(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader in(body);
    const auto id = in.number<std::uint32_t>();
    const digest key = take_digest(in);
    if (in.finish()) return void(++counted_.bad_messages);
    if (!mesh_) return;  // no leader any more: whoever asks asks again, and hears of the new one
    const auto members = members_with(key), leaders = leaders_with(key);
    if (members.empty() && leaders.empty() && may_turn_up(key, now)) return;
    auto message = about(group_kind::told, id, key);
    put_nodes(message, members, most_told);
    put_nodes(message, leaders, most_told);
    out.push_back({from, std::move(message)});
}

void group_node::on_told(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader in(body);
    const auto id = in.number<std::uint32_t>();
    const digest key = take_digest(in);
    const auto members = take_nodes(in, most_told);
    const auto leaders = take_nodes(in, most_told);
    if (in.finish()) return void(++counted_.bad_messages);
    search* s = search_of(id, key, from);
    if (!s) return;
    // Only the own leader is believed about the others: their unions are the same everywhere, but for age.
    const bool own = from == s->guide;
    if (!own && members.empty()) ++counted_.misled;
    s->members.insert(s->members.end(), members.begin(), members.end());
    if (own) s->leaders.insert(s->leaders.end(), leaders.begin(), leaders.end());
    go_on(id, *s, now, out);
}

void group_node::on_have(node_id from, byte_view body, outbox& out) {
    base::reader in(body);
    const auto id = in.number<std::uint32_t>();
    const digest key = take_digest(in);
    if (in.finish()) return void(++counted_.bad_messages);
    auto message = about(group_kind::has, id, key);
    message.push_back(static_cast<std::byte>(has(key)));
    out.push_back({from, std::move(message)});
}

void group_node::on_has(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader in(body);
    const auto id = in.number<std::uint32_t>();
    const digest key = take_digest(in);
    const auto yes = in.byte();
    if (in.finish() || yes > 1) return void(++counted_.bad_messages);
    search* s = search_of(id, key, from);
    if (!s) return;
    if (yes == 1) {
        lookups_.answer(id, key, from, s->hops, now);
        return;
    }
    ++counted_.misled;
    go_on(id, *s, now, out);
}

}  // namespace posy::overlay
