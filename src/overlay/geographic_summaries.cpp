// How the summary of a square reaches every station of its three siblings: from its head to theirs, and from
// there to the heads of the quarters, down to the cells; each station receives it once.
#include <algorithm>

#include "overlay/geographic_mail.hpp"
#include "posy/overlay/geographic.hpp"

namespace posy::overlay {

namespace mail = geographic_mail;

// Precondition of both: it is a sibling of a square around this cell.
subscriber& geographic_station::held(square sibling) {
    const auto others = siblings(around(cell_, sibling.level));
    const auto which = std::ranges::find(others, sibling) - others.begin();
    return siblings_[sibling.level][static_cast<std::size_t>(which)];
}
const subscriber& geographic_station::held(square sibling) const {
    return const_cast<geographic_station*>(this)->held(sibling);
}

bool geographic_station::is_sibling(square cell, square region) const {
    return region.level < field_->levels && contains(around(cell, region.level + 1), region) &&
           !contains(region, cell);
}

const bloom_filter* geographic_station::summary_of(square region) const {
    return is_sibling(cell_, region) ? held(region).filter() : nullptr;
}

const publisher* geographic_station::publishes(unsigned level) const {
    const auto found = std::ranges::find(heads_, level, [](const headship& h) { return h.region.level; });
    return found == heads_.end() ? nullptr : &found->summary;
}

// For a summary of this level a station passes on to the quarters of the square that it heads, if that is no
// larger; otherwise it is one of the cells.
unsigned geographic_station::role_of(square cell, square region) const {
    const unsigned headed = level_headed(cell, field_->levels);
    return headed <= region.level ? headed : 0;
}

// From whom the station of a cell receives it.
node_id geographic_station::upstream_of(square cell, square region) const {
    const unsigned role = role_of(cell, region);
    return node_of(head_of(role == region.level ? region : around(cell, role + 1)));
}

void geographic_station::announce(headship& head, std::uint64_t now, outbox& out) {
    head.due.reset();
    if (!head.summary.publish(now)) return;
    const auto reply = head.summary.answer(head.announced);
    if (!reply || !reply->message) return;
    head.announced = reply->which;
    const message_bytes message = mail::bytes_of_summary(head.region, *reply->message);
    for (const square sibling : siblings(head.region)) out.push_back({node_of(head_of(sibling)), message});
}

void geographic_station::spread(square region, const message_bytes& message, outbox& out) const {
    const unsigned role = role_of(cell_, region);
    if (role == 0) return;
    for (const square quarter : quarters(around(cell_, role))) {
        const square head = head_of(quarter);
        if (role_of(head, region) == quarter.level) out.push_back({node_of(head), message});
    }
}

bool geographic_station::take_summary(node_id from, const message_bytes& bytes, std::uint64_t now,
                                      outbox& out) {
    const auto summary = mail::read_summary(byte_view(bytes).subspan(1), field_->levels);
    if (!summary || !is_sibling(cell_, summary->region) || from != upstream_of(cell_, summary->region))
        return false;
    subscriber& mine = held(summary->region);
    subscriber next = mine;
    const reception became = hear_(next, summary->message, now);
    if (next.filter() && next.filter()->geometry() != field_->summaries[summary->region.level]) return false;
    mine = std::move(next);
    if (became == reception::replaced || became == reception::updated) spread(summary->region, bytes, out);
    if (mine.wants()) out.push_back({from, mail::bytes_of_want(summary->region)});
    return became != reception::damaged && became != reception::too_large;
}

// A station below has missed something: it gets the whole that is held here.
bool geographic_station::take_want(node_id from, byte_view bytes, outbox& out) {
    const auto region = mail::read_want(bytes, field_->levels);
    if (!region || !in_field(from) || !is_sibling(cell_of(from), *region) ||
        upstream_of(cell_of(from), *region) != node_of(cell_))
        return false;
    if (const auto* own = publishes(region->level); own && head_of(*region) == cell_) {
        if (const auto whole = own->full()) out.push_back({from, mail::bytes_of_summary(*region, *whole)});
    } else if (const bloom_filter* filter = held(*region).filter()) {
        const auto whole = to_bytes(
            *filter, {.want = coding::smallest, .generation = held(*region).generation().value_or(0)});
        out.push_back({from, mail::bytes_of_summary(*region, whole)});
    }
    return true;
}

}  // namespace posy::overlay
