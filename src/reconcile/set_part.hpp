// Some elements of a sorted set in a row, as they travel: a part of the list, or all of it.
//
// Digests are random, so the elements up to a place are a fair sample: how many of them the other side lacks
// says how large the whole difference is, and none of it has to be sent again whatever way is taken then.
//
// Cost: the width of a digest per element. Thread safety: immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

struct set_part {
    hasher hash;
    digest_width width = digest_width::half;
    std::uint64_t items = 0;  // of the whole set
    std::uint64_t first = 0;  // place of the first element in it
    std::vector<digest> elements{};

    // Precondition: first ≤ end ≤ set.size().
    static set_part of(const digest_set& set, std::uint64_t first, std::uint64_t end);
    std::uint64_t end() const { return first + elements.size(); }

    void append_to(std::vector<std::byte>& out) const;
    static result<set_part> parse(const hasher& hash, byte_view bytes, const read_limits& = {});
};

}  // namespace posy::reconcile
