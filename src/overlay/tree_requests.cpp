// Requests of the tree: up until a child's filter says yes, down from there, back where it was wrong.
#include <algorithm>

#include "posy/overlay/tree_node.hpp"
#include "requests.hpp"

namespace posy::overlay {

std::optional<std::uint32_t> tree_node::look_up(digest key, std::uint64_t now, outbox& out) {
    const auto id = lookups_.add(key, now);
    if (id) begin(*id, key, now, out);
    return id;
}

void tree_node::begin(std::uint32_t id, digest key, std::uint64_t now, outbox& out) {
    pass_on({{id, 0, me_, key}, me_, me_}, me_, now, out);
}

void tree_node::take_request(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    request r{take_lookup(read)};
    r.apex = read.number<node_id>();
    r.below = read.number<node_id>();
    const std::uint8_t unsure = read.byte();
    r.unsure = unsure == 1;
    if (read.finish() || unsure > 1) return void(++counted_.damaged);
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

// Whether a child had it that has started anew, and may get it back from a child of its own. What the child
// has got back already may say yes by accident, so that is no reason to believe it when it then finds
// nothing.
bool tree_node::may_come_back(const digest& key) const {
    return std::ranges::any_of(children_, [&](const auto& entry) {
        const branch& child = entry.second;
        return child.former && std::ranges::all_of(positions_of(settings_.terms.geometry, key), [&](auto p) {
                   return child.test(static_cast<position>(p));
               });
    });
}

void tree_node::pass_on(request r, node_id from, std::uint64_t now, outbox& out) {
    if (objects_.contains(r.key)) return answer<tree_kind>(r, true, me_, lookups_, now, out);
    const bool came_back = children_.contains(from) && from != r.below;
    std::optional<node_id> to = next_child(r, came_back ? std::optional(from) : std::nullopt);
    r.unsure = r.unsure || may_come_back(r.key);
    if (!to) {
        if (!parent_) {
            // A node on its way to a new parent knows only a part: whoever asks asks again.
            if (reigns_ && r.apex == me_ && !r.unsure) answer<tree_kind>(r, false, me_, lookups_, now, out);
            return;
        }
        if (r.apex == me_) r.apex = *parent_, r.below = me_;
        to = parent_;
    }
    auto message = begin_message(tree_kind::ask);
    put(message, r);
    base::put_little(message, r.apex);
    base::put_little(message, r.below);
    base::put_little(message, static_cast<std::uint8_t>(r.unsure));
    out.push_back({*to, std::move(message)});
}

}  // namespace posy::overlay
