#include "reconcile/theory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "statistics.hpp"

namespace posy::theory {
namespace {

// The simulated means in coded_symbols.hpp, for differences of 1 to 100,000.
TEST(reconcile_theory, symbols_are_those_of_the_simulation) {
    const struct {
        double d, an_element, tolerance;
    } rows[] = {{1, 1.00, 0.001},   {8, 1.740, 0.04},     {10, 1.721, 0.04},      {32, 1.577, 0.04},
                {100, 1.452, 0.01}, {1000, 1.375, 0.005}, {10'000, 1.359, 0.002}, {100'000, 1.354, 0.001}};
    for (const auto& [d, each, tolerance] : rows)
        EXPECT_NEAR(symbols_needed(d) / d, each, tolerance * each) << d;
}

// Nodes with at least `grain` keys that part somewhere, counted in tries of random keys.
int count_nodes(std::vector<std::uint64_t>::iterator first, std::vector<std::uint64_t>::iterator last,
                unsigned grain, std::uint64_t bit) {
    if (last - first < static_cast<std::ptrdiff_t>(grain) || bit == 0) return 0;
    const auto middle =
        std::partition_point(first, last, [&](std::uint64_t key) { return (key & bit) == 0; });
    return (middle != first && middle != last ? 1 : 0) + count_nodes(first, middle, grain, bit >> 1) +
           count_nodes(middle, last, grain, bit >> 1);
}

TEST(reconcile_theory, tree_nodes_are_those_of_random_tries) {
    EXPECT_NEAR(tree_nodes(1000, 2), 999, 1e-6);
    EXPECT_NEAR(tree_nodes(1e9, 2), 1e9 - 1, 1);
    EXPECT_EQ(tree_nodes(0, 2), 0);
    std::mt19937_64 random(1);
    for (const unsigned grain : {3u, 8u, 20u}) {
        constexpr int tries = 300, n = 500;
        sample nodes(tries, "grain " + std::to_string(grain));
        for (int t = 0; t < tries; ++t) {
            std::vector<std::uint64_t> keys(n);
            for (auto& key : keys) key = random();
            std::ranges::sort(keys);
            nodes.add(count_nodes(keys.begin(), keys.end(), grain, std::uint64_t{1} << 63));
        }
        // n is fixed here and Poisson in the formula: they differ by less than one node.
        nodes.expect_mean(tree_nodes(n, grain), 4.5, 1);
    }
}

// The walk itself, simulated: others leave at geometric levels, nodes err at random. Was the key reached?
void simulate(int n, unsigned grain, unsigned corrections, double rate, int walks, double expected,
              bernoulli& reached) {
    std::mt19937_64 random(7);
    std::bernoulli_distribution errs(rate);
    for (int w = 0; w < walks; ++w) {
        std::vector<int> leaving(130);
        for (int other = 1; other < n; ++other)
            ++leaving[static_cast<std::size_t>(std::countl_zero(random()))];
        int below = n;
        unsigned row = 0;
        bool lost = false;
        for (const int here : leaving) {
            if (here > 0 && below >= static_cast<int>(grain)) {
                row = errs(random) ? row + 1 : 0;
                lost = lost || row > corrections;
            }
            below -= here;
        }
        reached.add(!lost, expected);
    }
}

// 8,000 walks of 300 keys: 4.5 deviations of a binomial, plus the difference between 299 others and a
// Poisson number of them, which moves the share by less than 0.002 here.
TEST(reconcile_theory, tree_found_is_that_of_a_simulated_walk) {
    for (const unsigned grain : {2u, 5u, 16u}) {
        for (const unsigned corrections : {0u, 1u, 2u}) {
            for (const double rate : {0.05, 0.4}) {
                const double expected = tree_found(tree_path(300, grain), corrections, rate, 0);
                bernoulli reached(8'000, "grain " + std::to_string(grain) + ", corrections " +
                                             std::to_string(corrections) + ", rate " + std::to_string(rate));
                simulate(300, grain, corrections, rate, 8'000, expected, reached);
                reached.expect(4.5, 0.002 * 8'000);
            }
        }
    }
}

// The share found varies between trees because one mistake hides all keys below it: by formula, and in tries
// of 400 random keys in which each node is a mistake or not. 3,000 tries tell a deviation to 1.3 % if it is
// normal; the shares have a longer tail, so 15 %.
TEST(reconcile_theory, tree_found_deviation_is_that_of_simulated_tries) {
    for (const auto& [corrections, rate] : {std::pair{0u, 0.05}, {1u, 0.1}, {1u, 0.3}, {2u, 0.4}}) {
        std::mt19937_64 random(11);
        std::bernoulli_distribution errs(rate);
        constexpr int tries = 3000, n = 400;
        sample shares(tries);
        for (int t = 0; t < tries; ++t) {
            std::vector<std::uint64_t> keys(n);
            for (auto& key : keys) key = random();
            std::ranges::sort(keys);
            int reached = 0;
            const auto walk = [&](const auto& self, auto first, auto last, std::uint64_t bit,
                                  unsigned row) -> void {
                if (last - first < 8) {
                    reached += static_cast<int>(last - first);
                    return;
                }
                const auto middle =
                    std::partition_point(first, last, [&](std::uint64_t k) { return (k & bit) == 0; });
                if (middle == first || middle == last) return self(self, first, last, bit >> 1, row);
                row = errs(random) ? row + 1 : 0;
                if (row > corrections) return;
                self(self, first, middle, bit >> 1, row);
                self(self, middle, last, bit >> 1, row);
            };
            walk(walk, keys.begin(), keys.end(), std::uint64_t{1} << 63, 0u);
            shares.add(reached / static_cast<double>(n));
        }
        const double expected = tree_found_deviation(tree_path(n, 8), corrections, rate, 0, n);
        EXPECT_NEAR(expected, shares.deviation(), 0.15 * shares.deviation()) << corrections << " " << rate;
    }
    EXPECT_EQ(tree_found_deviation(tree_path(1000, 8), 1, 0.1, 0.1, 0), 0);
    EXPECT_NEAR(tree_found_deviation(tree_path(1000, 8), 1, 0, 0.2, 100), std::sqrt(0.2 * 0.8 / 100), 1e-9);
}

TEST(reconcile_theory, at_the_ends) {
    EXPECT_DOUBLE_EQ(filter_found(0.01), 0.99);
    EXPECT_NEAR(tree_found(tree_path(1e6, 8), 1, 0, 0), 1, 1e-12);
    EXPECT_NEAR(tree_found(tree_path(1e6, 8), 1, 0, 0.25), 0.75, 1e-12);
    EXPECT_NEAR(tree_found(tree_path(1e6, 2), 0, 1, 0), 0, 1e-12);
    EXPECT_NEAR(tree_found(tree_path(1, 2), 0, 1, 0), 1, 1e-12);  // no nodes, nothing to go wrong
    EXPECT_NEAR(tree_found(tree_path(0, 2), 0, 1, 0), 1, 1e-12);
    EXPECT_TRUE(std::isfinite(tree_found(tree_path(0x1p64, 64), 15, 0.5, 0.5)));
}

}  // namespace
}  // namespace posy::theory
