// The distribution of a count of which the mean and the variance are known, and what it says of a count that
// was seen.
//
// Bits that keys lost to each other, and bits that are still 0, are counts of rare events that hardly know of
// each other. Poisson's is their limit; binomial and negative binomial are what variances below and above
// the mean make of it, and one recurrence runs through all three (Panjer 1981). O(standard deviation).
#pragma once

#include <cstdint>
#include <vector>

namespace posy {

// Probabilities of consecutive integers, from `first` on.
struct distribution {
    std::int64_t first = 0;
    std::vector<double> p;
};

distribution count_distribution(double mean, double variance);

// A value among its distribution.
struct tails {
    double below = 0, here = 0, above = 0;
    // How well the value goes with the distribution, from 0 to 1: the probability of all that lies as far
    // out, or further, on either side (Blaker 2000). Parameters under which this is above 1 − level cover
    // the truth at least so often, and nearly just so: more only by the weight of one value. Where that is
    // little (0.3 of the odds of a miss), the value itself counts half: the error then has either sign.
    double acceptability = 0;
};
tails tails_of(const distribution&, std::int64_t seen, double level);

// P(a standard normal variable is below x), and the z for which it lies within ±z with probability `level`.
double normal_below(double x);
double normal_deviations(double level);

}  // namespace posy
