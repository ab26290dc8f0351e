#include "posy/overlay/geographic.hpp"

#include <cmath>

#include "overlay/geographic_mail.hpp"
#include "posy/plan.hpp"

namespace posy::overlay {

namespace mail = geographic_mail;

result<geographic_field> geographic_field::plan(unsigned levels, std::uint64_t hosts, double rate,
                                                std::uint64_t seed) {
    if (levels == 0 || levels > most_levels)
        return error::invalid("a field of " + std::to_string(levels) + " levels; it has 1 to " +
                              std::to_string(most_levels));
    geographic_field field{.levels = levels};
    for (unsigned level = 0; level < levels; ++level) {
        const double share = std::ldexp(static_cast<double>(hosts), -2 * static_cast<int>(levels - level));
        const auto items = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(share)));
        const auto chosen = choose({.items = items, .rate = rate, .layout = layout_id::spread});
        if (!chosen) return chosen.error();
        // A hash of its own for each level: a key that is a false positive in a square must not be one in its
        // quarters for the same bits.
        field.summaries.push_back(chosen->geometry(hash_family::fold64, {seed * most_levels + level}));
    }
    return field;
}

geographic_station::geographic_station(std::shared_ptr<const geographic_field> field, square cell,
                                       hearing hear)
    : field_(std::move(field)),
      cell_(cell),
      hear_(std::move(hear)),
      courier_(std::byte{static_cast<std::uint8_t>(mail::kind::parcel)},
               std::byte{static_cast<std::uint8_t>(mail::kind::receipt)}, field_->patience) {
    for (const geometry& g : field_->summaries) {
        // Its array, and the delta that changes it.
        const subscriber fresh(read_limits::exactly((g.bits / 8 + 64) * 2));
        siblings_.push_back({fresh, fresh, fresh});
    }
    if (!hear_)
        hear_ = [](subscriber& s, byte_view message, std::uint64_t now) { return s.receive(message, now); };
}

result<geographic_station> geographic_station::make(std::shared_ptr<const geographic_field> field,
                                                    square cell, std::uint64_t now, hearing hear) {
    geographic_station station(std::move(field), cell, std::move(hear));
    const unsigned levels = station.field_->levels;
    const unsigned headed = level_headed(cell, levels);
    for (const unsigned level : {0U, headed}) {
        if (level == levels || (level == 0 && !station.heads_.empty())) continue;
        auto set = counting_filter::make(station.field_->summaries[level]);
        if (!set) return set.error();
        auto summary = publisher::make(std::move(*set), {.history = 4, .first_generation = now + 1}, now);
        if (!summary) return summary.error();
        station.heads_.push_back({around(cell, level), std::move(*summary)});
    }
    return station;
}

digest geographic_station::digest_of(host_id host, unsigned level) const {
    const geometry& g = field_->summaries[level];
    return hasher(g.hash, g.seed)(host);
}

bool geographic_station::has(host_id host) const {
    const auto found = hosts_.find(host);
    return found != hosts_.end() && found->second.here;
}

// ---- Hosts come and go ---------------------------------------------------------------------------------

void geographic_station::appear(host_id host, std::uint64_t now, outbox& out) {
    if (!has(host)) enter(host, field_->levels, 0, now, out);
}

void geographic_station::arrive(host_id host, node_id from, std::uint64_t moves, std::uint64_t now,
                                outbox& out) {
    if (has(host) || from == node_of(cell_) || !in_field(from)) return;
    enter(host, common_level(cell_, cell_of(from)), moves, now, out);
    courier_.post(from, mail::bytes_of(mail::move{host, moves}), now, out);
}

bool geographic_station::vanish(host_id host, std::uint64_t now, outbox& out) {
    const auto found = hosts_.find(host);
    if (found == hosts_.end() || !found->second.here) return false;
    presence& p = found->second;
    p.here = false;
    p.went_to.reset();
    p.forget_at = now;
    --p.arrivals;
    departures_.push({now, host, field_->levels});
    report_departures(now, out);
    return true;
}

void geographic_station::enter(host_id host, unsigned levels, std::uint64_t moves, std::uint64_t now,
                               outbox& out) {
    presence& p = hosts_[host];
    p.here = true;
    p.moves = moves;
    p.went_to.reset();
    ++p.arrivals;
    apply(heads_[0], {host, levels, true}, now, out);
}

// Another station has the host. It may have come back since; but each departure is reported.
bool geographic_station::take(node_id from, const mail::move& m, std::uint64_t now) {
    const auto found = hosts_.find(m.host);
    if (found == hosts_.end() || found->second.arrivals == 0 || from == node_of(cell_)) return false;
    presence& p = found->second;
    --p.arrivals;
    departures_.push({now + field_->hold(), m.host, common_level(cell_, cell_of(from))});
    if (m.moves <= p.moves) return true;
    p.here = false;
    p.moves = m.moves;
    p.went_to = from;
    p.forget_at = now + 2 * field_->hold();
    departures_.push({p.forget_at, m.host, 0});
    return true;
}

void geographic_station::report_departures(std::uint64_t now, outbox& out) {
    while (!departures_.empty() && departures_.top().at <= now) {
        const departure next = departures_.top();
        departures_.pop();
        if (next.levels > 0) apply(heads_[0], {next.host, next.levels, false}, now, out);
        const auto found = hosts_.find(next.host);
        if (found != hosts_.end() && !found->second.here && found->second.forget_at <= now)
            hosts_.erase(found);
    }
}

// At the head of a square, and on to the head of the square around it if that changes, too.
bool geographic_station::apply(headship& head, const mail::change& c, std::uint64_t now, outbox& out) {
    const unsigned level = head.region.level;
    const digest d = digest_of(c.host, level);
    if (c.came)
        head.summary.insert(d);
    else if (!head.summary.remove(d))
        return false;
    if (!head.due) head.due = now + field_->period;
    if (level + 1 >= c.levels || level + 1 >= field_->levels) return true;
    const square wider = around(head.region, level + 1);
    if (heads_.back().region == wider) return apply(heads_.back(), c, now, out);
    courier_.post(node_of(head_of(wider)), mail::bytes_of(c), now, out);
    return true;
}

// From the head of a quarter of the square that this station heads.
bool geographic_station::take(node_id from, const mail::change& c, std::uint64_t now, outbox& out) {
    headship& head = heads_.back();
    const unsigned level = head.region.level;
    if (level == 0 || c.levels <= level) return false;
    const bool ours = std::ranges::any_of(quarters(head.region),
                                          [&](square quarter) { return node_of(head_of(quarter)) == from; });
    return ours && apply(head, c, now, out);
}

bool geographic_station::take_parcel(node_id from, byte_view bytes, std::uint64_t now, outbox& out) {
    if (!in_field(from)) return false;
    // Read before it is acknowledged: nothing of a damaged parcel is used.
    base::reader fields(bytes);
    fields.byte();
    fields.varint();
    const auto records = mail::read_records(fields.rest(), field_->levels);
    if (fields.wrong() || !records) return false;
    if (!courier_.open(from, bytes, out)) return true;
    bool good = true;
    for (const mail::record& record : *records) {
        if (const auto* c = std::get_if<mail::change>(&record))
            good &= take(from, *c, now, out);
        else
            good &= take(from, std::get<mail::move>(record), now);
    }
    return good;
}

// ---- Time and mail -------------------------------------------------------------------------------------

void geographic_station::receive(node_id from, const message_bytes& message, std::uint64_t now, outbox& out) {
    const byte_view bytes = message;
    const byte_view rest = bytes.empty() ? bytes : bytes.subspan(1);
    bool good = false;
    switch (bytes.empty() ? mail::kind{} : static_cast<mail::kind>(bytes[0])) {
        case mail::kind::parcel:
            good = take_parcel(from, bytes, now, out);
            break;
        case mail::kind::receipt:  // of a parcel that was sent twice, it is no news
            courier_.settle(from, bytes, now, out);
            good = true;
            break;
        case mail::kind::summary:
            good = take_summary(from, message, now, out);
            break;
        case mail::kind::want:
            good = take_want(from, rest, out);
            break;
        case mail::kind::search:
            good = take_search(rest, out);
            break;
        case mail::kind::call:
            good = take_call(from, rest, out);
            break;
        case mail::kind::answer:
            good = take_answer(rest);
            break;
    }
    refused_ += !good;
}

void geographic_station::tick(std::uint64_t now, outbox& out) {
    courier_.tick(now, out);
    report_departures(now, out);
    for (headship& head : heads_) {
        if (head.due && *head.due <= now) announce(head, now, out);
    }
}

std::optional<std::uint64_t> geographic_station::next_tick() const {
    std::optional<std::uint64_t> first = courier_.next_tick();
    const auto consider = [&](std::uint64_t at) { first = first ? std::min(*first, at) : at; };
    if (!departures_.empty()) consider(departures_.top().at);
    for (const headship& head : heads_) {
        if (head.due) consider(*head.due);
    }
    return first;
}

}  // namespace posy::overlay
