// Requests of the tree: up until a child's filter says yes, down from there, back where it was wrong.
#include "posy/overlay/tree_node.hpp"
#include "rank.hpp"
#include "wire.hpp"

namespace posy::overlay {

std::optional<std::uint32_t> tree_node::look_up(digest key, std::uint64_t now, outbox& out) {
    const auto id = lookups_.add(key, now);
    if (id) begin(*id, key, now, out);
    return id;
}

void tree_node::begin(std::uint32_t id, digest key, std::uint64_t now, outbox& out) {
    pass_on({id, me_, key, me_, me_, 0}, me_, now, out);
}

void tree_node::take_request(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    request r;
    r.id = read.number<std::uint32_t>();
    r.hops = read.number<std::uint16_t>();
    r.origin = read.number<node_id>();
    r.key = take_digest(read);
    r.apex = read.number<node_id>();
    r.below = read.number<node_id>();
    if (read.finish()) return void(++counted_.damaged);
    const bool child = children_.contains(from);
    if (!child && from != parent_) return void(++counted_.strangers);
    if (++r.hops > settings_.most_hops) return void(++counted_.refused);
    ++counted_.asked;
    if (child && from != r.below) ++counted_.returned;
    pass_on(r, from, now, out);
}

// The next child whose filter says yes: the first, or the one after a child that had nothing.
std::optional<node_id> tree_node::next_child(const request& r, std::optional<node_id> after) const {
    const auto positions = positions_of(settings_.terms.geometry, r.key);
    std::optional<node_id> best;
    for (const auto& [id, child] : children_) {
        if (id == r.below) continue;
        if (after && rank(r.key, id) <= rank(r.key, *after)) continue;
        if (best && rank(r.key, id) > rank(r.key, *best)) continue;
        const one_set& ones = child.held.level(0);
        bool yes = true;
        for (const std::uint64_t p : positions) yes = yes && ones.test(static_cast<position>(p));
        if (yes) best = id;
    }
    return best;
}

void tree_node::pass_on(request r, node_id from, std::uint64_t now, outbox& out) {
    if (objects_.contains(r.key)) return answer(r, true, now, out);
    const bool came_back = children_.contains(from) && from != r.below;
    std::optional<node_id> to = next_child(r, came_back ? std::optional(from) : std::nullopt);
    if (!to) {
        if (!parent_) {
            // A node on its way to a new parent knows only a part: whoever asks asks again.
            if (reigns_ && r.apex == me_) answer(r, false, now, out);
            return;
        }
        if (r.apex == me_) r.apex = *parent_, r.below = me_;
        to = parent_;
    }
    auto message = begin_message(tree_kind::ask);
    base::put_little(message, r.id);
    base::put_little(message, r.hops);
    base::put_little(message, r.origin);
    put(message, r.key);
    base::put_little(message, r.apex);
    base::put_little(message, r.below);
    out.push_back({*to, std::move(message)});
}

void tree_node::answer(const request& r, bool found, std::uint64_t now, outbox& out) {
    if (r.origin == me_) {
        lookups_.answer(r.id, r.key, found ? std::optional(me_) : std::nullopt, r.hops, now);
        return;
    }
    auto message = begin_message(found ? tree_kind::found : tree_kind::absent);
    base::put_little(message, r.id);
    base::put_little(message, r.hops);
    put(message, r.key);
    out.push_back({r.origin, std::move(message)});
}

void tree_node::take_answer(node_id from, byte_view body, bool found, std::uint64_t now) {
    base::reader read(body);
    const auto id = read.number<std::uint32_t>();
    const auto hops = read.number<std::uint16_t>();
    const digest key = take_digest(read);
    if (read.finish()) return void(++counted_.damaged);
    if (!lookups_.answer(id, key, found ? std::optional(from) : std::nullopt, hops, now))
        ++counted_.strangers;
}

}  // namespace posy::overlay
