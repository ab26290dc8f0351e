// How many items, how much in common: estimates from the bits alone, each with its interval.
//
// All of it comes from numbers of zeros, of which every layout knows the exact mean and covariance. An
// interval is what a test at the level does not reject. docs/maths.md, section 6, derives it and has a table
// of how often intervals hold the truth.
//
// All of them count different keys: inserting a key again changes no bit.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

// A value and an interval that holds the truth with probability `level` (0.95 unless asked otherwise); more
// often where the bits tell it nearly for certain. Where only one side can be known the interval has only
// that one: an array whose bits are all set has a low end, value and high are infinite; an intersection that
// may be empty has low = 0, and misses only above. Ends are whole numbers where the truth is one. Never NaN.
struct estimate {
    double value = 0;
    double low = 0;
    double high = 0;
};

// Of an intersection of filters (provenance().intersection) the bits tell only how many items it has at most:
// low is 0, and value and high are that bound, which holds with probability `level` or more. compare() of the
// filters that it was made from estimates the number.
estimate estimate_items(const bloom_filter&, double level = 0.95);

struct comparison {
    estimate a, b;          // |A|, |B|
    estimate intersection;  // |A ∩ B|
    estimate united;        // |A ∪ B|
    estimate jaccard;       // |A ∩ B| / |A ∪ B|
};

// From the numbers of zeros in A, B and A ∪ B. The filters must have one geometry, and none may be an
// intersection. With a full array nothing is known of the intersection but that it is not larger than the
// other set.
result<comparison> compare(const bloom_filter& a, const bloom_filter& b, double level = 0.95);

// The survey's two formulas for |A ∩ B| as printed, for the classic layout. The first needs |A| and |B| and
// the inner product (ones in the AND); the second the zeros of A, of B and of their AND.
double intersection_from_inner_product(double inner, double items_a, double items_b, double bits,
                                       double hashes);
double intersection_from_zeros(double zeros_a, double zeros_b, double zeros_of_and, double bits,
                               double hashes);

}  // namespace posy
