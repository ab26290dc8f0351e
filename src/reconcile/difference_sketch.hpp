// How large is the difference? A sketch of 64 sums answers to within 18 %, for about 130 bytes at a million
// items, before anything else is sent.
//
// Every element has 64 random signs, and sum j of a set is the sum of its elements' j-th signs: a tug of war
// (Alon, Matias and Szegedy 1996; for the size of a difference: Feigenbaum et al. 1999, and before
// reconciliation as here: Gong et al. 2020). What two sets share cancels in the difference of their sums; of
// d elements that are left its square is d on average, and the mean of 64 squares is d to a relative standard
// deviation of √(2/64).
//
// Cost: a pass over the set. Thread safety: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "posy/estimate.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

struct difference_sketch {
    static constexpr std::size_t size = 64;

    hasher hash;
    digest_width width = digest_width::half;
    std::uint64_t items = 0;
    std::array<std::uint64_t, size> positive{};  // how many elements have a positive j-th sign

    static difference_sketch of(const digest_set&);

    void append_to(std::vector<std::byte>& out) const;
    static result<difference_sketch> parse(const hasher& hash, byte_view bytes, const read_limits& = {});
};

// |A ∖ B| + |B ∖ A|; the interval holds the truth in 95 % of cases. Precondition: one hash and width.
estimate estimate_difference(const difference_sketch& a, const difference_sketch& b);

}  // namespace posy::reconcile
