// The zeros of a filter's array as random variables: exact first and second moments, in every layout.
//
// All of it follows from the chances that one key leaves a bit alone (q₁), or two bits of one line (q₂), or
// of two lines of a part (q₃); n keys do so with the n-th power, and parts are independent. Written with
// expm1 and log1p, because q₂ and q₃ differ from q₁² by a part in m². O(1). docs/maths.md, section 6.
#pragma once

#include "layout/traits.hpp"
#include "posy/estimate.hpp"

namespace posy {

class zero_counts {
  public:
    explicit zero_counts(const geometry&);

    double bits() const { return bits_; }
    // Bits that n keys would set if none met another.
    double thrown(double items) const { return items * thrown_; }

    double expected(double items) const;  // zeros that n keys leave
    double items(double zeros) const;     // the n that leaves this many
    // Of the zeros of two sets of s and t keys, w of them in both.
    double covariance(double s, double t, double w) const;
    double variance(double items) const { return covariance(items, items, items); }

  private:
    explicit zero_counts(const layouts::group_shape&);

    // What one key makes of a pair of bits: with `others` of the array, given one, ln(P(both) / q₁²) is …
    struct pair_kind {
        double others, log_ratio;
    };
    double parts_, bits_, part_bits_, thrown_;
    double log_untouched_;  // ln q₁
    std::array<pair_kind, 3> pairs_;
};

// A count with a smaller deviation is handled value by value; one with a larger deviation is taken as normal.
constexpr double few_values = 16;

// Estimates the number of keys from the zeros of an array, and compares two sets by the zeros of A, of B and
// of A OR B.
estimate estimate_from_zeros(const zero_counts&, double zeros, double level);
comparison compare_zeros(const zero_counts&, double zeros_a, double zeros_b, double zeros_of_or,
                         double level);

}  // namespace posy
