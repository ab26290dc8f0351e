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

// An array has so many times the bits of the one before.
inline constexpr std::uint64_t growth = 4;

// The unit of sizes, and the least an array can be folded down to: a line, or a byte (a slice).
std::uint64_t smallest_array(const geometry&);

// The rate to expect of so many keys in the array as it is.
double expected_rate(const geometry&, double items);

// So many keys fit into an array before it is full.
std::uint64_t capacity(const geometry&, double rate);

// The rate of two arrays that are both asked.
inline double together(double rate, double other) { return rate + other - rate * other; }

// An array and how many keys are in it: those that came while it was the last one, less those that an older
// one seemed to have.
struct load {
    geometry shape;
    double items = 0;
};

// Adds the load of the next array, to which so many different keys came.
void add_load(std::vector<load>& loads, const geometry& shape, double came);

// By which divisors to fold the stages, so that they get as small as can be while the sure rate of them
// together stays within `rate`. Stage by stage: of all that could be made of the stages so far, those are
// kept that no other one beats in rate and in bits.
std::vector<std::uint64_t> choose_folds(std::span<const load> stages, double rate);

}  // namespace posy::growing
