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

}  // namespace
}  // namespace posy::theory
