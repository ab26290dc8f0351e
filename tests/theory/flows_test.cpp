#include "posy/theory/flows.hpp"

#include <gtest/gtest.h>

namespace posy::theory {
namespace {

// The example of the paper: 100,000 flows, 100 MB, a threshold of 1 MB, four stages of 1,000 counters.
TEST(flow_theory, the_example_of_the_paper) {
    const double k = stage_strength(1e6, 1000, 1e8);
    EXPECT_DOUBLE_EQ(k, 10);
    EXPECT_NEAR(multistage_pass_bound(1e5, 1e6, k, 4), 1.524e-4, 1e-7);
    EXPECT_NEAR(multistage_entries(1e5, 1000, k, 4), 121.2, 0.05);
    EXPECT_NEAR(multistage_undetected(1e6, k, 4, 1500), 1e6 * (1 - 4 / 30.0) - 1500, 1e-6);
}

TEST(flow_theory, where_the_bounds_say_nothing) {
    EXPECT_EQ(multistage_pass_bound(9e5, 1e6, 10, 4), 1);  // T(1 − 1/k): every counter may be that full
    EXPECT_EQ(multistage_pass_bound(2e6, 1e6, 10, 4), 1);
    EXPECT_EQ(multistage_pass_bound(0, 1e6, 0.5, 4), 1);
    EXPECT_EQ(multistage_entries(1000, 1000, 1, 4), 1000);
    EXPECT_EQ(multistage_entries(10, 1000, 10, 4), 10);
    EXPECT_EQ(multistage_undetected(1e6, 1, 4, 1500), 0);
    EXPECT_EQ(multistage_undetected(1e6, 10, 1, 1500), 0);
}

TEST(flow_theory, more_stages_and_wider_ones_pass_less) {
    for (unsigned d = 1; d < 8; ++d) {
        EXPECT_LT(multistage_pass_bound(1e5, 1e6, 10, d + 1), multistage_pass_bound(1e5, 1e6, 10, d));
        EXPECT_LT(multistage_pass_bound(1e5, 1e6, 20, d), multistage_pass_bound(1e5, 1e6, 10, d));
        EXPECT_LE(multistage_entries(1e5, 1000, 10, d + 1), multistage_entries(1e5, 1000, 10, d));
    }
}

}  // namespace
}  // namespace posy::theory
