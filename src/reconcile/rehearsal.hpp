// Simulated sessions with random sets, for the plan: their average cost and its variation.
// Thread safety: pure; the seed is fixed.
#pragma once

#include "posy/reconcile/plan.hpp"

namespace posy::reconcile {

struct tally {
    double runs = 0, bytes = 0, squares = 0, round_trips = 0, listed = 0;

    void add(double b, double trips, bool whole_list) {
        ++runs;
        bytes += b;
        squares += b * b;
        round_trips += trips;
        listed += whole_list;
    }
    // The fields of a forecast that a tally knows.
    forecast means() const;
};

// The exact way: sessions as they are. Cost: 2,000 times a microsecond per element.
result<tally> rehearse_sessions(const set_sizes&, digest_width, const hasher&);

// The exact way by its strategy alone. Up to `drawn_from` differences are random elements in real symbols;
// beyond, the number of symbols that they take is normally distributed (theory::symbols_needed).
inline constexpr std::uint64_t drawn_from = 400;
result<tally> rehearse_exact(const set_sizes&, digest_width, const hasher&);

}  // namespace posy::reconcile
