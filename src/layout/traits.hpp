// What a layout is: the contract that the layouts in layout/*.hpp fulfil.
//
// A layout is one small class, made from a geometry, and everything that is particular to it is in its
// header: which positions a digest has, which array sizes it can have, its rate before and after the fact,
// and how its bits fall into independent groups (which is all that the estimates need to know). To add one:
// write the header, give it a number in layout_id, and name it in layout/all.hpp.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

#include "posy/geometry.hpp"

namespace posy::layouts {

// How the bits of a layout fall into groups, as the estimates see it. An array has parts (slices, halves);
// every key sets bits in each of them, independently. A part has lines, of which a key chooses one.
struct group_shape {
    // The other bits of a line, by their relation to a given one.
    struct pair_kind {
        double others = 0;    // how many
        double log_pair = 0;  // ln of P(a key of the line leaves both alone) / P(leaves one alone)²
    };
    double parts = 1;
    double lines = 1;     // of a part
    double bits = 0;      // of a line
    double hashes = 0;    // of a key in its line
    double log_miss = 0;  // ln P(a key of the line leaves a given bit alone)
    std::array<pair_kind, 2> pairs{};

    double all_bits() const { return parts * lines * bits; }
    // ln P(a key leaves a given bit of the array alone).
    double log_untouched() const { return lines == 1 ? log_miss : std::log1p(std::expm1(log_miss) / lines); }
};

template <class Layout>
concept layout = requires(const Layout l, digest d, std::span<const std::uint64_t> words) {
    { Layout::id } -> std::convertible_to<layout_id>;
    { Layout::max_hashes } -> std::convertible_to<unsigned>;
    // The number of hashes is a multiple of this.
    { Layout::hash_step } -> std::convertible_to<unsigned>;
    // Array sizes are multiples of this.
    { Layout::granule(1u) } -> std::same_as<std::uint64_t>;
    // Bits that fold together are adjacent, in units of this many bits.
    { Layout::fold_unit } -> std::convertible_to<std::uint64_t>;
    // Calls visit(position) for each of the k positions until it answers false; was it never false?
    {
        l.positions(d, [](std::uint64_t) { return true; })
        } -> std::same_as<bool>;
    // Calls visit(position) once for every cache line that positions() will touch.
    l.lines(d, [](std::uint64_t) {});
    // The expected false-positive rate with n items, and the rate of the actual bits.
    { Layout::expected_rate(1.0, 1.0, 1u) } -> std::same_as<double>;
    { l.rate_now(words) } -> std::same_as<double>;
    // P(a given counter of a counting filter of n items is at least j).
    { Layout::counter_tail(1u, 1.0, 1.0, 1u) } -> std::same_as<double>;
    // P(any of its counters is).
    { Layout::overflow(1u, 1.0, 1.0, 1u) } -> std::same_as<double>;
    { l.groups() } -> std::same_as<group_shape>;
};

}  // namespace posy::layouts
