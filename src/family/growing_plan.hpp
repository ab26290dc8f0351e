// How a growing filter decides: when an array is full, and by how much arrays are folded in the end.
//
// All of it follows from numbers of keys, never from bits, so that a forecast takes the same decisions as the
// filter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posy/geometry.hpp"

namespace posy::growing {

// Each array has this many times the bits of the one before.
inline constexpr std::uint64_t growth = 4;

// The unit of sizes, and the least an array can be folded down to: a line, or a byte (a slice).
std::uint64_t smallest_array(const geometry&);

// The expected rate of this many keys in the unfolded array.
double expected_rate(const geometry&, double items);

// The number of keys that an array takes before it is full.
std::uint64_t capacity(const geometry&, double rate);

// The combined rate of two arrays.
inline double together(double rate, double other) { return rate + other - rate * other; }

// An array and how many keys are in it: those that came while it was the last one, less those that an older
// one seemed to have.
struct load {
    posy::geometry geometry;
    double items = 0;
};

// Adds the load of the next array, which received this many different keys.
void add_load(std::vector<load>& loads, const geometry& g, double came);

// The divisors by which to fold the arrays so that they are as small as possible while their combined sure
// rate stays within `rate`. Works array by array: of all combinations for the arrays so far, it keeps those
// that no other beats in both rate and bits.
std::vector<std::uint64_t> choose_folds(std::span<const load> arrays, double rate);

}  // namespace posy::growing
