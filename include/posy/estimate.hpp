// How many items, how much in common: estimates from the bits alone, each with its interval.
//
// The survey's formulas (Broder and Mitzenmacher 2004, 2.4) serve the layouts whose keys touch all groups of
// bits alike (spread, sliced). In the layouts in lines a key touches one or two, lines have different loads,
// and the number of items is estimated by maximum likelihood over the loads. docs/maths.md derives both and
// their intervals.
//
// All of them count different keys: inserting a key again changes no bit.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/bloom_filter.hpp"

namespace posy {

// A value and an interval that covers the truth with probability `level` (0.95 unless asked otherwise). An
// array whose bits are all set has no upper end: value and high are infinite.
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
// intersection.
result<comparison> compare(const bloom_filter& a, const bloom_filter& b, double level = 0.95);

// The survey's two formulas for |A ∩ B| as printed, for the classic layout. The first needs |A| and |B| and
// the inner product (ones in the AND); the second the zeros of A, of B and of their AND.
double intersection_from_inner_product(double inner, double items_a, double items_b, double bits,
                                       double hashes);
double intersection_from_zeros(double zeros_a, double zeros_b, double zeros_of_and, double bits,
                               double hashes);

}  // namespace posy
