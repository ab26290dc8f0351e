// Set algebra on filters (Broder and Mitzenmacher 2004, 2.4).
//
// Union is exact: it is bit for bit the filter of the union of the sets. Intersection is an approximation
// from above: it contains the filter of the intersection, and its rate is at most that of either side. Fold
// is exact: bit for bit the filter that would have been built at the smaller size, in every layout. Filters
// of different geometry do not combine: the result is an error value. posy/provenance.hpp says what happens
// to the number of items and to the plan.
#pragma once

#include "posy/bloom_filter.hpp"

namespace posy {

// into := into ∪ from.
result<void> unite(bloom_filter& into, const bloom_filter& from);
// into := into ∩ from; its number of items is no longer known. compare() estimates it from both filters.
result<void> intersect(bloom_filter& into, const bloom_filter& from);
// The same set in bits / divisor bits.
result<bloom_filter> fold(const bloom_filter& filter, std::uint64_t divisor = 2);

}  // namespace posy
