// What the approximate ways say of a set at once: a Bloom filter of it, or a tree (posy/reconcile/tree.hpp).
#pragma once

#include "posy/message.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

// Of the filter for this many items.
result<geometry> filter_geometry(std::uint64_t items, double bits_per_item, const hasher&);
result<bloom_filter> filter_of(const digest_set&, const geometry&);
std::vector<std::byte> payload_of_filter(const bloom_filter&);

}  // namespace posy::reconcile
