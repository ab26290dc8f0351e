#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "posy/theory.hpp"
#include "statistics.hpp"

namespace posy::theory {
namespace {

TEST(sketch_theory, widths_and_depths_keep_their_promise) {
    for (const double promise : {0.9, 0.1, 1e-3, 1e-6}) {
        const double width = count_min_width(promise), depth = count_min_depth(promise);
        EXPECT_LE(count_min_epsilon(width), promise);
        EXPECT_GT(count_min_epsilon(width - 1), promise);
        EXPECT_LE(count_min_delta(static_cast<unsigned>(depth)), promise);
        if (depth > 1) {
            EXPECT_GT(count_min_delta(static_cast<unsigned>(depth) - 1), promise);
        }
    }
    EXPECT_NEAR(count_min_epsilon(1000), std::exp(1.0) / 1000, 1e-8);
    EXPECT_TRUE(std::isinf(count_min_width(1e-10)));
}

// One other key of frequency 5: the least of d Poisson variables, times 5.
TEST(sketch_theory, expected_error_by_hand) {
    const double width = 10, p0 = std::exp(-0.1), p1 = 0.1 * p0, p2 = 0.05 * p1;
    const std::vector<double> one{5};
    EXPECT_DOUBLE_EQ(count_min_error(one, width, 1), 0.5);
    const double two = std::pow(1 - p0, 2) + std::pow(1 - p0 - p1, 2) + std::pow(1 - p0 - p1 - p2, 2);
    EXPECT_NEAR(count_min_error(one, width, 2), 5 * two, 1e-6);
    EXPECT_EQ(count_min_error({}, width, 2), 0);
    const std::vector<double> endless{INFINITY}, unknown{NAN};
    EXPECT_TRUE(std::isinf(count_min_error(endless, width, 2)));
    EXPECT_TRUE(std::isnan(count_min_error(unknown, width, 2)));
}

// Keys thrown into rows: the mean of the least of d sums, over 4000 throws, within 5 standard errors (a false
// alarm in 10^6) and the 1/w that Poisson's law is off. Frequencies from even to very skew, light and heavy
// loads, and one row of numbers (10^6) that the grid takes in steps.
TEST(sketch_theory, expected_error_by_simulation) {
    std::mt19937_64 random(17);
    struct row {
        std::size_t keys;
        double exponent, heaviest, width;
        unsigned depth;
    };
    for (const auto& [keys, exponent, heaviest, width, depth] :
         {row{2000, 1.0, 5000, 400, 3}, row{2000, 0.0, 10, 200, 2}, row{300, 0.5, 100, 500, 4},
          row{5000, 2.0, 1e6, 100, 5}, row{3000, 0.7, 1e6, 300, 3}}) {
        std::vector<double> frequencies;
        for (std::size_t k = 1; k <= keys; ++k)
            frequencies.push_back(std::ceil(heaviest * std::pow(static_cast<double>(k), -exponent)));
        constexpr int throws = 4000;
        sample least_sums(throws, std::to_string(keys) + " keys, exponent " + std::to_string(exponent));
        const double log_miss = std::log1p(-1 / width);
        for (int t = 0; t < throws; ++t) {
            double least = INFINITY;
            for (unsigned r = 0; r < depth; ++r) {
                // The keys that share the counter: gaps between them are geometric.
                double excess = 0;
                for (double k = -1;;) {
                    const double u = static_cast<double>((random() >> 11) + 1) * 0x1p-53;
                    k += 1 + std::floor(std::log(u) / log_miss);
                    if (k >= static_cast<double>(keys)) break;
                    excess += frequencies[static_cast<std::size_t>(k)];
                }
                least = std::min(least, excess);
            }
            least_sums.add(least);
        }
        const double expected = count_min_error(frequencies, width, depth);
        least_sums.expect_mean(expected, 5, expected / width);
        EXPECT_LE(expected, count_min_error(frequencies, width, 1));
    }
}

// Far more keys than e^−700 could count.
TEST(sketch_theory, crowded_counters_do_not_underflow) {
    const std::vector<double> even(100'000, 1.0);
    EXPECT_NEAR(count_min_error(even, 20, 2), 5000 - std::sqrt(5000 / std::numbers::pi), 1);
}

}  // namespace
}  // namespace posy::theory
