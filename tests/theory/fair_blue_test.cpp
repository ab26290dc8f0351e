#include "posy/theory/fair_blue.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace posy::theory {
namespace {

TEST(FairBlueTheory, AccidentsAreSharedBinsInAllLevels) {
    EXPECT_NEAR(fair_blue_accident(2, 23, 1), 1 / 529.0, 1e-15);
    EXPECT_NEAR(fair_blue_accident(1, 2, 2), 0.75, 1e-15);
    EXPECT_NEAR(fair_blue_accident(8, 16, 1), std::pow(16.0, -8), 1e-20);
    EXPECT_EQ(fair_blue_accident(2, 23, 0), 0);
}

}  // namespace
}  // namespace posy::theory
