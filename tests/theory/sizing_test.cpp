#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "posy/theory.hpp"

namespace posy::theory {
namespace {

using std::numbers::ln2;

TEST(optimum, leaves_half_the_bits_zero) {
    for (const double m : {20.0, 1e3, 1e9}) {
        const double n = m / 10;
        EXPECT_NEAR(zero_probability_asymptotic(n, m, optimal_hashes(n, m)), 0.5, 1e-14);
        EXPECT_NEAR(zero_probability(n, m, optimal_hashes_exact(n, m)), 0.5, 1e-14);
        EXPECT_LT(optimal_hashes_exact(n, m), optimal_hashes(n, m));
        EXPECT_NEAR(false_positive_rate_asymptotic(n, m, optimal_hashes(n, m)) / optimal_rate(10), 1, 1e-13);
    }
    EXPECT_NEAR(optimal_rate(1), 0.6185, 5e-5);
}

TEST(optimum, integral_one_is_the_least_of_all) {
    for (int tenths = 1; tenths < 600; ++tenths) {
        const double bits_per_item = tenths / 10.0;
        const unsigned best = optimal_hashes_integral(1, bits_per_item);
        const double rate = false_positive_rate_asymptotic(1, bits_per_item, best);
        ASSERT_GE(best, 1U);
        for (unsigned k = 1; k < 60; ++k)
            EXPECT_LE(rate, false_positive_rate_asymptotic(1, bits_per_item, k));
    }
    EXPECT_EQ(optimal_hashes_integral(1, 1e6), 693147U);  // where the rate itself has long underflowed
}

TEST(hadoop, agrees_with_the_book_where_the_book_is_right) {
    EXPECT_EQ(hadoop_bits(1000, 0.01), 9586U);
    EXPECT_EQ(hadoop_printed_bits(1000, 0.01F), 9585);  // truncated: one bit short
    EXPECT_EQ(hadoop_hashes(1000, 9586), 7U);
    EXPECT_EQ(hadoop_printed_hashes(1000, 9586), 7);
}

TEST(hadoop, keeps_its_promise_where_truncation_breaks_it) {
    for (const double rate : {0.3, 0.1, 0.01, 1e-6}) {
        for (const int items : {1, 7, 100, 12345}) {
            EXPECT_LE(optimal_rate(static_cast<double>(hadoop_bits(items, rate)) / items), rate);
            EXPECT_GT(optimal_rate(static_cast<double>(hadoop_printed_bits(items, static_cast<float>(rate))) /
                                   items),
                      rate);
        }
    }
}

TEST(hadoop, is_exact_where_float_is_not) {
    const double items = 150'000'001, exact = std::ceil(-items * std::log(0.01) / (ln2 * ln2));
    EXPECT_EQ(static_cast<double>(hadoop_bits(items, 0.01)), exact);
    EXPECT_GT(std::abs(hadoop_printed_bits(150'000'001, 0.01F) - exact), 30);
}

TEST(hadoop, goes_beyond_two_billion_bits) {
    EXPECT_EQ(hadoop_printed_bits(1'000'000'000, 0.01F), std::numeric_limits<int>::max());
    EXPECT_EQ(hadoop_bits(1e9, 0.01), 9'585'058'378U);
    // The filter that int allows has 2.1 bits per item: a rate of 36 % where 1 % was asked for.
    EXPECT_GT(optimal_rate(0x1p31 / 1e9), 0.35);
    EXPECT_EQ(hadoop_bits(1e20, 1e-9), std::numeric_limits<std::uint64_t>::max());
}

TEST(hadoop, has_at_least_one_hash_and_one_bit) {
    EXPECT_EQ(hadoop_printed_hashes(1000, 700), 0);
    EXPECT_EQ(hadoop_hashes(1000, 700), 1U);
    EXPECT_EQ(hadoop_bits(10, 1), 1U);
}

}  // namespace
}  // namespace posy::theory
