#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

TEST(entropy, of_a_bit) {
    EXPECT_EQ(binary_entropy(0), 0);
    EXPECT_EQ(binary_entropy(1), 0);
    EXPECT_DOUBLE_EQ(binary_entropy(0.5), 1);
    EXPECT_DOUBLE_EQ(binary_entropy(0.25), 2 - 0.75 * std::log2(3.0));
    EXPECT_DOUBLE_EQ(binary_entropy(0.11), binary_entropy(0.89));
    EXPECT_NEAR(binary_entropy(1e-18) / (1e-18 * (std::log2(1e18) + std::numbers::log2e)), 1, 1e-14);
}

TEST(compressed, sparse_arrays_keep_their_digits) {
    const double m = 1e15, n = 1e3;  // n log2(em/n), an index list's cost, in the limit
    EXPECT_NEAR(compressed_bits(n, m, 1) / (n * std::log2(std::numbers::e * m / n)), 1, 1e-12);
}

// β is f^(n/z), greatest at p = 1/2 where it is 0.6185, and falls to 1/2 on both sides (Mitzenmacher 2002,
// II-B).
TEST(compressed, half_full_is_the_worst_choice) {
    EXPECT_NEAR(beta(0.5), optimal_rate(1), 1e-15);
    EXPECT_NEAR(gamma(0.5), -1 / std::numbers::ln2, 1e-15);
    for (int percent = 1; percent < 50; ++percent) {
        const double p = percent / 100.0;
        EXPECT_LT(beta(p), beta(p + 0.01));
        EXPECT_NEAR(beta(p), beta(1 - p), 1e-14);
        EXPECT_GT(beta(p), 0.5);
        EXPECT_NEAR(beta(p), std::exp(-std::log(p) * std::log1p(-p) / binary_entropy(p)), 1e-14);
    }
    EXPECT_EQ(gamma(0), -1);
    EXPECT_EQ(gamma(1), -1);
    EXPECT_EQ(beta(0), 0.5);
    EXPECT_EQ(beta(1), 0.5);
    EXPECT_NEAR(beta(1e-300), 0.5, 1e-3);  // the limit is only approached as 1/ln p
}

TEST(compressed, beta_is_the_rate_per_bit) {
    for (const double k : {1.0, 2.0, 5.0}) {
        const double m = 20, z = compressed_bits(1, m, k), f = false_positive_rate_asymptotic(1, m, k);
        EXPECT_NEAR(std::pow(beta(zero_probability_asymptotic(1, m, k)), z) / f, 1, 1e-13);
        EXPECT_GT(f, compressed_limit(z));
    }
}

TEST(compressed, array_fills_its_message) {
    for (const double z : {1.0, 4.0, 8.0, 16.0}) {
        for (int tenths = 1; tenths < 300; ++tenths) {
            const double k = tenths / 10.0, m = compressed_array_for(z, k);
            EXPECT_NEAR(compressed_bits(1, m, k), z, 1e-10 * z) << z << ' ' << k;
            EXPECT_GE(m, z * (1 - 1e-12));
        }
    }
    EXPECT_TRUE(std::isinf(compressed_array_for(8, 1e-3)));
}

// Figures 1 and 2 of Mitzenmacher 2002: with compression, the standard optimum is the curve's maximum.
TEST(compressed, figures_peak_where_the_standard_filter_dips) {
    for (const double z : {8.0, 16.0}) {
        const double best = optimal_hashes(1, z);
        const auto rate = [&](double k) {
            return false_positive_rate_asymptotic(1, compressed_array_for(z, k), k);
        };
        EXPECT_NEAR(compressed_array_for(z, best), z,
                    1e-6);  // flat there: m grows with the square of the step
        EXPECT_NEAR(rate(best) / optimal_rate(z), 1, 1e-7);
        for (int quarters = 1; quarters < 8 * best; ++quarters) {
            const double k = quarters / 4.0;
            EXPECT_LE(rate(k), rate(best) * (1 + 1e-12));
            EXPECT_GE(false_positive_rate_asymptotic(1, z, k), optimal_rate(z) * (1 - 1e-12));
            EXPECT_GT(rate(k), compressed_limit(z));
        }
    }
}

TEST(delta, of_nothing_and_everything) {
    EXPECT_EQ(delta_density(0.5, 0), 0);
    EXPECT_DOUBLE_EQ(delta_density(0.5, 1), 0.5);  // all items replaced: two unrelated half-full arrays
    EXPECT_EQ(delta_density(0, 0.1), 0);
    EXPECT_EQ(delta_density(1, 0.1), 0);
    EXPECT_NEAR(delta_bits(1, 8, 5, 0.05), 8 * binary_entropy(delta_density(std::exp(-0.625), 0.05)), 1e-14);
    EXPECT_NEAR(delta_bits(1, 1e12, 1, 0.1) / (0.2 * std::log2(std::numbers::e * 1e12 / 0.2)), 1, 1e-10);
}

TEST(delta, beta_approaches_its_limits) {
    for (const double c : {0.01, 0.05, 0.3}) {
        EXPECT_DOUBLE_EQ(delta_beta(1, c), delta_limit(1, c));
        // ln β as p → 1 is −ln 2/2c · (1 + O(1/ln(1−p))), slow as before.
        EXPECT_NEAR(std::log2(delta_beta(1 - 1e-15, c)) * 2 * c, -1, 0.2);
        EXPECT_NEAR(delta_beta(1e-300, c), delta_beta(0, c), 0.01);
        // The paper only conjectures that sparse is best for c < 1/2; on this grid it is.
        for (int percent = 1; percent < 100; ++percent) {
            EXPECT_GT(delta_beta(percent / 100.0, c), delta_limit(1, c));
        }
        const double p = std::exp(-2 / 32.0), z = delta_bits(1, 32, 2, c);
        EXPECT_NEAR(std::pow(delta_beta(p, c), z) / false_positive_rate_asymptotic(1, 32, 2), 1, 1e-12);
    }
}

TEST(delta, limit_of_its_size) {
    EXPECT_DOUBLE_EQ(delta_limit_bits(1000, 0.125, 0.05), 2 * 0.05 * 3000);
    for (const double c : {0.01, 0.05, 0.2}) {
        // The two limits are inverse to each other.
        EXPECT_NEAR(delta_limit(delta_limit_bits(1, 0.01, c), c) / 0.01, 1, 1e-12);
        // At one rate and ever larger arrays (fewer and fewer hashes) the delta comes down to it from above.
        double before = INFINITY;
        for (const double k : {2.0, 1.0, 0.5, 0.1, 0.02}) {
            const double m = -k / std::log1p(-std::pow(0.01, 1 / k));
            const double z = delta_bits(1, m, k, c);
            EXPECT_LT(z, before);
            EXPECT_GT(z, delta_limit_bits(1, 0.01, c));
            before = z;
        }
        EXPECT_LT(before, 1.2 * delta_limit_bits(1, 0.01, c));
    }
}

}  // namespace
}  // namespace posy::theory
