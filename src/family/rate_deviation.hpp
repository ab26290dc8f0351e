// How far the rate of a filter's very bits scatters around the one to expect: filters of equal shape and
// equally many keys, under different seeds, have different bits.
#pragma once

#include "posy/geometry.hpp"

namespace posy {

// The standard deviation of false_positive_rate() over all filters of this geometry with so many different
// keys. In the layouts in lines it is an approximation, within a tenth
// (tests/family/rate_deviation_test.cpp).
double rate_deviation(const geometry&, double items);

}  // namespace posy
