#include "node/letter_gate.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

TEST(LetterGate, OneAtATime) {
    letter_gate gate({.at_a_time = 1, .burst = 10, .interval = 100});
    EXPECT_TRUE(gate.enter("a", 0));
    EXPECT_FALSE(gate.enter("a", 0));
    EXPECT_TRUE(gate.enter("b", 0));
    gate.leave("a");
    EXPECT_TRUE(gate.enter("a", 0));
}

TEST(LetterGate, SoManyPerSecond) {
    letter_gate gate({.at_a_time = 1, .burst = 5, .interval = 100});
    unsigned passed = 0;
    for (std::uint64_t now = 0; now < 10'000; now += 10) {
        if (!gate.enter("a", now)) continue;
        ++passed;
        gate.leave("a");
    }
    EXPECT_GE(passed, 104U);
    EXPECT_LE(passed, 105U);  // five at once, and one for each of 100 intervals
}

TEST(LetterGate, PartiesAreBounded) {
    letter_gate gate({.at_a_time = 1, .burst = 1, .interval = 1'000'000, .most_parties = 10});
    for (unsigned i = 0; i < 10; ++i) EXPECT_TRUE(gate.enter(std::to_string(i), 0));
    EXPECT_FALSE(gate.enter("one too many", 0));
    gate.leave("3");
    EXPECT_TRUE(gate.enter("one for another", 0));
    EXPECT_FALSE(gate.enter("7", 0));  // not forgotten while it is inside
}

}  // namespace
}  // namespace posy::node
