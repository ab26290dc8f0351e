#include "simulate/bottleneck.hpp"

#include <gtest/gtest.h>

#include "simulate/queues.hpp"

namespace posy::simulate {
namespace {

constexpr std::uint64_t second = 1'000'000;

// A tenth of what `posy simulate blue` has: 40 flows that yield and one that sends twice the link's rate.
bottleneck_settings small() {
    bottleneck_settings s;
    s.yielding = 40;
    s.rate = 4'000, s.unyielding_rate = 8'000;
    return s;
}

struct shares {
    double yielding = 0, unyielding = 0;  // of the link
};

shares measure(packet_queue& queue) {
    const bottleneck_settings s = small();
    bottleneck link(s, queue, 1);
    link.run_until(20 * second);
    link.forget();
    link.run_until(60 * second);
    shares got;
    for (std::uint32_t i = 0; i < s.yielding + s.unyielding; ++i)
        (i < s.yielding ? got.yielding : got.unyielding) +=
            static_cast<double>(link.delivered()[i]) / (40 * s.rate);
    return got;
}

TEST(bottleneck, a_flow_that_does_not_yield_takes_the_link_from_those_that_do) {
    drop_tail tail(200);
    const shares got = measure(tail);
    EXPECT_GT(got.unyielding, 0.9);
    EXPECT_NEAR(got.unyielding + got.yielding, 1, 0.01);
}

// 1 of 41 shares, as the penalty rate says, and at least 95 % of theirs to the others.
TEST(bottleneck, fair_blue_gives_it_its_share) {
    const bottleneck_settings s = small();
    packets::fair_blue_settings how;
    how.limit = 200;
    how.penalty_rate = s.rate / (s.yielding + s.unyielding);
    how.seed = 1;
    fair_blue_of_flows blue(how);
    const shares got = measure(blue);
    EXPECT_NEAR(got.unyielding, 1.0 / 41, 0.1 / 41);
    EXPECT_GT(got.yielding, 0.95 * 40 / 41);
    EXPECT_TRUE(blue.punishes(40));
}

}  // namespace
}  // namespace posy::simulate
