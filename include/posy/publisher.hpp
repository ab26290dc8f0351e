// The sending side of a filter that others follow: a counting filter whose projection is published in
// generations.
//
// The set changes all the time; others know its last *published* generation. publish() makes the present
// state the next generation. answer() gives the whole filter or, to a subscriber that holds one of the last
// few generations, the delta from there: whichever is smaller. Answers are kept until the next generation.
//
// A state machine: time is handed in, messages are bytes, nothing waits. Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "posy/counting_filter.hpp"
#include "posy/message.hpp"

namespace posy {

struct publishing {
    double change = 0.05;             // publish when this share of the items has changed …
    std::uint64_t max_age = 300'000;  // … or this long after the last publication, if anything changed
    // In place of `change`: publish when this share of the array's bits differs from what was published.
    // These bits determine how many answers of peers are wrong; items that came and left again change none.
    std::optional<double> change_bits{};
    // In place of both: publish when asked() was this often called with a key for which the last generation
    // is wrong. Items that nobody asks for are then no reason to publish.
    std::optional<std::uint64_t> misled{};
    std::uint64_t least_items = 1;  // of which the share is taken: a set that fills up from nothing would
                                    // otherwise publish with every item
    std::size_t history = 16;       // how many generations back deltas reach
    // Where generations start. A publisher that restarts must not go back: give it the clock, or what it
    // saved.
    std::uint64_t first_generation = 1;
    coding want = coding::smallest;
};

class publisher {
  public:
    // Publishes `set` as its first generation.
    static result<publisher> make(counting_filter set, const publishing& = {}, std::uint64_t now = 0);

    void insert(digest);
    bool remove(digest);  // as counting_filter::remove
    // As counting_filter::raise and lower; each is a change.
    void raise(std::uint64_t position) { set_.raise(position), ++inserted_; }
    void lower(std::uint64_t position) { set_.lower(position), ++removed_; }
    const counting_filter& set() const { return set_; }

    // A key is looked for. True if the last generation misleads those who look there: it does not have a key
    // of the set, or still has one that left.
    bool asked(digest);
    // What has changed is to be published at once, however little it is.
    void hurry() { urgent_ = inserted_ + removed_ > 0; }
    // Is it time to publish? `now` is in the unit of max_age.
    bool due(std::uint64_t now) const;
    // Makes the present state the next generation. If nothing has changed, the generation stays.
    result<void> publish(std::uint64_t now);
    std::uint64_t generation() const { return generation_; }
    posy::edition edition() const { return {generation_, checksum_}; }
    // The checksum of a generation's bits: of the last published one, or of one that deltas reach back to;
    // nothing for others.
    std::optional<std::uint32_t> checksum_of(std::uint64_t generation) const;

    // The last published generation as a whole, or as the delta from `base`; nothing when `base` is too old
    // or was never published.
    result<std::vector<std::byte>> full() const;
    result<std::optional<std::vector<std::byte>>> delta_from(std::uint64_t base) const;

    struct reply {
        enum class kind { unchanged, whole, delta } what = kind::unchanged;
        posy::edition which{};                                  // what the subscriber holds after it
        std::shared_ptr<const std::vector<std::byte>> message;  // null if unchanged
    };
    // What to send to a subscriber that holds `have`: nothing if that is the newest, else the whole or, if
    // the subscriber takes deltas, the delta, whichever is smaller.
    result<reply> answer(std::optional<posy::edition> have, bool deltas = true);

    // Replaces the set by one with another geometry, seed or content, and publishes it at once. Deltas do not
    // reach back beyond this.
    result<void> rebase(counting_filter set, std::uint64_t now);
    // The published generation gets this number, which must be higher: others know generations of an earlier
    // life. Deltas do not reach back beyond this.
    void renumber(std::uint64_t generation);

  private:
    struct step {
        std::uint64_t from;                // the generation it leaves
        std::uint32_t checksum;            // of that generation's bits
        std::vector<std::uint64_t> flips;  // ascending
    };
    publisher(counting_filter set, const publishing& how)
        : set_(std::move(set)), how_(how), generation_(how.first_generation) {}
    result<bloom_filter> published() const;
    void was_published(std::uint64_t now);

    counting_filter set_;
    publishing how_;
    std::uint64_t generation_;
    std::uint32_t checksum_ = 0;  // of the bits of that generation
    std::uint64_t published_items_ = 0;
    std::deque<step> history_;
    std::optional<reply> whole_;             // made when it is first asked for, as are
    std::map<std::uint64_t, reply> deltas_;  // the answers by the generation that the asker holds
    std::uint64_t inserted_ = 0, removed_ = 0, misled_ = 0;  // since the last publication
    std::uint64_t last_ = 0;
    bool urgent_ = false;
};

}  // namespace posy
