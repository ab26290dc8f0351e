// The expected cost of reconciling two sets, and the share of the difference that will be found.
//
// A plan is a simulation of sessions by the session's own rules. Small sets are reconciled as real random
// sets. For larger ones every random quantity is drawn from its distribution (the errors of sketches and
// symbols, the number of symbols that the difference takes). The random numbers are fixed, so a plan is
// reproducible.
//
// Cost: up to a tenth of a second, and memory of some megabytes, whatever the sizes. Thread safety: pure.
#pragma once

#include "posy/reconcile/session.hpp"

namespace posy::reconcile {

struct set_sizes {
    std::uint64_t common = 0, only_here = 0, only_there = 0;

    // Two sets of these sizes with a symmetric difference of this size. If the sum of all three is odd, the
    // other set gets one item more. An error if the difference is smaller than the difference of the sizes,
    // or larger than their sum.
    static result<set_sizes> of(std::uint64_t here, std::uint64_t there, std::uint64_t difference);

    std::uint64_t here() const { return common + only_here; }
    std::uint64_t there() const { return common + only_there; }
    std::uint64_t difference() const { return only_here + only_there; }
};

struct forecast {
    // Bytes in both directions, frames included, until the asking side knows the difference
    // (outcome::finding): the mean of many sessions, the standard deviation of one, and a bound that no
    // session exceeds.
    double bytes = 0, deviation = 0, most = 0;
    double round_trips = 1;                 // on average
    double listed = 0;                      // exact method: how often the peer ends up listing its whole set
    double found = 1, found_deviation = 0;  // the expected share, and its standard deviation
};

// `how` gives the method and its bits per item. Messages carry the hash's seed: if it is not 0 they are a few
// bytes longer.
result<forecast> expect(const set_sizes& sizes, const settings& how, digest_width width = digest_width::half,
                        const hasher& hash = hasher());

}  // namespace posy::reconcile
