#include <gtest/gtest.h>

#include <cmath>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

TEST(binomial, small_coefficients_are_whole) {
    EXPECT_NEAR(std::exp2(log2_binomial(10, 3)), 120, 1e-11);
    EXPECT_NEAR(std::exp2(log2_binomial(52, 5)), 2598960, 1e-7);
    EXPECT_EQ(log2_binomial(7, 0), 0);
    EXPECT_EQ(log2_binomial(7, 7), 0);
    EXPECT_EQ(std::exp2(log2_binomial(7, 8)), 0);
}

// References in whole-number arithmetic (the first) and by the series of the central coefficient (the
// second).
TEST(binomial, keeps_its_digits_at_2_to_the_40) {
    EXPECT_NEAR(log2_binomial(0x1p40, 5), 193.09310940437837, 1e-12);
    EXPECT_NEAR(log2_binomial(0x1p40, 0x1p40 - 5), 193.09310940437837, 1e-12);
    EXPECT_NEAR(log2_binomial(0x1p40, 0x1p39) / 1099511627755.6742, 1, 1e-14);
}

TEST(binomial, never_above_the_entropy) {
    for (const double m : {10.0, 1e3, 1e6, 1e9}) {
        for (const double density : {0.1, 0.3, 0.5, 0.9}) {
            const double bits = log2_binomial(m, density * m), entropy = m * binary_entropy(density);
            EXPECT_LT(bits, entropy);
            EXPECT_GT(bits, entropy - std::log2(m + 1));  // C(m,x) is the largest of m+1 binomial terms
        }
    }
}

}  // namespace
}  // namespace posy::theory
