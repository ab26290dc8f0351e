// What it will take to reconcile two sets, and what share of the difference will be found.
//
// A plan is a rehearsal: conversations of the session's own rules with random sets, real ones where they are
// small, and otherwise with all that depends on chance drawn from its distribution (how far sketches and
// symbols are off, how many symbols the difference takes). The draws are always the same, so that a plan is.
//
// Cost: up to a tenth of a second, and memory of some megabytes, whatever the sizes. Thread safety: pure.
#pragma once

#include "posy/reconcile/session.hpp"

namespace posy::reconcile {

struct set_sizes {
    std::uint64_t common = 0, only_here = 0, only_there = 0;

    // Of two sets with so many items that differ by so many. The sum of all three is even, or the other side
    // has one item more. An error where the difference is smaller than that of the sizes, or larger than
    // their sum.
    static result<set_sizes> of(std::uint64_t here, std::uint64_t there, std::uint64_t difference);

    std::uint64_t here() const { return common + only_here; }
    std::uint64_t there() const { return common + only_there; }
    std::uint64_t difference() const { return only_here + only_there; }
};

struct forecast {
    // Both ways, until the side that asks knows the difference (outcome::finding), frames and all: the mean
    // of many conversations, the standard deviation of one, and what no conversation exceeds.
    double bytes = 0, deviation = 0, most = 0;
    double round_trips = 1;                 // on average
    double listed = 0;                      // the exact way: how often the peer ends up listing its whole set
    double found = 1, found_deviation = 0;  // the expected share, and its standard deviation
};

// `how` says by which way and with how many bits per item. Messages carry the hash's seed: with one that is
// not 0 they are some bytes longer.
result<forecast> expect(const set_sizes& sizes, const settings& how, digest_width width = digest_width::half,
                        const hasher& hash = hasher());

}  // namespace posy::reconcile
