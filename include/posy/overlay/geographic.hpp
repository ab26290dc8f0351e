// Geographic routing to hosts that move (Hsiao 2001; Broder & Mitzenmacher 2004, 6.3): a square divided in
// four recursively, a station in each of the smallest squares, and at every station a filter of the hosts in
// each of its three sibling squares at every level.
//
// A station knows the hosts in its own cell exactly. A search asks its filters, nearest squares first, and
// goes to the head of the first square that says yes; that station searches inside this square in the same
// way. The message carries the squares still to be tried, so stations keep no state for it, and a false
// positive costs the way to the next of them. A search fails only while summaries are late or lost: then
// search_everywhere() asks every cell.
//
// A host that moves from a to b changes the squares in which only one of the two cells lies: on average the
// lowest two levels. Station b reports the arrival to the heads of those squares of its own at once. Station
// a points to b, and reports the departure only after a time in which all know of the arrival. So at any time
// some summary leads to the host, or to a station that points to it. Heads count (counting filters), publish
// once per period, and the deltas spread from head to head over the sibling squares.
//
// Invariant: after a rest, a square's filter holds exactly the hosts in it. Memory: 3 filters per level,
// about 1.44·log2(1/rate) bits for every host of the field; heads add counters. Reports between stations
// arrive exactly once (posy/overlay/courier.hpp). Stations trust each other; messages from others, or against
// the order of the squares, change nothing and are counted. Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "posy/overlay/courier.hpp"
#include "posy/overlay/square.hpp"
#include "posy/publisher.hpp"
#include "posy/subscriber.hpp"

namespace posy::overlay {

namespace geographic_mail {
struct change;
struct move;
struct search;
}  // namespace geographic_mail

// A mobile host, by its address.
using host_id = std::uint64_t;

// What all stations agree on.
struct geographic_field {
    unsigned levels = 0;                // 2^levels by 2^levels cells
    std::vector<geometry> summaries{};  // of a square, by its level; each with its own hash
    std::uint64_t period = 10'000;      // milliseconds from a change to the summary that shows it, at most
    std::uint64_t patience = 1'000;     // until a report that was not acknowledged is sent again

    // How long the old station waits before it reports a departure, and as long again points to the new one:
    // an arrival is published within a period and has another to spread.
    std::uint64_t hold() const { return 2 * period; }
    // Filters of this rate for so many hosts, spread evenly.
    static result<geographic_field> plan(unsigned levels, std::uint64_t hosts, double rate,
                                         std::uint64_t seed = 0);
};

class geographic_station {
  public:
    // How a summary is received: by subscriber::receive, or by a function that gives the same result. Where
    // thousands of stations live in one process, one decoded filter may serve all that receive it.
    using hearing = std::function<reception(subscriber&, byte_view message, std::uint64_t now)>;

    // Precondition: `cell` lies in the field.
    static result<geographic_station> make(std::shared_ptr<const geographic_field>, square cell,
                                           std::uint64_t now, hearing = {});

    // A host is switched on in this cell; or comes from another, with the number of its moves so far; or is
    // switched off. Hosts that are not here cannot be switched off.
    void appear(host_id, std::uint64_t now, outbox&);
    void arrive(host_id, node_id from, std::uint64_t moves, std::uint64_t now, outbox&);
    bool vanish(host_id, std::uint64_t now, outbox&);
    bool has(host_id) const;

    // Where is the host? The answer with this ticket is among answers() later; it may be lost.
    std::uint64_t search(host_id, std::uint64_t now, outbox&);
    // Asks every cell: 4^levels messages. Only a cell that has the host answers.
    std::uint64_t search_everywhere(host_id, std::uint64_t now, outbox&);
    struct answer {
        std::uint64_t ticket = 0;
        host_id host = 0;
        std::optional<node_id> at{};  // nothing: no summary led to it
        std::uint64_t forwards = 0;   // squares that were tried
        std::uint64_t distance = 0;   // in cells, from here along all of them
    };
    std::vector<answer> take_answers() { return std::exchange(answers_, {}); }

    // Summaries are passed on, so the bytes come as what can be shared.
    void receive(node_id from, const message_bytes&, std::uint64_t now, outbox&);
    void tick(std::uint64_t now, outbox&);
    std::optional<std::uint64_t> next_tick() const;

    // The summary of a sibling square at any level; null before the first.
    const bloom_filter* summary_of(square) const;
    // What it publishes as the head of a square of this level; null if it heads none.
    const publisher* publishes(unsigned level) const;
    std::uint64_t refused() const { return refused_; }

    static constexpr std::uint64_t most_forwards = 10'000;  // of one search
    static constexpr std::size_t most_open = 4'096;         // searches that wait for an answer

  private:
    // A square that this station heads: its own cell, and perhaps one above.
    struct headship {
        square region;
        publisher summary;
        std::optional<edition> announced{};
        std::optional<std::uint64_t> due{};  // nothing: no change is waiting
    };
    struct presence {
        bool here = false;
        std::uint64_t moves = 0;           // when it came or left last
        std::uint64_t arrivals = 0;        // that no departure has followed
        std::optional<node_id> went_to{};  // the next station
        std::uint64_t forget_at = 0;       // if it is not here: when this is forgotten
    };
    // To be reported at that time; without levels, a presence to be forgotten.
    struct departure {
        std::uint64_t at;
        host_id host;
        unsigned levels;  // those below change
        friend bool operator>(const departure& a, const departure& b) { return a.at > b.at; }
    };

    geographic_station(std::shared_ptr<const geographic_field>, square cell, hearing);
    digest digest_of(host_id, unsigned level) const;
    subscriber& held(square sibling);
    const subscriber& held(square sibling) const;

    void enter(host_id, unsigned levels, std::uint64_t moves, std::uint64_t now, outbox&);
    void leave(host_id, unsigned levels, node_id to, std::uint64_t moves, std::uint64_t now);
    bool apply(headship&, const geographic_mail::change&, std::uint64_t now, outbox&);
    void report_departures(std::uint64_t now, outbox&);

    // Whether it was accepted.
    bool take_parcel(node_id from, byte_view, std::uint64_t now, outbox&);
    bool take_summary(node_id from, const message_bytes&, std::uint64_t now, outbox&);
    bool take_want(node_id from, byte_view, outbox&);
    bool take_search(byte_view, outbox&);
    bool take_call(node_id from, byte_view, outbox&);
    bool take_answer(byte_view);
    bool take(node_id from, const geographic_mail::change&, std::uint64_t now, outbox&);
    bool take(node_id from, const geographic_mail::move&, std::uint64_t now);

    void announce(headship&, std::uint64_t now, outbox&);
    void spread(square region, const message_bytes&, outbox&) const;
    unsigned role_of(square cell, square region) const;
    node_id upstream_of(square cell, square region) const;
    bool is_sibling(square cell, square region) const;
    void go_on(geographic_mail::search&, outbox&);
    void look_inside(square region, geographic_mail::search&) const;
    std::uint64_t open_ticket(host_id);
    bool in_field(node_id node) const { return lies_in(cell_of(node), field_->levels); }

    std::shared_ptr<const geographic_field> field_;
    square cell_;
    hearing hear_;
    std::vector<headship> heads_;                      // of its cell; and of a square above
    std::vector<std::array<subscriber, 3>> siblings_;  // by level, in the order of siblings()
    std::unordered_map<host_id, presence> hosts_;
    std::priority_queue<departure, std::vector<departure>, std::greater<>> departures_;
    courier courier_;
    std::uint64_t tickets_ = 0, refused_ = 0;
    std::map<std::uint64_t, host_id> open_;  // searches without an answer, by their tickets
    std::vector<answer> answers_;
};

}  // namespace posy::overlay
