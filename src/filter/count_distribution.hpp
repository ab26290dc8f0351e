// The distribution of a count with known mean and variance, and how well an observed count fits it.
//
// Bits that several keys share, and bits that are still 0, are counts of rare, nearly independent events.
// Their limit is the Poisson distribution; for variances below and above the mean it becomes binomial and
// negative binomial, and one recurrence covers all three (Panjer 1981). O(standard deviation).
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
    // How well the value fits the distribution, from 0 to 1: the probability of all values at least as far
    // out on either side (Blaker 2000). The interval of parameters under which this is above 1 − level covers
    // the truth with at least that probability, and exceeds it only by the weight of one value. Where that
    // weight is small (0.3 of the odds of a miss), the value itself counts half: the error may then have
    // either sign.
    double acceptability = 0;
};
tails tails_of(const distribution&, std::int64_t seen, double level);

// P(a standard normal variable is below x), and the z for which it lies within ±z with probability `level`.
double normal_below(double x);
double normal_deviations(double level);

}  // namespace posy
