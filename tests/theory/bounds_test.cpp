#include <gtest/gtest.h>

#include <cmath>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

TEST(concentration, mcdiarmid_is_azuma_to_the_fourth) {
    for (const double epsilon : {0.001, 0.01, 0.05}) {
        const double azuma = azuma_bound(epsilon, 1e4, 1e5, 7),
                     mcdiarmid = mcdiarmid_bound(epsilon, 1e4, 1e5, 7);
        EXPECT_NEAR(mcdiarmid / 2, std::pow(azuma / 2, 4), 1e-12);
        EXPECT_LT(mcdiarmid, azuma);
    }
    EXPECT_NEAR(azuma_bound(0.01, 1e4, 1e5, 5), 2 * std::exp(-10.0), 1e-15);
}

TEST(concentration, bounds_hold_against_the_variance) {
    // A normal tail at the true deviation is far below both: 0.01 m is about 7 deviations here.
    const double n = 1e4, m = 1e5, epsilon = 0.01, deviation = std::sqrt(zero_count_variance(n, m, 5));
    EXPECT_LT(std::erfc(epsilon * m / deviation / std::sqrt(2.0)), mcdiarmid_bound(epsilon, n, m, 5));
}

TEST(space, bloom_pays_44_percent_over_the_bound) {
    EXPECT_DOUBLE_EQ(lower_bound_bits(1000, 0.125), 3000);
    EXPECT_NEAR(bloom_bits(1000, 0.125), 4328.085, 1e-3);
    EXPECT_NEAR(bloom_overhead, 1.44, 0.005);
    for (const double rate : {0.5, 0.01, 1e-9}) {  // the inverse of the optimal rate
        EXPECT_NEAR(optimal_rate(bloom_bits(1, rate)) / rate, 1, 1e-13);
    }
}

TEST(space, a_small_universe_needs_less) {
    // By hand: 6 choose 2 is 15; with ε = 1/4 a string accepts 2 + 1 elements, 3 of the 15 sets.
    EXPECT_NEAR(lower_bound_bits(2, 0.25, 6), std::log2(15.0 / 3), 1e-13);
    // Σ log2((u−i)/(a−i)), a = n + ε(u−n), term by term.
    for (const double u : {2000.0, 1e5, 1e9, 0x1p64, 1e300}) {
        const double n = 1000, rate = 0.01, accepted = n + rate * (u - n);
        double sum = 0;
        for (double i = 0; i < n; ++i) sum += std::log2((u - i) / (accepted - i));
        EXPECT_NEAR(lower_bound_bits(n, rate, u) / sum, 1, 1e-12) << u;
        EXPECT_LE(lower_bound_bits(n, rate, u), lower_bound_bits(n, rate) * (1 + 1e-12)) << u;
    }
    EXPECT_NEAR(lower_bound_bits(1e6, 0.01, 1e300) / lower_bound_bits(1e6, 0.01), 1, 1e-12);
    // Nothing to tell, everything to tell, and no such set.
    EXPECT_EQ(lower_bound_bits(50, 0.1, 50), 0);
    EXPECT_EQ(lower_bound_bits(3, 1, 50), 0);
    EXPECT_NEAR(lower_bound_bits(3, 0, 50), std::log2(50.0 * 49 * 48 / 6), 1e-12);
    EXPECT_TRUE(std::isnan(lower_bound_bits(51, 0.1, 50)));
}

TEST(hash_list, the_surveys_example) {
    // 2 log2 n bits: a pair agrees with probability 1/n², an absent key's value is there with at most 1/n.
    for (const double n : {10.0, 1e3, 1e6}) {
        const double rate = hash_list_rate(n, 2 * std::log2(n));
        EXPECT_LT(rate, 1 / n);
        EXPECT_GT(rate, 1 / n - 1 / (2 * n * n));
    }
    // It is the filter with one hash.
    EXPECT_NEAR(hash_list_rate(1000, 16) / spread_rate(1000, 65536, 1), 1, 1e-12);
    EXPECT_NEAR(hash_list_values(1000, 16), 65536 * (1 - zero_probability(1000, 65536, 1)), 1e-9);
    EXPECT_NEAR(hash_list_coded_bits(1000, 16), log2_binomial(65536, hash_list_values(1000, 16)), 1e-9);
}

TEST(hash_list, the_fewest_bits_that_keep_the_rate) {
    for (const double n : {1.0, 7.0, 1e4, 1e9}) {
        for (const double rate : {0.9, 0.5, 0.1, 0.01, 1e-6, 1e-15}) {
            const unsigned b = hash_list_value_bits(n, rate);
            EXPECT_LE(hash_list_rate(n, b), rate);
            if (b > 0) {
                EXPECT_GT(hash_list_rate(n, b - 1), rate);
            }
        }
    }
    EXPECT_EQ(hash_list_value_bits(1, 0.5), 1U);
    EXPECT_EQ(hash_list_value_bits(1000000, 0.01), 27U);  // 10^8 < 2^27
    EXPECT_EQ(hash_list_value_bits(10, 1), 0U);
    EXPECT_EQ(hash_list_value_bits(10, 0), 1023U);  // there is none; the largest that is still a number
}

}  // namespace
}  // namespace posy::theory
