// What it will take to reconcile two sets, and what share of the difference will be found.
#pragma once

#include "posy/reconcile/session.hpp"

namespace posy::reconcile {

struct forecast {
    double bytes = 0;  // both ways, until the side that asks knows the difference (outcome::finding)
    double found = 1;  // the expected share
};

// Of two sets of about so many items, half of the difference on either side; `how` says by which way and with
// how many bits an item.
result<forecast> expect(std::uint64_t items, std::uint64_t difference, const settings& how,
                        digest_width width = digest_width::half);

}  // namespace posy::reconcile
