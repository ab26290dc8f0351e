// Estimates of set sizes and overlaps from the bits alone, each with its interval.
//
// All estimates come from numbers of zeros, whose exact mean and covariance every layout knows. An interval
// holds the values that a test at its level does not reject. docs/maths.md, section 6, derives this and has a
// table of how often intervals cover the truth.
//
// All estimates count different keys: inserting a key again changes no bit.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

// A value and an interval that holds the truth with probability `level` (0.95 unless asked otherwise); more
// often where the bits leave little doubt. Where only one end can be known, the interval has only that end:
// for an array whose bits are all set, value and high are infinite; an intersection that may be empty has low
// = 0 and can miss only above. Ends are whole numbers where the truth is one. Never NaN.
struct estimate {
    double value = 0;
    double low = 0;
    double high = 0;
};

// The bits of an intersection of filters (provenance().intersection) give only an upper bound for its items:
// low is 0, and value and high are that bound, which holds with probability `level` or more. compare() of the
// filters that it was made from estimates the number.
estimate estimate_items(const bloom_filter&, double level = 0.95);

struct comparison {
    estimate a, b;          // |A|, |B|
    estimate intersection;  // |A ∩ B|
    estimate united;        // |A ∪ B|
    estimate jaccard;       // |A ∩ B| / |A ∪ B|
};

// From the numbers of zeros in A, B and A ∪ B. The filters must have equal geometries, and neither may be an
// intersection. If one array is full, all that is known is that the intersection is not larger than the other
// set.
result<comparison> compare(const bloom_filter& a, const bloom_filter& b, double level = 0.95);

// The survey's two formulas for |A ∩ B| as printed, for the classic layout. The first needs |A| and |B| and
// the inner product (ones in the AND); the second the zeros of A, of B and of their AND.
double intersection_from_inner_product(double inner, double items_a, double items_b, double bits,
                                       double hashes);
double intersection_from_zeros(double zeros_a, double zeros_b, double zeros_of_and, double bits,
                               double hashes);

}  // namespace posy
