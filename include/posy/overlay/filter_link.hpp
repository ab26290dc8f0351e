// A node's filters as its neighbour knows them: the two ends of one direction of a link. What travels is
// which bits changed; the whole only at first and after a loss.
//
//   sender    flip, flip … ─ update 8: the bits that changed since 7 ──→   receiver
//                          ←──────────────────────── I have 8 ─
//
// One update is on its way at a time; what changes meanwhile goes with the next. An update that is not
// acknowledged is repeated, at growing intervals. If the other side has something else than the update was
// made from, it says so, and the next update is the whole. An update carries the checksum of the bits after
// it, so both sides hold the same bits or know that they do not.
//
// A link carries one filter, or several as levels. Invariant of the receiver: it holds what the sender had at
// some time, whatever arrives; a message that is damaged, of another geometry or too full changes nothing.
// Cost: an update of j changed bits takes 15 bytes and about log2(bits/j) + 2 bits for each of them.
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "posy/bytes.hpp"
#include "posy/geometry.hpp"
#include "posy/overlay/ones.hpp"

namespace posy::overlay {

// What the two ends agree on before they meet.
struct link_terms {
    posy::geometry geometry;
    unsigned levels = 1;
    // A level with more ones is refused: it would say yes to anything, and so would every union with it. Plan
    // the array so that all objects that can come together stay below: k n/m up to 1.2 fills 0.7 of it.
    double most_fill = 0.7;
    std::uint64_t batch = 1000;   // ms from the first change to its update
    std::uint64_t repeat = 2000;  // ms to the first repetition
    std::uint64_t longest_repeat = 64'000;

    // The ends that compare equal here understand each other.
    std::uint32_t fingerprint() const;
};

// How far a receiver has come, and of which life of the sender.
struct link_state {
    std::uint32_t life = 0, number = 0;  // number 0: nothing
    friend bool operator==(const link_state&, const link_state&) = default;
    // In place of a state: the receiver's terms are others, and it takes nothing.
    static constexpr link_state of_other_terms() { return {0, ~std::uint32_t{0}}; }
};

class filter_sender {
  public:
    // `life` grows whenever the sender starts anew: the seconds of a clock will do.
    filter_sender(const link_terms& terms, std::uint32_t life)
        : terms_(terms), life_(life), pending_(terms.levels) {}

    void flip(unsigned level, position, std::uint64_t now);
    // The positions of a level's ones, ascending.
    using content = std::function<std::vector<position>(unsigned level)>;
    // What to send now, if anything, behind this kind.
    std::optional<std::vector<std::byte>> next(std::uint8_t kind, std::uint64_t now, const content&);
    // What the receiver has; nothing if it needs the whole.
    void acknowledged(const link_state&, std::uint64_t now);
    // Another receiver, which has nothing.
    void start_over(std::uint64_t now);

    std::optional<std::uint64_t> next_tick() const;
    link_state state() const { return {life_, number_}; }
    bool settled() const { return !whole_ && !waiting_ && !ready_at_; }
    // Whether the receiver has said so.
    bool other_terms() const { return other_terms_; }

    struct counters {
        std::uint64_t wholes = 0, deltas = 0, repeats = 0;
        std::uint64_t whole_bytes = 0, delta_bytes = 0;
    };
    const counters& counted() const { return counted_; }

  private:
    std::vector<std::byte> compose(std::uint8_t kind, const content&);

    link_terms terms_;
    std::uint32_t life_, number_ = 0, checksum_ = 0;
    std::vector<std::vector<position>> pending_;     // by level; twice is not at all
    std::optional<std::uint64_t> ready_at_;          // something is pending
    std::optional<std::vector<std::byte>> waiting_;  // sent, and not acknowledged
    bool waiting_whole_ = false;                     // which is a whole
    std::uint64_t sent_at_ = 0, pause_ = 0;          // of what is waiting
    std::uint64_t wholes_again_at_ = 0;              // asking for more does not bring more
    bool whole_ = true;                              // the next update is the whole
    bool other_terms_ = false;
    counters counted_;
};

enum class link_outcome : std::uint8_t {
    applied,
    repeated,    // held already, or older
    gap,         // made from something that is not held
    too_full,    // more ones than the terms allow
    mismatched,  // of another geometry, or the checksum is of other bits
    damaged,
};

class filter_receiver {
  public:
    filter_receiver(const link_terms& terms, std::uint64_t salt);

    struct taken {
        link_outcome outcome = link_outcome::damaged;
        std::vector<std::vector<position>> flips;  // by level, of what was applied
    };
    // An update without its kind.
    taken receive(byte_view update);

    const link_state& state() const { return state_; }
    // Whether the last whole that came was made for other terms; and the state to answer.
    bool other_terms() const { return other_terms_; }
    link_state answer() const { return other_terms_ ? link_state::of_other_terms() : state_; }
    const one_set& level(unsigned i) const { return levels_[i]; }
    unsigned levels() const { return terms_.levels; }
    std::size_t memory() const;

  private:
    struct update;
    link_outcome judge(const update&) const;
    bool turn_into_flips(update&) const;
    bool fits(const update&) const;

    link_terms terms_;
    std::vector<one_set> levels_;
    link_state state_;
    bool other_terms_ = false;
};

}  // namespace posy::overlay
