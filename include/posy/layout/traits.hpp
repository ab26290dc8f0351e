// What a layout is: the contract that posy/layout/*.hpp fulfil.
//
// A layout is one small class, made from a geometry, and everything that is particular to it is in its
// header: which positions a digest has, which array sizes it can have, its rate before and after the fact,
// and how its bits fall into independent groups (which is all that the estimates need to know). To add one:
// write the header, give it a number in layout_id, and name it in posy/layout/all.hpp.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "posy/geometry.hpp"

namespace posy::layouts {

// How the bits of a layout fall into groups that know nothing of each other, as the estimates see it.
struct group_shape {
    double groups = 1;         // how many
    double bits = 0;           // of how many bits each
    bool random_load = false;  // does a key choose its groups (true), or does every key touch every group?
    double touched = 1;        // how many groups it chooses
    double log_miss = 0;       // ln P(a key that touches the group leaves a given bit of it alone)
    double log_pair = 0;    // ln of P(it leaves two given different bits alone) / P(leaves one alone)², mean
                            // over the pairs: how far the bits are from independent
    unsigned hashes = 0;    // where the load is random: hashes of a key in its group …
    unsigned may_meet = 0;  // … of which so many meet another one of the key, each with the chance
    double meet = 0;        // `meet`, so that the key sets one bit less
};

std::uint64_t ones_in(std::span<const std::uint64_t> words);

template <class Layout>
concept layout = requires(const Layout l, digest d, std::span<const std::uint64_t> words) {
    { Layout::id } -> std::convertible_to<layout_id>;
    { Layout::name } -> std::convertible_to<std::string_view>;
    { Layout::max_hashes } -> std::convertible_to<unsigned>;
    // The number of hashes is a multiple of this.
    { Layout::hash_step } -> std::convertible_to<unsigned>;
    // Array sizes are multiples of this.
    { Layout::granule(1u) } -> std::same_as<std::uint64_t>;
    // Bits that fold together stand side by side, in units of so many.
    { Layout::fold_unit } -> std::convertible_to<std::uint64_t>;
    // Calls visit(position) for each of the k positions until it answers false; was it never false?
    {
        l.positions(d, [](std::uint64_t) { return true; })
        } -> std::same_as<bool>;
    // Calls visit(position) once for every cache line that positions() will touch.
    l.lines(d, [](std::uint64_t) {});
    // The false-positive rate to expect of n items, and the one that these very bits have.
    { Layout::expected_rate(1.0, 1.0, 1u) } -> std::same_as<double>;
    { l.rate_now(words) } -> std::same_as<double>;
    // P(a given counter of a counting filter of n items is at least j).
    { Layout::counter_tail(1u, 1.0, 1.0, 1u) } -> std::same_as<double>;
    // P(any of its counters is).
    { Layout::overflow(1u, 1.0, 1.0, 1u) } -> std::same_as<double>;
    { l.groups() } -> std::same_as<group_shape>;
};

}  // namespace posy::layouts
