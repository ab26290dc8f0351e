// What arrives at a node of the mesh, and how two directories become one.
#include "posy/overlay/gossip_node.hpp"

#include <algorithm>
#include <unordered_map>

#include "gossip_wire.hpp"

namespace posy::overlay {

gossip_node::gossip_node(node_id self, publisher own, const gossip_settings& how, std::uint64_t seed,
                         shared_filters* pool)
    : self_(self), how_(how), own_(std::move(own)), pool_(pool), random_(seed) {}

result<gossip_node> gossip_node::make(node_id self, std::string address, counting_filter set,
                                      const gossip_settings& how, std::uint64_t seed, std::uint64_t now,
                                      shared_filters* pool) {
    if (how.round == 0 || how.tries == 0 || how.patience == 0)
        return error::invalid("a mesh needs rounds, tries and patience above zero");
    if (address.size() > how.max_address)
        return error::invalid("an address of " + std::to_string(address.size()) +
                              " bytes, above the limit of " + std::to_string(how.max_address));
    auto own = publisher::make(std::move(set), how.publish, now);
    if (!own) return own.error();
    gossip_node node(self, std::move(*own), how, seed, pool);
    node.directory_.add({.version = {self, how.incarnation, standing::alive, node.own_.generation()},
                         .address = std::move(address),
                         .summary = subscriber(how.limits),
                         .since = now,
                         .changes = allowance(how.burst, how.calm)});
    node.news_.add(self);
    node.next_round_ = now;
    return node;
}

void gossip_node::add_contact(node_id contact) {
    if (contact != self_ && std::ranges::find(contacts_, contact) == contacts_.end())
        contacts_.push_back(contact);
}

void gossip_node::receive(node_id from, byte_view message, std::uint64_t now, outbox& out) {
    if (from == self_ || directory_.find(self_)->version.status == standing::left) return;
    const auto read = gossip::read(message, how_);
    if (!read) {
        ++counts_.bad_messages;
        return;
    }
    std::visit([&](const auto& m) { on(from, m, now, out); }, *read);
}

void gossip_node::on(node_id from, const gossip::greeting& g, std::uint64_t now, outbox& out) {
    gossip::reply r{g.nonce, g.hash == directory_.hash(), {}, {}};
    wishes wanted;
    for (const member_version& v : g.news) {
        const bool news = note(v, source::rumour, now, wanted);
        r.known.push_back(!news);
        if (!news) news_.known(v.id, how_.patience);
    }
    r.news = newer_than(g.news, 0);
    for (const node_id about : news_.newest(how_.max_news)) {
        const auto same = [about](const member_version& v) { return v.id == about; };
        if (std::ranges::none_of(g.news, same) && std::ranges::none_of(r.news, same))
            r.news.push_back(directory_.find(about)->version);
    }
    // Whoever lives but is not taken to be alive must hear of it.
    if (const member* m = directory_.find(from); m && m->version.status != standing::alive)
        r.news.push_back(m->version);
    out.push_back({from, gossip::write(r)});
    ask(from, wanted, source::rumour, now, out);
    if (g.hash && *g.hash != directory_.hash())
        out.push_back({from, gossip::write(gossip::parts{directory_.part_hashes()})});
}

void gossip_node::on(node_id from, const gossip::reply& r, std::uint64_t now, outbox& out) {
    const auto found = waiting_.find(from);
    if (found == waiting_.end() || found->second.nonce != r.nonce ||
        found->second.told.size() != r.known.size()) {
        ++counts_.unsolicited;
        return;
    }
    for (std::size_t i = 0; i < r.known.size(); ++i) {
        if (r.known[i]) news_.known(found->second.told[i], how_.patience);
    }
    waiting_.erase(found);
    settled_ = settled_ || r.equal;
    wishes wanted;
    for (const member_version& v : r.news) note(v, source::rumour, now, wanted);
    ask(from, wanted, source::rumour, now, out);
}

void gossip_node::on(node_id from, const gossip::parts& theirs, std::uint64_t, outbox& out) {
    gossip::versions mine;
    for (unsigned p = 0; p < gossip_directory::parts; ++p) {
        if (theirs.hashes[p] != directory_.part_hashes()[p]) mine.mask |= std::uint32_t{1} << p;
    }
    if (mine.mask == 0) return;
    for (const auto& [id, m] : directory_.members()) {
        if (mine.mask >> gossip_directory::part_of(id) & 1) mine.list.push_back(m.version);
    }
    out.push_back({from, gossip::write(mine)});
}

void gossip_node::on(node_id from, const gossip::versions& theirs, std::uint64_t now, outbox& out) {
    wishes wanted;
    for (const member_version& v : theirs.list) note(v, source::comparison, now, wanted);
    ask(from, wanted, source::comparison, now, out);
    if (theirs.mask == 0) return;
    gossip::versions answer{0, newer_than(theirs.list, theirs.mask)};
    if (!answer.list.empty()) out.push_back({from, gossip::write(answer)});
}

// Those of these members that are known better here, and the live members of the parts in `mask` that are not
// in the list.
std::vector<member_version> gossip_node::newer_than(const std::vector<member_version>& list,
                                                    std::uint32_t mask) const {
    std::vector<member_version> newer;
    std::unordered_map<node_id, const member_version*> listed;
    for (const member_version& v : list) {
        const member* m = directory_.find(v.id);
        if (!listed.emplace(v.id, &v).second || !m) continue;
        const bool summary = is_live(m->version.status) && m->version.generation > v.generation;
        if (is_graver(m->version, v) || summary) newer.push_back(m->version);
    }
    if (mask == 0) return newer;
    for (const node_id id : directory_.live()) {
        if ((mask >> gossip_directory::part_of(id) & 1) != 0 && !listed.contains(id))
            newer.push_back(directory_.find(id)->version);
    }
    return newer;
}

bool gossip_node::note(const member_version& v, source why, std::uint64_t now, wishes& wanted) {
    if (v.id == self_) {
        defend(v, now);
        return false;
    }
    member* m = directory_.find(v.id);
    if (!m) {
        if (!is_live(v.status)) return false;
        wanted.push_back(v.id);
        return true;
    }
    bool news = false;
    if (is_graver(v, m->version)) {
        // A doubt is always heard; good news only as often as an honest member has any.
        if (v.status == standing::alive && !m->changes.take(now)) {
            ++counts_.throttled;
            return false;
        }
        adopt(*m, v, why, now);
        news = true;
    }
    const bool both_live = is_live(v.status) && is_live(m->version.status);
    if (both_live && v.generation > m->version.generation) {
        if (m->changes.any(now)) {
            wanted.push_back(v.id);
            news = true;
        } else {
            ++counts_.throttled;
        }
    }
    return news;
}

void gossip_node::adopt(member& m, const member_version& heard, source why, std::uint64_t now) {
    member_version next = heard;
    next.generation = m.version.generation;
    // It gets the time to object that everybody gets.
    if (heard.status == standing::gone) next.status = standing::suspect;
    if (next.status == standing::left) {
        hold_less(m);
        next.generation = 0;
    }
    directory_.change(m, next, now);
    if (why == source::rumour || next.status == standing::suspect) news_.add(heard.id);
}

// Somebody has an opinion about this node. It stays alive, in an incarnation above; and if there are
// generations of an earlier life, its own continue above them.
void gossip_node::defend(const member_version& v, std::uint64_t now) {
    member& me = *directory_.find(self_);
    member_version next = me.version;
    if (is_graver(v, me.version)) {
        next.incarnation = v.incarnation + 1;
        ++counts_.objections;
    }
    if (v.generation > me.version.generation) {
        if (me.changes.take(now)) {
            own_.renumber(v.generation + 1);
            next.generation = own_.generation();
        } else {
            ++counts_.throttled;
        }
    }
    if (next == me.version) return;
    directory_.change(me, next, now);
    news_.add(self_);
}

}  // namespace posy::overlay
