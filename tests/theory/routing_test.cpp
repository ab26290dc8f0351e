#include "posy/theory/routing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "overlay/position_code.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"

namespace posy::theory {
namespace {

TEST(routing_theory, positions_cost_what_the_coder_takes) {
    std::mt19937_64 random(1);
    for (const auto& [m, j] : {std::pair{1'000'000.0, 1.0},
                               {1'000'000.0, 4.0},
                               {7264.0, 3.0},
                               {7264.0, 400.0},
                               {5000.0, 4000.0}}) {
        sample bytes(300);
        for (int i = 0; i < 300; ++i) {
            std::set<overlay::position> chosen;
            while (static_cast<double>(chosen.size()) < j) {
                chosen.insert(static_cast<overlay::position>(random() % static_cast<std::uint64_t>(m)));
            }
            const std::vector<overlay::position> positions(chosen.begin(), chosen.end());
            std::vector<std::byte> code;
            overlay::put_positions(code, positions, static_cast<std::uint64_t>(m));
            bytes.add(static_cast<double>(code.size()));
        }
        const double count = j < 128 ? 1 : 2;  // bytes of the number of positions
        // Five errors: a false alarm in 1.7 million. The last byte need not be half empty.
        bytes.expect_mean(coded_positions_bytes(m, j, count), 5, 0.5);
    }
}

TEST(routing_theory, a_change_of_an_empty_set_sends_all_its_bits) {
    EXPECT_NEAR(change_bytes(0, 1e6, 4, 15, 9), coded_positions_bytes(1e6, 4, 15) + 9, 1e-9);
    EXPECT_NEAR(change_bytes(1e9, 1e6, 4, 15, 9), 0, 1e-9);
}

//        0
//      1   2
//     3 4
const tree_shape five({0, 0, 0, 1, 1}, {10, 20, 30, 40, 50});

TEST(routing_theory, a_tree_adds_up) {
    EXPECT_EQ(five.objects_below(0), 150);
    EXPECT_EQ(five.objects_below(1), 110);
    EXPECT_EQ(five.way_up(4), (std::vector<std::uint32_t>{4, 1, 0}));
    const auto rate = [](double n) { return false_positive_rate_mean_fill(n, 500, 4); };
    const auto into = false_forwards_into(five, 500, 4);
    EXPECT_DOUBLE_EQ(into[3], rate(40));
    EXPECT_DOUBLE_EQ(into[1], rate(110) + rate(40) + rate(50));
    EXPECT_DOUBLE_EQ(into[2], rate(30));

    // From 3 to 2: at 1 all of 4, which is on no way; at the root nothing is left but 2 itself.
    EXPECT_DOUBLE_EQ(false_forwards(five, into, 3, 2), into[4]);
    // From 2 to 4: at the root only 1, which is right; at 1 half of 3.
    EXPECT_DOUBLE_EQ(false_forwards(five, into, 2, 4), into[3] / 2);
    // From the root to 3: half of 2, then half of 4.
    EXPECT_DOUBLE_EQ(false_forwards(five, into, 0, 3), into[2] / 2 + into[4] / 2);
    // To the root from 1: 3 and 4 before it goes up, and at the root it is found.
    EXPECT_DOUBLE_EQ(false_forwards(five, into, 1, 0), into[3] + into[4]);
    EXPECT_EQ(false_forwards(five, into, 4, 4), 0);
    EXPECT_DOUBLE_EQ(false_forwards_of_absent(five, into, 3), into[4] + into[2]);
}

TEST(routing_theory, a_change_in_a_tree_pays_every_link) {
    const double bytes = tree_change_bytes(five, 3, 1e5, 4, 15, 9);
    EXPECT_DOUBLE_EQ(bytes, change_bytes(39, 1e5, 4, 15, 9) + change_bytes(109, 1e5, 4, 15, 9));
    EXPECT_EQ(tree_change_bytes(five, 0, 1e5, 4, 15, 9), 0);
}

TEST(routing_theory, a_way_is_open_while_all_of_its_nodes_are) {
    EXPECT_DOUBLE_EQ(open_way_probability(0.2, 0, 10), 1);
    EXPECT_DOUBLE_EQ(open_way_probability(0.2, 0.5, 1), 1 / 1.1);  // up for 5 of 5.5 hours
    EXPECT_DOUBLE_EQ(open_way_probability(0.2, 0.5, 3), std::pow(1 / 1.1, 3));
    EXPECT_DOUBLE_EQ(wait_for_repair(60, 0, 10), 35);
    EXPECT_DOUBLE_EQ(wait_for_repair(0, 30, 0), 10);  // of lengths up to 30, a third of the longest
    EXPECT_DOUBLE_EQ(wait_for_repair(60, 0, 10, 0.5), 65);
    // The definition, by sums.
    for (const double x : {1e-5, 0.03, 2.0}) {
        double sum = 0;
        for (int i = 0; i < 1000; ++i) sum += std::pow(std::expm1(-x * (i + 0.5) / 1000), 2) / 1000;
        EXPECT_NEAR(both_failed_probability(x, 1) / sum, 1, 1e-5);
    }
    EXPECT_DOUBLE_EQ(both_failed_variance(0.5, 0.2, 4), 0.01 / 24);
}

TEST(routing_theory, attenuated_filters_of_one_level) {
    const std::vector<double> one{0.01};
    EXPECT_NEAR(attenuated_false_forwards(one, 4), 1 - std::pow(0.99, 4), 1e-15);
    // The right neighbour is the first of 1 + B that say yes.
    double right = 0;
    const double odds[] = {std::pow(0.99, 3), 3 * 0.01 * 0.99 * 0.99, 3 * 0.01 * 0.01 * 0.99, 1e-6};
    for (int b = 0; b < 4; ++b) right += odds[b] / (b + 1);
    EXPECT_NEAR(attenuated_straying(one, 4, 1), 1 - right, 1e-12);
    EXPECT_EQ(attenuated_straying(one, 4, 0), 0);
}

// Small rates: the first wrong hop is nearly all there is.
TEST(routing_theory, attenuated_false_forwards_grow_with_the_levels) {
    const std::vector<double> rates{1e-6, 1e-4, 1e-2};
    const double hops = attenuated_false_forwards(rates, 4);
    EXPECT_GT(hops, 1 - std::pow(0.99, 4));
    EXPECT_LT(hops, 4 * (1e-6 + 1e-4 + 1e-2) * 1.05);
    EXPECT_LT(attenuated_false_forwards(std::vector<double>{1e-6, 1e-4}, 4), 5e-4);
    const std::vector<double> sizes{10, 30};
    EXPECT_DOUBLE_EQ(attenuated_change_bytes(sizes, 4, 1e5, 4, 17, 9),
                     4 * change_bytes(9, 1e5, 4, 17, 9) + 12 * change_bytes(29, 1e5, 4, 17, 9));
    EXPECT_NEAR(near_copy_probability(53, 10'000, 1), 0.0053, 1e-12);
    EXPECT_EQ(ring_hops(1024), 6);
}

}  // namespace
}  // namespace posy::theory
