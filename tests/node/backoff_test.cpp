#include "node/backoff.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

TEST(backoff, doubles_up_to_a_limit_and_is_shortened_by_half_at_most) {
    backoff patience;
    std::chrono::milliseconds most{500};
    for (unsigned failures = 0; failures < 12; ++failures) {
        EXPECT_EQ(patience.failures(), failures);
        const auto pause = patience.failed();
        EXPECT_LE(pause, most) << failures;
        EXPECT_GE(pause, most / 2) << failures;
        most = std::min(2 * most, std::chrono::milliseconds(16'000));
    }
    patience.succeeded();
    EXPECT_EQ(patience.failures(), 0U);
    EXPECT_LE(patience.failed(), std::chrono::milliseconds(500));
}

TEST(backoff, two_that_fail_together_do_not_stay_in_step) {
    backoff one, other;
    int same = 0;
    // Pauses differ by a random share in a thousand and more: equal ten times once in 10^24 runs or less.
    for (int i = 0; i < 10; ++i) same += one.failed() == other.failed();
    EXPECT_LT(same, 10);
}

}  // namespace
}  // namespace posy::node
