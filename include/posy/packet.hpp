// A set in a packet: the best filter whose message never exceeds a number of bytes (Mitzenmacher 2002, III).
//
// How far an array compresses depends on how many bits the keys happen to set, and that varies a little from
// set to set. So the filter is planned for slightly less than the budget, by a margin that the variation
// determines. If a set still does not fit, another seed is tried, then a smaller array, and at last an
// uncoded filter as large as the packet, which always fits. The header tells the receiver everything it
// needs. It leaves the plan out: packets are not added to, and the ten bytes are better spent on the array.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"

namespace posy {

struct packet_wishes {
    std::uint64_t max_bytes = 0;                // of the whole message
    std::optional<std::uint64_t> max_memory{};  // bytes of the array at the receiver
    std::optional<unsigned> max_hashes{};
    hash_family hash = hash_family::xxh3;
    hash_seed seed{};  // the first to try
};

struct packet {
    std::vector<std::byte> message{};
    posy::geometry geometry{};
    double false_positive_rate = 0;  // of the actual bits
    unsigned attempts = 0;
};

// `fill` inserts the whole set into an empty filter; it is called once per attempt.
result<packet> pack_set(std::uint64_t items, const std::function<void(bloom_filter&)>& fill,
                        const packet_wishes&);

}  // namespace posy
