// When a node of the mesh speaks, and to whom; who is suspected, and who is gone.
#include <algorithm>
#include <cmath>

#include "gossip_wire.hpp"
#include "posy/overlay/gossip_node.hpp"

namespace posy::overlay {

std::optional<std::uint64_t> gossip_node::next_tick() const {
    if (directory_.find(self_)->version.status == standing::left) return std::nullopt;
    std::uint64_t next = next_round_;
    for (const auto& [who, e] : waiting_) next = std::min(next, e.until);
    return next;
}

void gossip_node::tick(std::uint64_t now, outbox& out) {
    if (directory_.find(self_)->version.status == standing::left) return;
    repeat_greetings(now, out);
    if (now >= next_round_) round(now, out);
}

void gossip_node::round(std::uint64_t now, outbox& out) {
    ++counts_.rounds;
    next_round_ = now + draw_wait();
    publish_if_due(now);
    forget_and_give_up(now);
    // Half a period apart: otherwise those that are gone would get all the comparisons.
    const auto every = [this](unsigned period, unsigned offset) {
        return period != 0 && counts_.rounds % period == offset % period;
    };
    const auto lost = every(how_.revive_every, how_.revive_every / 2) ? random_gone() : std::nullopt;
    const bool compare = !settled_ || lost || every(how_.compare_every, 0);
    const auto to = lost ? lost : partner();
    // A greeting that waits for its answer goes on until then.
    if (to && !waiting_.contains(*to)) greet(*to, compare, now, out);
}

void gossip_node::publish_if_due(std::uint64_t now) {
    if (!own_.due(now) || !own_.publish(now)) return;
    member& me = *directory_.find(self_);
    member_version next = me.version;
    next.generation = own_.generation();
    directory_.change(me, next, now);
    news_.add(self_);
}

std::uint64_t gossip_node::suspicion_time() const {
    const double rounds = how_.suspicion * std::log(static_cast<double>(directory_.live().size() + 2));
    return static_cast<std::uint64_t>(rounds * static_cast<double>(how_.round));
}

void gossip_node::forget_and_give_up(std::uint64_t now) {
    const std::uint64_t patience = suspicion_time();
    const std::set<node_id> doubtful = directory_.not_alive();
    for (const node_id id : doubtful) {
        member& m = *directory_.find(id);
        const std::uint64_t age = now - std::min(now, m.since);
        if (m.version.status == standing::suspect && age >= patience) {
            member_version next = m.version;
            next.status = standing::gone;
            directory_.change(m, next, now);
            news_.drop(id);
        } else if (!is_live(m.version.status) && age >= how_.forget_after) {
            hold_less(m);
            news_.drop(id);
            directory_.forget(id);
        }
    }
    std::erase_if(asked_, [now](const auto& a) { return a.second.until <= now; });
}

// A live member, each with the same probability; a contact while there is none.
std::optional<node_id> gossip_node::partner() {
    const auto& live = directory_.live();
    if (live.size() > 1) {
        const std::uint64_t mine = directory_.find(self_)->live_at;
        const std::uint64_t drawn = draw_below(live.size() - 1);
        return live[drawn + (drawn >= mine)];
    }
    if (contacts_.empty()) return std::nullopt;
    return contacts_[draw_below(contacts_.size())];
}

// A member that is gone without having left, or a contact that is not among the live.
std::optional<node_id> gossip_node::random_gone() {
    std::vector<node_id> lost;
    for (const node_id id : directory_.not_alive()) {
        if (directory_.find(id)->version.status == standing::gone) lost.push_back(id);
    }
    for (const node_id id : contacts_) {
        if (!directory_.find(id)) lost.push_back(id);
    }
    if (lost.empty()) return std::nullopt;
    return lost[draw_below(lost.size())];
}

void gossip_node::greet(node_id to, bool compare, std::uint64_t now, outbox& out) {
    gossip::greeting g{++nonce_, std::nullopt, {}};
    if (compare) g.hash = directory_.hash();
    exchange e{g.nonce, news_.newest(how_.max_news), {}, now + how_.answer_within, how_.tries - 1};
    // Whoever lives but is not taken to be alive must hear of it.
    if (const member* m = directory_.find(to);
        m && m->version.status != standing::alive && std::ranges::find(e.told, to) == e.told.end())
        e.told.push_back(to);
    for (const node_id about : e.told) g.news.push_back(directory_.find(about)->version);
    e.message = gossip::write(g);
    out.push_back({to, e.message});
    waiting_[to] = std::move(e);
}

void gossip_node::repeat_greetings(std::uint64_t now, outbox& out) {
    std::vector<node_id> silent;
    for (auto& [to, e] : waiting_) {
        if (e.until > now) continue;
        if (e.tries == 0) {
            silent.push_back(to);
            continue;
        }
        --e.tries;
        e.until = now + how_.answer_within;
        out.push_back({to, e.message});
    }
    for (const node_id id : silent) {
        waiting_.erase(id);
        suspect(id, now);
    }
}

void gossip_node::suspect(node_id id, std::uint64_t now) {
    member* m = directory_.find(id);
    if (!m || m->version.status != standing::alive) return;
    ++counts_.suspicions;
    member_version next = m->version;
    next.status = standing::suspect;
    directory_.change(*m, next, now);
    news_.add(id);
}

void gossip_node::leave(std::uint64_t now, outbox& out) {
    member& me = *directory_.find(self_);
    member_version next = me.version;
    next.status = standing::left;
    directory_.change(me, next, now);
    // Some of these may be gone themselves: as many as it takes that one is not.
    constexpr std::size_t told = 4;
    std::vector<node_id> live = directory_.live();
    for (std::size_t i = 0; i < std::min(told, live.size()); ++i) {
        std::swap(live[i], live[i + draw_below(live.size() - i)]);
        out.push_back({live[i], gossip::write(gossip::greeting{++nonce_, std::nullopt, {next}})});
    }
}

std::uint64_t gossip_node::draw_below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<double>(random_() >> 11) * 0x1p-53 *
                                      static_cast<double>(bound));
}

// Exponential, so that contacts have no memory; at most ten rounds.
std::uint64_t gossip_node::draw_wait() {
    const double u = static_cast<double>((random_() >> 11) + 1) * 0x1p-53;
    return 1 + static_cast<std::uint64_t>(static_cast<double>(how_.round) * std::min(10.0, -std::log(u)));
}

}  // namespace posy::overlay
