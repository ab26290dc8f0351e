// A node of the tree and its neighbours: who is parent and child of whom, and what happens when one is gone.
#include <algorithm>
#include <iterator>

#include "base/mix.hpp"
#include "position_code.hpp"
#include "posy/overlay/tree_node.hpp"
#include "wire.hpp"

namespace posy::overlay {
namespace {

constexpr std::size_t most_ancestors = 16, most_heirs = 4;
constexpr unsigned most_tries = 3;

}  // namespace

// ---- As a parent ---------------------------------------------------------------------------------------

tree_node::children_map::iterator tree_node::child_of(node_id from, std::uint64_t now, outbox& out) {
    const auto found = children_.find(from);
    if (found != children_.end()) {
        found->second.heard = now;
        return found;
    }
    const bool circle =
        from == me_ || from == parent_ || std::ranges::find(ancestors_, from) != ancestors_.end();
    if (circle || children_.size() >= settings_.most_children) {
        ++counted_.refused;
        out.push_back({from, begin_message(tree_kind::full)});
        return children_.end();
    }
    return children_.emplace(from, branch{{settings_.terms, base::draw(secret_, from)}, now}).first;
}

void tree_node::take_update(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    const auto found = child_of(from, now, out);
    if (found == children_.end()) return;
    branch& sender = found->second;
    const std::uint32_t life = sender.held.state().life;
    const auto taken = sender.held.receive(body);
    switch (taken.outcome) {
        case link_outcome::damaged:
            return void(++counted_.damaged);
        case link_outcome::too_full:
            return void(++counted_.refused);
        case link_outcome::mismatched:
            ++counted_.refused;
            break;
        case link_outcome::applied:
        case link_outcome::repeated:
        case link_outcome::gap:
            break;
    }
    const bool held = taken.outcome == link_outcome::applied || taken.outcome == link_outcome::repeated;
    auto reply = begin_message(tree_kind::have);
    put(reply, held || sender.held.other_terms() ? sender.held.answer() : link_state{});
    out.push_back({from, std::move(reply)});
    if (taken.outcome == link_outcome::applied) {
        if (life != 0 && life != sender.held.state().life) keep_former(sender, taken.flips[0], now);
        std::vector<position> changed;
        std::ranges::remove_copy_if(taken.flips[0], std::back_inserter(changed),
                                    [&](position p) { return sender.was_below(p); });
        merge(&sender, changed, now);
    }
    send_update(now, out);
}

void tree_node::take_beat(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    if (!body.empty()) return void(++counted_.damaged);
    const auto found = child_of(from, now, out);
    if (found == children_.end()) return;
    auto reply = begin_message(tree_kind::family);
    put(reply, found->second.held.answer());
    std::vector<node_id> ancestors;
    if (parent_) {
        ancestors.push_back(*parent_);
        ancestors.insert(ancestors.end(), ancestors_.begin(), ancestors_.end());
    }
    put_nodes(reply, ancestors, most_ancestors);
    put_nodes(reply, children(), most_heirs);
    out.push_back({from, std::move(reply)});
}

// Within the fill that is allowed: a child cannot pile up bits by starting anew again and again.
void tree_node::keep_former(branch& child, const std::vector<position>& flips, std::uint64_t now) {
    const one_set& held = child.held.level(0);
    one_set lost = child.former.value_or(one_set(held.bits(), base::draw(secret_, now)));
    for (const position p : flips) {
        if (!held.test(p) && !lost.test(p)) lost.flip(p);
    }
    const double most = settings_.terms.most_fill * static_cast<double>(held.bits());
    if (lost.ones() == 0 || static_cast<double>(lost.ones() + held.ones()) > most) return;
    child.former = std::move(lost);
    child.former_until = now + silence();
}

void tree_node::forget_former(std::uint64_t now) {
    for (auto& [id, child] : children_) {
        if (!child.former || now < child.former_until) continue;
        auto lost = child.former->sorted();
        child.former.reset();
        std::erase_if(lost, [&, held = &child.held.level(0)](position p) { return held->test(p); });
        merge(&child, lost, now);
    }
}

void tree_node::drop(children_map::iterator gone, std::uint64_t now) {
    auto ones = gone->second.held.level(0).sorted();
    if (const auto& former = gone->second.former) {
        const auto more = former->sorted();
        ones.insert(ones.end(), more.begin(), more.end());
        unite(ones);
    }
    children_.erase(gone);
    merge(nullptr, ones, now);
}

void tree_node::drop_silent(std::uint64_t now) {
    for (auto it = children_.begin(); it != children_.end();) {
        const auto here = it++;
        if (now < here->second.heard + silence_of_a_child()) continue;
        ++counted_.lost_children;
        drop(here, now);
    }
}

// ---- As a child ----------------------------------------------------------------------------------------

void tree_node::join(node_id parent, std::uint64_t now, outbox& out) {
    relatives_ = {parent};
    relatives_.insert(relatives_.end(), settings_.seeds.begin(), settings_.seeds.end());
    next_relative_ = 0, tries_ = 0, reigns_ = false;
    candidate_.reset();
    try_next(now, out);
}

void tree_node::send_beat(node_id to, outbox& out) const {
    out.push_back({to, begin_message(tree_kind::beat)});
}

void tree_node::take_have(node_id from, byte_view body, std::uint64_t now) {
    base::reader read(body);
    const link_state state = take_state(read);
    if (read.finish()) return void(++counted_.damaged);
    if (from != parent_) return void(++counted_.strangers);
    parent_heard_ = now;
    up_.acknowledged(state, now);
}

void tree_node::take_family(node_id from, byte_view body, std::uint64_t now) {
    base::reader read(body);
    const link_state state = take_state(read);
    auto ancestors = take_nodes(read, most_ancestors);
    auto heirs = take_nodes(read, most_heirs);
    if (read.finish()) return void(++counted_.damaged);
    if (from != parent_ && from != candidate_) return void(++counted_.strangers);
    const bool circle = std::ranges::find(ancestors, me_) != ancestors.end();
    if (circle) return;  // silence ends it
    parent_heard_ = now;
    if (from == candidate_) {
        parent_ = from;
        candidate_.reset(), try_at_.reset();
        next_beat_ = now + settings_.beat;
        up_.start_over(now);
    } else {
        up_.acknowledged(state, now);
    }
    ancestors_ = std::move(ancestors);
    heirs_ = std::move(heirs);
}

void tree_node::lose_parent(std::uint64_t now, outbox& out) {
    ++counted_.lost_parents;
    const node_id lost = *parent_;
    // If it lives and only its mail was lost, it need not hold what will be elsewhere.
    auto farewell = begin_message(tree_kind::leave);
    put_nodes(farewell, {}, most_heirs);
    out.push_back({lost, std::move(farewell)});
    relatives_ = ancestors_;
    relatives_.insert(relatives_.end(), heirs_.begin(), heirs_.end());
    relatives_.insert(relatives_.end(), settings_.seeds.begin(), settings_.seeds.end());
    std::erase(relatives_, lost);
    parent_.reset();
    ancestors_.clear(), heirs_.clear();
    up_.start_over(now);
    next_relative_ = 0, tries_ = 0, reigns_ = false;
    try_next(now, out);
}

// Each relative is asked a few times. An heir that comes to its own name is the root, and so is a node whose
// relatives are all silent; both go on asking the seeds, so that a tree that was cut in two grows together.
void tree_node::try_next(std::uint64_t now, outbox& out) {
    if (candidate_ && tries_ < most_tries) {
        ++tries_;
        try_at_ = now + settings_.answer_time;
        return send_beat(*candidate_, out);
    }
    candidate_.reset();
    while (next_relative_ < relatives_.size() && children_.contains(relatives_[next_relative_]))
        ++next_relative_;
    if (next_relative_ < relatives_.size() && relatives_[next_relative_] != me_) {
        candidate_ = relatives_[next_relative_++];
        tries_ = 0;
        return try_next(now, out);
    }
    reigns_ = true;
    relatives_ = settings_.seeds;
    next_relative_ = 0;
    const bool first = relatives_.empty() || relatives_.front() == me_;
    try_at_ = first ? std::nullopt : std::optional(now + settings_.beat);
}

void tree_node::take_refusal(node_id from, std::uint64_t now, outbox& out) {
    if (from == parent_) return lose_parent(now, out);
    if (from != candidate_) return void(++counted_.strangers);
    tries_ = most_tries;
    try_next(now, out);
}

// ---- Farewell ------------------------------------------------------------------------------------------

void tree_node::leave(outbox& out) {
    auto message = begin_message(tree_kind::leave);
    put_nodes(message, parent_ ? std::vector<node_id>{*parent_} : children(), most_heirs);
    for (const auto& [id, child] : children_) out.push_back({id, message});
    if (parent_) out.push_back({*parent_, std::move(message)});
}

void tree_node::take_leave(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    const auto instead = take_nodes(read, most_heirs);
    if (read.finish()) return void(++counted_.damaged);
    if (const auto found = children_.find(from); found != children_.end()) return drop(found, now);
    if (from != parent_) return void(++counted_.strangers);
    ancestors_.insert(ancestors_.begin(), instead.begin(), instead.end());
    lose_parent(now, out);
}

}  // namespace posy::overlay
