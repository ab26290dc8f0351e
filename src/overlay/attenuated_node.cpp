#include "posy/overlay/attenuated_node.hpp"

#include <algorithm>

#include "position_code.hpp"
#include "requests.hpp"

namespace posy::overlay {

attenuated_node::attenuated_node(node_id me, const attenuated_settings& settings, std::uint32_t life,
                                 std::uint64_t secret)
    : me_(me),
      settings_(settings),
      life_(life),
      secret_(secret),
      objects_(settings.terms.geometry, secret),
      home_(me, secret, settings.most_pointers),
      lookups_(settings.lookups),
      publications_(settings.publications) {}

// ---- The filters ---------------------------------------------------------------------------------------

bool attenuated_node::insert(digest key, std::uint64_t now, outbox& out) {
    if (!objects_.insert(key, [&](position p) { flip_everywhere(p, now); })) return false;
    publish(key, now, out);
    send_updates(now, out);
    return true;
}

bool attenuated_node::remove(digest key, std::uint64_t now, outbox& out) {
    if (!objects_.remove(key, [&](position p) { flip_everywhere(p, now); })) return false;
    publish(key, now, out);
    send_updates(now, out);
    return true;
}

void attenuated_node::flip_everywhere(position p, std::uint64_t now) {
    for (auto& [id, link] : links_) link.out.flip(0, p, now);
}

// What changed at a level of one neighbour changes the next level of what others are told, where no third
// neighbour has the bit: for all others if none has it, and if one has it, for that one alone.
void attenuated_node::spread(node_id from, unsigned level, std::span<const position> flips,
                             std::uint64_t now) {
    if (level + 1 >= settings_.terms.levels) return;
    for (const position p : flips) {
        unsigned number = 0;
        edge* last = nullptr;
        for (auto& [id, other] : links_) {
            if (id == from || !other.in.level(level).test(p)) continue;
            last = &other;
            if (++number > 1) break;
        }
        if (number == 1) last->out.flip(level + 1, p, now);
        if (number > 0) continue;
        for (auto& [id, other] : links_) {
            if (id != from) other.out.flip(level + 1, p, now);
        }
    }
}

std::vector<position> attenuated_node::content_for(node_id neighbour, unsigned level) const {
    if (level == 0) return objects_.ones();
    std::vector<position> ones;
    for (const auto& [id, other] : links_) {
        if (id == neighbour) continue;
        const auto more = other.in.level(level - 1).sorted();
        ones.insert(ones.end(), more.begin(), more.end());
    }
    unite(ones);
    return ones;
}

void attenuated_node::send_updates(std::uint64_t now, outbox& out) {
    for (auto& [id, link] : links_) {
        auto update = link.out.next(static_cast<std::uint8_t>(attenuated_kind::update), now,
                                    [&, to = id](unsigned level) { return content_for(to, level); });
        if (update) out.push_back({id, std::move(*update)});
    }
}

// ---- The neighbours ------------------------------------------------------------------------------------

void attenuated_node::connect(node_id neighbour, std::uint64_t now, outbox& out) {
    link_of(neighbour, now, out);
    send_updates(now, out);
}

attenuated_node::link_map::iterator attenuated_node::link_of(node_id from, std::uint64_t now, outbox& out) {
    const auto found = links_.find(from);
    if (found != links_.end()) {
        found->second.heard = now;
        return found;
    }
    if (from == me_ || links_.size() >= settings_.most_neighbours) {
        ++counted_.refused;
        out.push_back({from, begin_message(attenuated_kind::full)});
        return links_.end();
    }
    edge fresh{
        {settings_.terms, base::draw(secret_, from)}, {settings_.terms, life_}, now, now + settings_.beat};
    return links_.emplace(from, std::move(fresh)).first;
}

void attenuated_node::take_update(node_id from, byte_view body, std::uint64_t now, outbox& out) {
    const auto found = link_of(from, now, out);
    if (found == links_.end()) return;
    filter_receiver& in = found->second.in;
    const auto taken = in.receive(body);
    if (taken.outcome == link_outcome::damaged) return void(++counted_.damaged);
    if (taken.outcome == link_outcome::too_full) return void(++counted_.refused);
    if (taken.outcome == link_outcome::mismatched) ++counted_.refused;
    const bool held = taken.outcome == link_outcome::applied || taken.outcome == link_outcome::repeated;
    auto reply = begin_message(attenuated_kind::have);
    put(reply, held || in.other_terms() ? in.answer() : link_state{});
    out.push_back({from, std::move(reply)});
    for (unsigned i = 0; i < taken.flips.size(); ++i) spread(from, i, taken.flips[i], now);
    send_updates(now, out);
}

void attenuated_node::take_have(node_id from, byte_view body, std::uint64_t now) {
    base::reader read(body);
    const link_state state = take_state(read);
    if (read.finish()) return void(++counted_.damaged);
    const auto found = links_.find(from);
    if (found == links_.end()) return void(++counted_.strangers);
    found->second.heard = now;
    found->second.out.acknowledged(state, now);
}

void attenuated_node::drop(link_map::iterator gone, std::uint64_t now) {
    const auto [id, lost] = std::move(*gone);
    links_.erase(gone);
    for (unsigned i = 0; i < settings_.terms.levels; ++i) spread(id, i, lost.in.level(i).sorted(), now);
}

// A beat is answered by what is held, and tells a neighbour that was set up anew that it is one.
void attenuated_node::beat_and_drop(std::uint64_t now, outbox& out) {
    for (auto it = links_.begin(); it != links_.end();) {
        const auto here = it++;
        if (now >= here->second.heard + settings_.beat * settings_.silent_beats) {
            ++counted_.lost_neighbours;
            drop(here, now);
        } else if (now >= here->second.next_beat) {
            out.push_back({here->first, begin_message(attenuated_kind::beat)});
            here->second.next_beat = now + settings_.beat;
        }
    }
}

void attenuated_node::leave(outbox& out) {
    for (const auto& [id, link] : links_) out.push_back({id, begin_message(attenuated_kind::leave)});
}

std::vector<node_id> attenuated_node::neighbours() const {
    std::vector<node_id> ids;
    for (const auto& [id, link] : links_) ids.push_back(id);
    return ids;
}

bool attenuated_node::settled() const {
    return std::ranges::all_of(links_, [](const auto& entry) { return entry.second.out.settled(); });
}

std::size_t attenuated_node::memory() const {
    std::size_t bytes = objects_.memory() + home_.pointers() * 80;
    for (const auto& [id, link] : links_) bytes += link.in.memory();
    return bytes;
}

// ---- The machine ---------------------------------------------------------------------------------------

void attenuated_node::receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
    if (message.empty()) return void(++counted_.damaged);
    const byte_view body = message.subspan(1);
    const auto kind = static_cast<attenuated_kind>(message[0]);
    const auto known = links_.find(from);
    switch (kind) {
        case attenuated_kind::update:
            return take_update(from, body, now, out);
        case attenuated_kind::have:
        case attenuated_kind::here:
            take_have(from, body, now);
            return send_updates(now, out);
        case attenuated_kind::beat: {
            if (!body.empty()) return void(++counted_.damaged);
            const auto found = link_of(from, now, out);
            if (found == links_.end()) return;
            auto reply = begin_message(attenuated_kind::here);
            put(reply, found->second.in.answer());
            out.push_back({from, std::move(reply)});
            return send_updates(now, out);
        }
        case attenuated_kind::full:
        case attenuated_kind::leave:
            if (!body.empty()) return void(++counted_.damaged);
            if (known == links_.end()) return void(++counted_.strangers);
            drop(known, now);
            return send_updates(now, out);
        case attenuated_kind::ask:
            return take_request(from, body, now, out);
        case attenuated_kind::found:
        case attenuated_kind::absent:
            return take_answer(from, body, kind == attenuated_kind::found, lookups_, now, counted_);
        case attenuated_kind::publish:
            return take_publication(body, now, out);
        case attenuated_kind::kept:
            return take_kept(body, now, out);
        case attenuated_kind::copy:
            return take_copy(body, now, out);
    }
    ++counted_.damaged;
}

void attenuated_node::tick(std::uint64_t now, outbox& out) {
    beat_and_drop(now, out);
    lookups_.tick(now, [&](std::uint32_t id, digest key) { begin(id, key, now, out); });
    publish_again(now, out);
    publications_.tick(now, [&](std::uint32_t id, digest key) { send_publication(id, key, now, out); });
    publications_.take_answers();
    send_updates(now, out);
}

std::optional<std::uint64_t> attenuated_node::next_tick() const {
    std::optional<std::uint64_t> first = lookups_.next_tick();
    const auto consider = [&](std::optional<std::uint64_t> at) {
        if (at && (!first || *at < *first)) first = at;
    };
    consider(publications_.next_tick());
    if (settings_.republish && !objects_.empty()) consider(republish_at_);
    for (const auto& [id, link] : links_) {
        consider(link.out.next_tick());
        consider(std::min(link.next_beat, link.heard + settings_.beat * settings_.silent_beats));
    }
    return first;
}

}  // namespace posy::overlay
