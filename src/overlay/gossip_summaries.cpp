// How summaries travel through the mesh: asked for, passed on as deltas where possible, held within a budget.
#include <algorithm>

#include "gossip_wire.hpp"
#include "posy/overlay/gossip_node.hpp"
#include "posy/shared_filters.hpp"

namespace posy::overlay {
namespace {

constexpr std::size_t kept_deltas = 8;

}  // namespace

// Nobody is asked for what somebody else was just asked for.
void gossip_node::ask(node_id from, const wishes& wanted, source why, std::uint64_t now, outbox& out) {
    gossip::want w;
    for (const node_id id : wanted) {
        if (asked_.size() >= how_.max_members) break;
        if (const auto asked = asked_.find(id); asked != asked_.end() && asked->second.until > now) continue;
        asked_[id] = {now + how_.answer_within * how_.tries, why};
        const member* m = directory_.find(id);
        w.items.push_back({id, m ? m->summary.edition() : std::nullopt});
    }
    if (!w.items.empty()) out.push_back({from, gossip::write(w)});
}

void gossip_node::on(node_id from, const gossip::want& w, std::uint64_t, outbox& out) {
    gossip::records batch;
    std::vector<std::shared_ptr<const std::vector<std::byte>>> alive;  // what the batch points to
    std::uint64_t size = 0, total = 0;
    const auto send = [&] {
        if (!batch.list.empty()) out.push_back({from, gossip::write(batch)});
        total += size;
        batch.list.clear(), alive.clear(), size = 0;
    };
    for (const auto& item : w.items) {
        const member* m = directory_.find(item.id);
        if (!m) continue;
        gossip::record r{m->version, m->address, {}};
        std::uint64_t bytes = 64 + m->address.size();
        for (auto& message : messages_for(*m, item.held)) {
            r.messages.emplace_back(*message);
            bytes += message->size() + 8;
            alive.push_back(std::move(message));
        }
        // A batch leaves before it is full, so what this record points to joins the next one.
        if (size + bytes > how_.max_message / 2 && !batch.list.empty()) {
            auto keep =
                std::vector(alive.end() - static_cast<std::ptrdiff_t>(r.messages.size()), alive.end());
            send();
            alive = std::move(keep);
        }
        if (total + size + bytes > how_.max_answer) break;
        size += bytes;
        batch.list.push_back(std::move(r));
    }
    send();
}

// The deltas from what is held, or the whole summary: nothing if there is none, or if it is what is held.
std::vector<std::shared_ptr<const std::vector<std::byte>>> gossip_node::messages_for(
    const member& m, std::optional<edition> held) {
    if (m.version.id == self_) {
        const auto answer = own_.answer(held);
        if (!answer || !answer->message) return {};
        return {answer->message};
    }
    if (!m.summary.filter() || (held && held == m.summary.edition())) return {};
    std::vector<std::shared_ptr<const std::vector<std::byte>>> chain;
    const auto first = std::ranges::find_if(m.deltas, [&](const auto& d) { return held && d.base == *held; });
    for (auto d = first; d != m.deltas.end(); ++d) chain.push_back(d->message);
    if (!chain.empty()) return chain;
    if (pool_) return {pool_->whole(m.summary.shared_filter(), m.version.generation)};
    return {std::make_shared<const std::vector<std::byte>>(
        to_bytes(*m.summary.filter(), {.want = coding::smallest, .generation = m.version.generation}))};
}

void gossip_node::on(node_id, const gossip::records& list, std::uint64_t now, outbox&) {
    for (const gossip::record& r : list.list) {
        const auto asked = asked_.find(r.version.id);
        if (asked == asked_.end()) {
            ++counts_.unsolicited;
            continue;
        }
        const source why = asked->second.why;
        asked_.erase(asked);
        take(r, why, now);
    }
}

void gossip_node::take(const gossip::record& r, source why, std::uint64_t now) {
    member* m = admit(r, why, now);
    if (!m) return;
    const member_version before = m->version;
    for (const byte_view message : r.messages) {
        if (!take_summary(*m, message, now)) break;
    }
    if (m->version != before && why == source::rumour) news_.add(m->version.id);
}

// The member that the record is about, its standing brought up to date; null if there is none to be had.
gossip_directory::member* gossip_node::admit(const gossip::record& r, source why, std::uint64_t now) {
    if (r.version.id == self_) return nullptr;
    if (member* m = directory_.find(r.version.id)) {
        if (r.version.incarnation >= m->version.incarnation) m->address = r.address;
        wishes none;
        note({r.version.id, r.version.incarnation, r.version.status, 0}, why, now, none);
        return is_live(m->version.status) ? m : nullptr;
    }
    if (!is_live(r.version.status)) return nullptr;
    if (directory_.members().size() >= how_.max_members) {
        ++counts_.refused;
        return nullptr;
    }
    member& m = directory_.add({.version = {r.version.id, r.version.incarnation, r.version.status, 0},
                                .address = r.address,
                                .summary = subscriber(how_.limits),
                                .since = now,
                                .changes = allowance(how_.burst, how_.calm)});
    m.summary.share(pool_);
    if (why == source::rumour) news_.add(r.version.id);
    return &m;
}

bool gossip_node::take_summary(member& m, byte_view message, std::uint64_t now) {
    if (!m.changes.take(now)) {
        ++counts_.throttled;
        return false;
    }
    const auto base = m.summary.edition();
    const std::uint64_t before = m.bytes();
    const reception became = m.summary.receive(message, now);
    if (became != reception::replaced && became != reception::updated) {
        counts_.refused += became == reception::damaged || became == reception::too_large;
        return false;
    }
    summary_bytes_ += m.bytes() - before;
    keep_delta(m, became == reception::updated ? base : std::nullopt, message);
    m.summary_rate = m.summary.filter()->false_positive_rate();
    member_version next = m.version;
    next.generation = std::min(*m.summary.generation(), gossip::max_number);
    directory_.change(m, next, now);
    if (summary_bytes_ <= how_.budget) return true;
    ++counts_.refused;
    hold_less(m);
    return false;
}

// For whoever holds its base. After a whole filter there is none; and all of them are worth less than it.
void gossip_node::keep_delta(member& m, std::optional<edition> base, byte_view message) {
    if (!base) return m.deltas.clear();
    m.deltas.push_back(
        {*base, std::make_shared<const std::vector<std::byte>>(message.begin(), message.end())});
    std::uint64_t bytes = 0;
    for (const auto& d : m.deltas) bytes += d.message->size();
    while (m.deltas.size() > kept_deltas || (!m.deltas.empty() && bytes > m.bytes() / 2)) {
        bytes -= m.deltas.front().message->size();
        m.deltas.erase(m.deltas.begin());
    }
}

// The summary is dropped. The generation stays, so that it is not fetched again before there is a newer one.
void gossip_node::hold_less(member& m) {
    summary_bytes_ -= m.bytes();
    m.summary = subscriber(how_.limits);
    m.summary.share(pool_);
    m.deltas.clear();
}

}  // namespace posy::overlay
