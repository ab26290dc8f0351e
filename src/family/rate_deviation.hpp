// How far the rate of a filter's actual bits varies around the expected one: filters of the same geometry and
// number of keys have different bits under different seeds.
#pragma once

#include "posy/geometry.hpp"

namespace posy {

// The standard deviation of false_positive_rate() over all filters of this geometry with this many different
// keys. In the layouts in lines it is an approximation, within a tenth
// (tests/family/rate_deviation_test.cpp).
double rate_deviation(const geometry&, double items);

}  // namespace posy
