// The search for a host: by the summaries, and from cell to cell.
#include "overlay/geographic_mail.hpp"
#include "posy/overlay/geographic.hpp"

namespace posy::overlay {

namespace mail = geographic_mail;

std::uint64_t geographic_station::open_ticket(host_id host) {
    if (open_.size() == most_open) open_.erase(open_.begin());
    open_.emplace(++tickets_, host);
    return tickets_;
}

std::uint64_t geographic_station::search(host_id host, std::uint64_t, outbox& out) {
    mail::search s{.ticket = open_ticket(host), .origin = node_of(cell_), .host = host};
    if (has(host)) {
        open_.erase(s.ticket);
        answers_.push_back({s.ticket, host, node_of(cell_), 0, 0});
    } else {
        look_inside({field_->levels, 0, 0}, s);
        go_on(s, out);
    }
    return s.ticket;
}

// The squares of the region that may have the host, the nearest first, before all that are waiting; and
// before them the cell to which the host has gone from here.
void geographic_station::look_inside(square region, mail::search& s) const {
    std::vector<square> found;
    if (const auto known = hosts_.find(s.host); known != hosts_.end() && known->second.went_to)
        found.push_back(cell_of(*known->second.went_to));
    for (unsigned level = 0; level < region.level; ++level) {
        const digest d = digest_of(s.host, level);
        const auto others = siblings(around(cell_, level));
        for (std::size_t i = 0; i < others.size(); ++i) {
            const bloom_filter* filter = siblings_[level][i].filter();
            if (filter && filter->may_contain(d)) found.push_back(others[i]);
        }
    }
    s.next.insert(s.next.begin(), found.begin(), found.end());
    if (s.next.size() > mail::most_squares(field_->levels)) s.next.resize(mail::most_squares(field_->levels));
}

// To the first square that is waiting; without one, the host was not found.
void geographic_station::go_on(mail::search& s, outbox& out) {
    if (s.next.empty() || s.forwards >= most_forwards) {
        const mail::answer nowhere{s.ticket, s.host, {}, s.forwards, s.distance};
        out.push_back({s.origin, mail::bytes_of(nowhere)});
        return;
    }
    const square to = head_of(s.next.front());
    ++s.forwards;
    s.distance += distance(cell_, to);
    out.push_back({node_of(to), mail::bytes_of(s)});
}

bool geographic_station::take_search(byte_view bytes, outbox& out) {
    auto s = mail::read_search(bytes, field_->levels);
    if (!s || s->next.empty() || head_of(s->next.front()) != cell_) return false;
    const square region = s->next.front();
    s->next.erase(s->next.begin());
    if (has(s->host)) {
        const mail::answer found{s->ticket, s->host, node_of(cell_), s->forwards, s->distance};
        out.push_back({s->origin, mail::bytes_of(found)});
        return true;
    }
    look_inside(region, *s);
    go_on(*s, out);
    return true;
}

std::uint64_t geographic_station::search_everywhere(host_id host, std::uint64_t, outbox& out) {
    const mail::call c{open_ticket(host), node_of(cell_), host, {field_->levels, 0, 0}};
    out.push_back({node_of(head_of(c.region)), mail::bytes_of(c)});
    return c.ticket;
}

// Calls come down from head to head, so that nobody can make a station call its square more than once per
// message of its own.
bool geographic_station::take_call(node_id from, byte_view bytes, outbox& out) {
    auto c = mail::read_call(bytes, field_->levels);
    if (!c || head_of(c->region) != cell_) return false;
    const unsigned level = c->region.level;
    if (level < field_->levels && from != node_of(head_of(around(c->region, level + 1)))) return false;
    if (level > 0) {
        for (const square quarter : quarters(c->region)) {
            c->region = quarter;
            out.push_back({node_of(head_of(quarter)), mail::bytes_of(*c)});
        }
    } else if (has(c->host)) {
        out.push_back({c->origin, mail::bytes_of(mail::answer{c->ticket, c->host, node_of(cell_), 0, 0})});
    }
    return true;
}

// Only to an open question.
bool geographic_station::take_answer(byte_view bytes) {
    const auto a = mail::read_answer(bytes, field_->levels);
    if (!a) return false;
    const auto asked = open_.find(a->ticket);
    if (asked == open_.end() || asked->second != a->host) return false;
    open_.erase(asked);
    answers_.push_back({a->ticket, a->host, a->at, a->forwards, a->distance});
    return true;
}

}  // namespace posy::overlay
