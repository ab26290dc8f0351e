// Requests among attenuated filters: to the nearest copy that an array knows of, and from there the sure way.
#include <algorithm>

#include "posy/overlay/attenuated_node.hpp"
#include "rank.hpp"
#include "wire.hpp"

namespace posy::overlay {

std::optional<std::uint32_t> attenuated_node::look_up(digest key, std::uint64_t now, outbox& out) {
    const auto id = lookups_.add(key, now);
    if (id) begin(*id, key, now, out);
    return id;
}

void attenuated_node::begin(std::uint32_t id, digest key, std::uint64_t now, outbox& out) {
    pass_on({id, 0, stage::by_filter, me_, key}, me_, now, out);
}

void attenuated_node::take_request(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    request r;
    r.id = read.number<std::uint32_t>();
    r.hops = read.number<std::uint16_t>();
    const std::uint8_t at = read.byte();
    r.origin = read.number<node_id>();
    r.key = take_digest(read);
    if (read.finish() || at > static_cast<std::uint8_t>(stage::disowned)) return void(++counted_.damaged);
    r.stage = static_cast<stage>(at);
    if (r.hops >= settings_.most_hops) return void(++counted_.refused);
    ++r.hops;
    pass_on(r, from, now, out);
}

void attenuated_node::pass_on(request r, node_id from, std::uint64_t now, outbox& out) {
    if (r.stage == stage::disowned) {
        home_.remove(r.key, from);  // who sends it speaks of itself
        r.stage = stage::to_home;
    }
    if (objects_.contains(r.key)) return answer(r, true, now, out);
    if (r.stage == stage::to_holder) {
        ++counted_.disowned;
        r.stage = stage::disowned;
        return send(r, from, out);
    }
    if (r.stage == stage::by_filter && r.hops < settings_.terms.levels) {
        if (const auto to = nearest(r.key, settings_.terms.levels - r.hops, from)) {
            ++counted_.by_filter;
            return send(r, *to, out);
        }
    }
    if (r.stage == stage::by_filter) ++counted_.gave_up;
    if (r.stage == stage::by_filter && r.hops > 0) ++counted_.misled;
    r.stage = stage::to_home;
    go_home(r, now, out);
}

// The neighbour whose array says yes at the lowest level that can still be reached.
std::optional<node_id> attenuated_node::nearest(const digest& key, unsigned hops_left, node_id but) const {
    const auto positions = positions_of(settings_.terms.geometry, key);
    std::optional<node_id> best;
    for (unsigned level = 0; level < hops_left && !best; ++level) {
        for (const auto& [id, link] : links_) {
            if (id == but || (best && rank(key, id) > rank(key, *best))) continue;
            const one_set& ones = link.in.level(level);
            const auto one = [&](std::uint64_t p) { return ones.test(static_cast<position>(p)); };
            if (std::ranges::all_of(positions, one)) best = id;
        }
    }
    return best;
}

void attenuated_node::go_home(request r, std::uint64_t now, outbox& out) {
    if (const auto next = home_.next_hop(r.key)) return send(r, *next, out);
    for (const node_id holder : home_.holders(r.key)) {
        if (holder == me_) continue;  // it is gone, and will be told
        r.stage = stage::to_holder;
        return send(r, holder, out);
    }
    answer(r, false, now, out);
}

void attenuated_node::send(const request& r, node_id to, outbox& out) {
    auto message = begin_message(attenuated_kind::ask);
    base::put_little(message, r.id);
    base::put_little(message, r.hops);
    base::put_little(message, static_cast<std::uint8_t>(r.stage));
    base::put_little(message, r.origin);
    put(message, r.key);
    out.push_back({to, std::move(message)});
}

void attenuated_node::answer(const request& r, bool found, std::uint64_t now, outbox& out) {
    if (r.origin == me_) {
        lookups_.answer(r.id, r.key, found ? std::optional(me_) : std::nullopt, r.hops, now);
        return;
    }
    auto message = begin_message(found ? attenuated_kind::found : attenuated_kind::absent);
    base::put_little(message, r.id);
    base::put_little(message, r.hops);
    put(message, r.key);
    out.push_back({r.origin, std::move(message)});
}

void attenuated_node::take_answer(node_id from, byte_view body, bool found, std::uint64_t now) {
    base::reader read(body);
    const auto id = read.number<std::uint32_t>();
    const auto hops = read.number<std::uint16_t>();
    const digest key = take_digest(read);
    if (read.finish()) return void(++counted_.damaged);
    if (!lookups_.answer(id, key, found ? std::optional(from) : std::nullopt, hops, now))
        ++counted_.strangers;
}

// ---- The home ------------------------------------------------------------------------------------------

void attenuated_node::set_members(std::span<const node_id> members, std::uint64_t now, outbox& out) {
    home_.set_members(members);
    for (const digest& key : objects_) publish(key, now, out);
    republish_at_ = now + settings_.republish;
}

void attenuated_node::publish_again(std::uint64_t now, outbox& out) {
    if (settings_.republish == 0 || objects_.empty() || now < republish_at_) return;
    for (const digest& key : objects_) publish(key, now, out);
    republish_at_ = now + settings_.republish;
}

void attenuated_node::publish(digest key, std::uint64_t now, outbox& out) {
    if (const auto id = publications_.add(key, now)) send_publication(*id, key, now, out);
}

// What is true now: of two publications of one object, the later may arrive first.
void attenuated_node::send_publication(std::uint32_t id, const digest& key, std::uint64_t now, outbox& out) {
    route_publication(id, 0, me_, key, objects_.contains(key), now, out);
}

void attenuated_node::route_publication(std::uint32_t id, std::uint16_t hops, node_id holder,
                                        const digest& key, bool there, std::uint64_t now, outbox& out) {
    const auto next = home_.next_hop(key);
    if (!next) {
        if (there && !home_.add(key, holder)) return void(++counted_.refused);
        if (!there) home_.remove(key, holder);
        if (holder == me_) return was_kept(id, key, there, now, out);
    }
    auto message = begin_message(next ? attenuated_kind::publish : attenuated_kind::kept);
    base::put_little(message, id);
    if (next) base::put_little(message, hops);
    if (next) base::put_little(message, holder);
    put(message, key);
    base::put_little(message, static_cast<std::uint8_t>(there));
    out.push_back({next.value_or(holder), std::move(message)});
}

void attenuated_node::take_publication(byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    const auto id = read.number<std::uint32_t>();
    const auto hops = read.number<std::uint16_t>();
    const auto holder = read.number<node_id>();
    const digest key = take_digest(read);
    const std::uint8_t there = read.byte();
    if (read.finish() || there > 1) return void(++counted_.damaged);
    if (hops >= settings_.most_hops) return void(++counted_.refused);
    route_publication(id, static_cast<std::uint16_t>(hops + 1), holder, key, there == 1, now, out);
}

void attenuated_node::take_kept(byte_view body, std::uint64_t now, outbox& out) {
    base::reader read(body);
    const auto id = read.number<std::uint32_t>();
    const digest key = take_digest(read);
    const std::uint8_t there = read.byte();
    if (read.finish() || there > 1) return void(++counted_.damaged);
    was_kept(id, key, there == 1, now, out);
}

// A home that was told something else, by a late message or by a stranger, is told again; of an object that
// is not here it learns when it sends a request. Unexpected answers do not fill the table.
void attenuated_node::was_kept(std::uint32_t id, const digest& key, bool there, std::uint64_t now,
                               outbox& out) {
    const bool expected = publications_.answer(id, key, std::nullopt, 0, now);
    publications_.take_answers();
    if (!expected) ++counted_.strangers;
    const bool wrong = expected ? there != objects_.contains(key) : !there && objects_.contains(key);
    if (wrong && publications_.waiting() <= objects_.size()) publish(key, now, out);
}

}  // namespace posy::overlay
