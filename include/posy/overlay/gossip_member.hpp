// What the members of a gossip mesh know of each other, and what a mesh can be told.
//
// Two parts of a member change on their own: its standing, which others may doubt and only the member itself
// may restore, by a higher incarnation; and its summary, which has generations. A claim wins by incarnation,
// then by gravity: alive, doubted, left. So every order of arrival ends in the same state.
#pragma once

#include <cstdint>

#include "posy/overlay/mail.hpp"
#include "posy/publisher.hpp"
#include "posy/read_limits.hpp"

namespace posy::overlay {

// The numbers are on the wire.
enum class standing : std::uint8_t {
    alive = 0,
    suspect = 1,  // it did not answer; it has some time to object
    gone = 2,     // it did not object: crashed, or out of reach
    left = 3,     // it said so itself
};

constexpr bool is_live(standing s) { return s == standing::alive || s == standing::suspect; }

// Which state of a member somebody has.
struct member_version {
    node_id id = 0;
    std::uint64_t incarnation = 0;
    standing status = standing::alive;
    std::uint64_t generation = 0;  // of the summary; 0 without one
    friend bool operator==(const member_version&, const member_version&) = default;
};

// Does `heard` change the standing that is held? Gone is no news to whoever suspects: each node gives a
// suspect its time to object.
constexpr bool is_graver(const member_version& heard, const member_version& held) {
    const auto gravity = [](standing s) { return s == standing::alive ? 0 : s == standing::left ? 2 : 1; };
    if (heard.incarnation != held.incarnation) return heard.incarnation > held.incarnation;
    return gravity(heard.status) > gravity(held.status);
}

struct gossip_settings {
    std::uint64_t round = 5'000;          // ms between the exchanges that a node begins, in the mean
    unsigned patience = 4;                // a rumour rests after so many contacts that knew it
    unsigned compare_every = 10;          // rounds; in each of these, two nodes compare their directories
    unsigned revive_every = 10;           // rounds; in each of these, a member that is gone is tried again
    std::uint64_t answer_within = 1'000;  // ms; then the greeting is sent again …
    unsigned tries = 3;                   // … so often in all, and then the member is suspected
    double suspicion = 4;                 // rounds × ln(members) until a suspect is gone
    std::uint64_t forget_after = 6 * 3'600'000;  // ms after which a member that is gone is forgotten

    std::uint64_t max_members = 4096;         // with those that are gone
    std::uint64_t max_address = 256;          // bytes
    std::uint64_t max_news = 64;              // rumours per greeting or reply
    std::uint64_t max_message = 1 << 20;      // bytes; a longer one is not read
    std::uint64_t max_answer = 16 << 20;      // bytes of records for one question
    std::uint64_t budget = 256 << 20;         // bytes of all summaries
    read_limits limits{1 << 20, 1 << 20, 0};  // of each summary
    std::uint64_t calm = 2'500;               // ms per change of one member that is taken …
    double burst = 20;                        // … after so many at once

    // Of our own summary. Generations and incarnations must not go back at a restart: give them the clock.
    publishing publish{};
    std::uint64_t incarnation = 1;
};

struct gossip_counts {
    std::uint64_t rounds = 0;
    std::uint64_t bad_messages = 0;  // damaged, too long or unknown
    std::uint64_t unsolicited = 0;   // replies and records that nobody asked for, or that came late
    std::uint64_t refused = 0;       // summaries that are damaged or too large, and members beyond the limit
    std::uint64_t throttled = 0;     // changes of a member that changes too often
    std::uint64_t suspicions = 0;    // raised here
    std::uint64_t objections = 0;    // of ours, to claims about us
};

}  // namespace posy::overlay
