// The planner: what to build, given what you care about, and what it will cost.
//
// Every figure of a plan is computed from the geometry it proposes (the layout's own rate formula, the real
// array size after rounding), never from the wish: what is predicted is what will be measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posy/geometry.hpp"
#include "posy/provenance.hpp"
#include "posy/result.hpp"

namespace posy {

enum class goal { rate, memory, message };

// Only `items` is needed; whatever else is given is kept, and what is not is chosen. With nothing else the
// plan is for a rate of 1 %.
struct wishes {
    std::uint64_t items = 0;
    std::optional<double> rate;                   // at most this false-positive rate
    std::optional<double> bits_per_item;          // exactly this array
    std::optional<double> message_bits_per_item;  // at most this many, compressed
    std::optional<std::uint64_t> max_memory;      // bytes of the array
    std::optional<unsigned> hashes;               // exactly so many
    std::optional<unsigned> max_hashes;
    std::optional<layout_id> layout;            // blocked, unless the message matters: then spread
    std::optional<double> delta_bits_per_item;  // at most this many an update; needs delta_fraction
    std::optional<double> delta_fraction;       // updates are sent when this share of the items has changed
    std::optional<goal> minimize;               // what to make small among what is left open
};

struct plan {
    std::uint64_t items = 0;
    std::uint64_t bits = 0;
    unsigned hashes = 0;
    layout_id layout = layout_id::blocked;

    double fill = 0;                   // expected share of ones
    double false_positive_rate = 0;    // expected, by the layout's own formula
    double message_bits = 0;           // expected size of the entropy-coded array, never more than `bits`
    std::optional<double> delta_bits;  // of one update, where a delta fraction was given
    double counter_overflow = 0;       // bound on P(any 4-bit counter saturates), were it a counting filter

    double bits_per_item() const { return per_item(static_cast<double>(bits)); }
    double message_bits_per_item() const { return per_item(message_bits); }
    std::uint64_t memory_bytes() const { return (bits + 63) / 64 * 8; }
    std::uint64_t counting_memory_bytes() const { return (bits * 4 + 63) / 64 * 8 + memory_bytes(); }
    posy::geometry geometry(hash_family hash = hash_family::xxh3, hash_seed seed = {}) const {
        return {bits, hashes, layout, hash, seed};
    }
    // For a filter of this plan to keep: bloom_filter::set_planned().
    posy::promise promise() const { return {items, false_positive_rate}; }
    double per_item(double amount) const { return amount / static_cast<double>(items); }
};

// The consequences of a given shape.
result<plan> predict(std::uint64_t items, const geometry&, std::optional<double> delta_fraction = {});

// The array of a shape's layout in which so many items have at most this rate, if there is one.
std::optional<std::uint64_t> smallest_bits(std::uint64_t items, double rate, unsigned hashes, layout_id);

struct named_plan {
    std::string name;
    posy::plan plan;
};
// A sealed filter (posy/sealed_filter.hpp): for a set that does not change, the smallest message.
struct sealed_plan {
    std::string name;
    double false_positive_rate = 0;
    double message_bits = 0;
};
struct advice {
    plan chosen;
    std::vector<named_plan> alternatives;  // what else could be done for the same items
    std::vector<sealed_plan> sealed;       // and what, if they are to stay as they are
};

// The best plan for the wishes, or which of them cannot be fulfilled; alone, and beside what else there is.
result<plan> choose(const wishes&);
result<advice> advise(const wishes&);

// What can be traded for what: the best plan for every number of hashes, fewest first, where there is one. Of
// the paper's four metrics (Mitzenmacher 2002, II-B) computation is fixed in each row, and memory, rate and
// message follow from the wishes.
result<std::vector<plan>> tradeoff(const wishes&);

}  // namespace posy
