#include <gtest/gtest.h>

#include <bitset>
#include <cmath>
#include <random>
#include <vector>

#include "posy/theory.hpp"
#include "statistics.hpp"

namespace posy::theory {
namespace {

// P(X = x), X the bins hit by `throws` balls, ball by ball: slow, obvious, and positive.
std::vector<double> occupancy(unsigned throws, unsigned m) {
    std::vector<double> p(m + 1);
    p[0] = 1;
    for (unsigned t = 0; t < throws; ++t) {
        for (unsigned x = m; x > 0; --x) p[x] = (p[x] * x + p[x - 1] * (m - x + 1)) / m;
        p[0] = 0;
    }
    return p;
}

struct shape {
    unsigned n, m, k;
};
constexpr shape small_shapes[] = {{1, 1, 1},    {1, 1, 3},    {1, 2, 2},     {3, 2, 4},
                                  {2, 5, 3},    {5, 10, 9},   {4, 64, 4},    {30, 64, 1},
                                  {8, 100, 16}, {50, 500, 7}, {100, 300, 2}, {200, 999, 30}};

TEST(fill, exact_and_asymptotic) {
    EXPECT_DOUBLE_EQ(zero_probability(1, 2, 3), 0.125);
    EXPECT_NEAR(zero_probability_asymptotic(10, 80, 4), std::exp(-0.5), 1e-15);
    EXPECT_EQ(zero_probability(0, 1, 5), 1);
    EXPECT_EQ(zero_probability(1, 1, 5), 0);
    for (const double m :
         {1e2, 1e5, 1e12}) {  // p' is below p, by p s/2m (Broder & Mitzenmacher 2004: O(1/m))
        const double p = zero_probability_asymptotic(m / 10, m, 5);
        EXPECT_LT(zero_probability(m / 10, m, 5), p);
        EXPECT_NEAR(zero_probability(m / 10, m, 5), p * (1 - 0.25 / m), p / m / m);
    }
}

TEST(fill, mean_and_variance_of_the_zeros_by_enumeration) {
    for (const auto [n, m, k] : small_shapes) {
        const auto p = occupancy(n * k, m);
        double mean = 0, square = 0;
        for (unsigned x = 0; x <= m; ++x) mean += p[x] * (m - x);
        for (unsigned x = 0; x <= m; ++x) square += p[x] * (m - x - mean) * (m - x - mean);
        EXPECT_NEAR(m * zero_probability(n, m, k), mean, 1e-12 * m);
        EXPECT_NEAR(zero_count_variance(n, m, k), square, 1e-11 * m) << n << ' ' << m << ' ' << k;
    }
}

TEST(fill, variance_keeps_its_digits_when_huge) {
    for (const double m : {1e9, 1e12, 1e15}) {  // m p (1 − (1 + s) p) in the limit, s = kn/m
        const double s = 0.7, p = std::exp(-s);
        EXPECT_NEAR(zero_count_variance(m / 10, m, 7) / (m * p * (1 - (1 + s) * p)), 1, 1e-8);
    }
}

TEST(spread, is_the_expectation_over_the_occupancy) {
    for (const auto [n, m, k] : small_shapes) {
        const auto p = occupancy(n * k, m);
        double rate = 0;
        for (unsigned x = 0; x <= m; ++x) rate += p[x] * std::pow(double{1} * x / m, k);
        EXPECT_NEAR(spread_rate(n, m, k) / rate, 1, 1e-12) << n << ' ' << m << ' ' << k;
    }
}

// At large m, f' (1 + C(k,2) Var/(m(1−p'))²) with an error of the next order, 1/m². It checks that squaring
// the chain forty times over lost nothing: the excess over f' is found again although it is 1e-8 of the rate.
TEST(spread, agrees_with_the_moments) {
    for (const double m : {1e5, 1e7, 1e9}) {
        for (const unsigned k : {2U, 7U, 16U, 32U}) {
            const double n = m / 10, ones = m * (1 - zero_probability(n, m, k));
            const double excess = k * (k - 1.0) / 2 * zero_count_variance(n, m, k) / (ones * ones);
            const double found = spread_rate(n, m, k) / false_positive_rate_mean_fill(n, m, k) - 1;
            EXPECT_NEAR(found, excess, k * k * k * excess / m + 1e-13) << m << ' ' << k;
        }
    }
}

// Means of 200,000 independent filters; 5 standard errors, so a false alarm once in 1.7 million runs per
// shape.
TEST(spread, agrees_with_simulation) {
    std::mt19937_64 random(1970);
    for (const auto [n, m, k] : {shape{8, 64, 4}, shape{20, 128, 5}, shape{3, 32, 8}}) {
        sample rates(200'000);
        for (int trial = 0; trial < 200'000; ++trial) {
            std::bitset<128> bits;
            for (unsigned t = 0; t < n * k; ++t) bits.set(random() & (m - 1));
            rates.add(std::pow(static_cast<double>(bits.count()) / m, k));
        }
        rates.expect_mean(spread_rate(n, m, k), 5);
        EXPECT_GT(spread_rate(n, m, k) - false_positive_rate_mean_fill(n, m, k),
                  5 * rates.standard_error());  // f' is visibly low
    }
}

TEST(rates, empty_full_and_hashless) {
    EXPECT_EQ(spread_rate(0, 100, 3), 0);
    EXPECT_EQ(spread_rate(5, 1, 3), 1);
    EXPECT_EQ(spread_rate(5, 100, 0), 1);
    EXPECT_EQ(sliced_rate(0, 100, 3), 0);
    EXPECT_EQ(sliced_rate(1, 3, 3), 1);
    EXPECT_EQ(false_positive_rate_asymptotic(5, 100, 0), 1);
    EXPECT_DOUBLE_EQ(spread_rate(1e15, 1e3, 8), 1);
}

TEST(rates, one_hash_is_the_mean_fill) {
    for (const double m : {2.0, 100.0, 1e6, 1e12}) {
        const double rate = false_positive_rate_mean_fill(m / 2, m, 1);
        EXPECT_NEAR(spread_rate(m / 2, m, 1) / rate, 1, 1e-14);
        EXPECT_DOUBLE_EQ(sliced_rate(m / 2, m, 1), rate);
    }
}

// f < f' < spread < sliced for k > 1: Broder & Mitzenmacher (2004, 2.1) prove f' ≤ sliced; that the exact
// classic rate lies between is what we find on this grid.
TEST(rates, are_ordered) {
    for (const double m : {256.0, 4096.0, 1e6}) {
        for (const double bits_per_item : {4.0, 8.0, 16.0}) {
            for (unsigned k = 2; k <= 16; ++k) {
                const double n = m / bits_per_item, f = false_positive_rate_asymptotic(n, m, k);
                const double mean_fill = false_positive_rate_mean_fill(n, m, k),
                             spread = spread_rate(n, m, k);
                EXPECT_LT(f, mean_fill);
                EXPECT_LT(mean_fill, spread);
                EXPECT_LT(spread, sliced_rate(n, m, k));
            }
        }
    }
}

}  // namespace
}  // namespace posy::theory
