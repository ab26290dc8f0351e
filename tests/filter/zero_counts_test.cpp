#include "filter/zero_counts.hpp"

#include <cmath>
#include <random>

#include "filter/count_distribution.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

// The classic filter has closed forms of its own.
TEST(zero_counts, of_spread_are_the_papers) {
    for (const double n : {1.0, 10.0, 700.0, 1e5}) {
        const zero_counts counts({100'000, 7, layout_id::spread});
        EXPECT_NEAR(counts.expected(n) / 1e5, theory::zero_probability(n, 1e5, 7), 1e-12);
        const double variance = theory::zero_count_variance(n, 1e5, 7);
        EXPECT_NEAR(counts.variance(n), variance, 1e-6 * variance + 1e-9) << n;
        EXPECT_NEAR(counts.items(counts.expected(n)), n, 1e-9 * n);
    }
}

// One key in lines of words sets as many ones as it has hashes, up to eight.
TEST(zero_counts, of_one_key_are_certain) {
    for (const layout_id layout : {layout_id::blocked, layout_id::narrow, layout_id::paired}) {
        for (const unsigned hashes : {2u, 4u, 8u}) {
            const zero_counts counts({5120, hashes, layout});
            EXPECT_NEAR(counts.expected(1), 5120 - hashes, 1e-9);
            EXPECT_NEAR(counts.variance(1), 0, 1e-9);
        }
    }
}

// Two sets of keys, some in both: mean and covariance of the zeros of 20,000 pairs of filters, within five of
// their standard errors (a false alarm in 10^6 per figure).
class zeros_of_layouts : public testing::TestWithParam<layout_id> {};
INSTANTIATE_TEST_SUITE_P(zero_counts, zeros_of_layouts, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

TEST_P(zeros_of_layouts, mean_and_covariance_are_exact) {
    for (const unsigned hashes : {2u, 6u, 14u}) {
        const geometry g{round_up_bits(2048, hashes, GetParam()), hashes, GetParam()};
        constexpr int runs = 20'000, s = 60, t = 90, common = 40;
        const zero_counts counts(g);
        const double expected_s = counts.expected(s), expected_t = counts.expected(t);
        std::mt19937_64 random(hashes);
        sample strays(runs, describe(g) + " mean"), products(runs, describe(g) + " covariance");
        for (int run = 0; run < runs; ++run) {
            auto a = *bloom_filter::make(g), b = *bloom_filter::make(g);
            for (int key = 0; key < s + t - common; ++key) {
                const digest d{random(), random()};
                if (key < s) a.insert(d);
                if (key >= s - common) b.insert(d);
            }
            const double x = counts.bits() - static_cast<double>(a.ones()) - expected_s;
            const double y = counts.bits() - static_cast<double>(b.ones()) - expected_t;
            strays.add(x);
            products.add(x * y);
        }
        strays.expect_mean(0, 5);
        products.expect_mean(counts.covariance(s, t, common), 5);
    }
}

// Mean and variance are what was asked for, below, at and above Poisson's.
TEST(count_distribution, has_its_moments) {
    for (const auto& [mean, variance] :
         {std::pair{0.3, 0.25}, {3.0, 3.0}, {10.0, 4.0}, {5.0, 9.0}, {900.0, 100.0}}) {
        const distribution d = count_distribution(mean, variance);
        double sum = 0, moment = 0, square = 0;
        for (std::size_t i = 0; i < d.p.size(); ++i) {
            const double x = static_cast<double>(d.first) + static_cast<double>(i);
            sum += d.p[i], moment += d.p[i] * x, square += d.p[i] * x * x;
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_NEAR(moment, mean, 0.01 * std::sqrt(variance));
        EXPECT_NEAR(square - moment * moment, variance, 0.05 * variance);
    }
    EXPECT_EQ(count_distribution(0, 0).p.size(), 1u);
}

// Blaker's acceptability by hand: P = 0.05, 0.15, 0.6, 0.15, 0.05.
TEST(count_distribution, tails_by_hand) {
    const distribution d{10, {0.05, 0.15, 0.6, 0.15, 0.05}};
    EXPECT_NEAR(tails_of(d, 10, 0.95).acceptability, 0.1, 1e-12);
    EXPECT_NEAR(tails_of(d, 11, 0.95).acceptability, 0.4, 1e-12);
    EXPECT_NEAR(tails_of(d, 12, 0.95).acceptability, 1, 1e-12);
    EXPECT_EQ(tails_of(d, 9, 0.95).acceptability, 0);
    EXPECT_NEAR(tails_of(d, 14, 0.95).above, 0, 1e-12);
    EXPECT_NEAR(tails_of({0, {0.96, 0.04}}, 1, 0.95).acceptability, 0.04, 1e-12);  // one-sided
}

}  // namespace
}  // namespace posy
