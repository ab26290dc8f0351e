// The planner: which filter to build for given requirements, and what it will cost.
//
// Every figure of a plan is computed from the geometry it proposes (the layout's own rate formula, the real
// array size after rounding), never from the requirements: what is predicted is what will be measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "posy/base/names.hpp"
#include "posy/geometry.hpp"
#include "posy/provenance.hpp"
#include "posy/result.hpp"

namespace posy {

enum class goal : std::uint8_t { rate, memory, message, delta };
constexpr std::string_view name_of(goal member) {
    switch (member) {
        case goal::rate:
            return "rate";
        case goal::memory:
            return "memory";
        case goal::message:
            return "message";
        case goal::delta:
            return "delta";
    }
    return {};
}

// Only `items` is required. Every other field that is set is a constraint; fields that are not set are
// chosen. With `items` alone the plan is for a rate of 1 %.
struct wishes {
    std::uint64_t items = 0;
    std::optional<double> rate{};                   // at most this false-positive rate
    std::optional<double> bits_per_item{};          // exactly this array
    std::optional<double> message_bits_per_item{};  // at most this many, compressed
    std::optional<std::uint64_t> max_memory{};      // bytes of the array, in whole words of 8
    std::optional<unsigned> hashes{};               // exactly this many
    std::optional<unsigned> max_hashes{};
    std::optional<layout_id> layout{};            // blocked, unless the message matters: then spread
    std::optional<double> delta_bits_per_item{};  // at most this many per update; needs delta_fraction
    std::optional<double> delta_fraction{};       // updates are sent when this share of the items has changed
    // fold64, unless the collisions of its 64 bits add more than a thousandth to the rate: then xxh3.
    std::optional<hash_family> hash{};
    // What to minimise within the constraints. `delta` needs delta_fraction. Where nothing limits the rate of
    // a given array, arrays more than half full are not considered: a saturated one would be the smallest
    // message.
    std::optional<goal> minimize{};
};

struct plan {
    std::uint64_t items = 0;
    std::uint64_t bits = 0;
    unsigned hashes = 0;
    layout_id layout = layout_id::blocked;
    hash_family hash = hash_family::xxh3;

    double fill = 0;                     // expected share of ones
    double false_positive_rate = 0;      // expected, by the layout's own formula, and hash_collision_rate()
    double message_bits = 0;             // expected size of the entropy-coded array, never more than `bits`
    std::optional<double> delta_bits{};  // of one update, where a delta fraction was given …
    std::optional<double> delta_fill{};  // … and the share of the bits that it changes

    double bits_per_item() const { return per_item(static_cast<double>(bits)); }
    double message_bits_per_item() const { return per_item(message_bits); }
    std::uint64_t memory_bytes() const { return (bits + 63) / 64 * 8; }
    posy::geometry geometry() const { return geometry(hash); }
    posy::geometry geometry(hash_family family, hash_seed seed = {}) const {
        return {bits, hashes, layout, family, seed};
    }
    // What a filter of this plan records: bloom_filter::set_planned().
    posy::promise promise() const { return {items, false_positive_rate}; }
    double per_item(double amount) const { return amount / static_cast<double>(items); }
};

// The plan of a given geometry.
result<plan> predict(std::uint64_t items, const geometry&, std::optional<double> delta_fraction = {});

// The same array as a counting filter (posy/counting_filter.hpp) from which nothing has been removed.
struct counting_plan {
    unsigned counter_bits = 0;
    std::uint64_t memory_bytes = 0;  // the counters, and the plain filter beside them
    double overflow = 0;             // P(any counter reaches its largest value, where it sticks)
    double overflow_bound = 0;       // the papers' bound on it: how many are expected to, at most 1
    double highest_counter = 0;      // expected
    std::vector<double> shares{};    // of the counters that have the value 0, 1, … to the largest, expected
    double message_bits = 0;         // expected size of the entropy-coded counters
};
// With counters of 1 to 8 bits; a counting filter has 4 or 8. Precondition: a plan that predict() made.
counting_plan predict_counters(const plan&, unsigned counter_bits = 4);

// The smallest array in which this many items have at most this rate, if there is one.
std::optional<std::uint64_t> smallest_bits(std::uint64_t items, double rate, unsigned hashes, layout_id,
                                           hash_family = hash_family::xxh3);

struct named_plan {
    std::string name{};
    posy::plan plan{};
};
// A sealed filter (posy/sealed_filter.hpp): the smallest message for a set that does not change. Its rate is
// the one it will have, which for a few hundred keys or fewer is below the requested rate.
struct sealed_plan {
    std::string name{};
    double asked_rate = 0;
    double false_positive_rate = 0;
    double message_bits = 0;
};
struct advice {
    plan chosen{};
    std::vector<named_plan> alternatives{};  // other filters for the same items
    std::vector<sealed_plan> sealed{};       // and sealed filters, if the items do not change
};

// The best plan for the wishes; among equals, the one with the fewest hashes. An array more than half full
// with twice the hashes of a sparser one counts as its equal unless it is better by 5 %. The error names the
// wish that cannot be fulfilled. choose() returns the plan alone, advise() also the alternatives.
result<plan> choose(const wishes&);
result<advice> advise(const wishes&);

// The fastest family whose collisions add at most a thousandth to this rate: fold64, or xxh3.
hash_family fastest_hash(double items, double rate);

// What can be traded for what: the best plan for every number of hashes, fewest first, where there is one. Of
// the paper's four metrics (Mitzenmacher 2002, II-B) computation is fixed in each row; memory, rate and
// message follow from the wishes. Compression also pays with many hashes: with more than ln 2 times the bits
// of the message per item the array is more than half full, and such an array can be coded, too.
result<std::vector<plan>> tradeoff(const wishes&);

}  // namespace posy
