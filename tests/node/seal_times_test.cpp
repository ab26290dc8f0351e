#include "node/seal_times.hpp"

#include <gtest/gtest.h>

namespace posy::node {
namespace {

letter_seal sealed_at(std::uint64_t time) { return {time, ""}; }

TEST(SealTimes, ABatchIsTakenOnce) {
    seal_times times;
    EXPECT_TRUE(times.take("a", sealed_at(1000), 1000));
    EXPECT_FALSE(times.take("a", sealed_at(1000), 1000));
    EXPECT_TRUE(times.take("b", sealed_at(1000), 1000));
    EXPECT_TRUE(times.take("a", sealed_at(1002), 1000));
    EXPECT_FALSE(times.take("a", sealed_at(1001), 1010));
}

// What is forgotten to make room could not be repeated any more; the others are kept.
TEST(SealTimes, SendersAreBounded) {
    seal_times times(2);
    constexpr auto validity = letter_seal::validity;
    EXPECT_TRUE(times.take("a", sealed_at(1000), 1000));
    EXPECT_TRUE(times.take("b", sealed_at(2000), 2000));
    EXPECT_FALSE(times.take("c", sealed_at(3000), 1000 + validity - 1));
    EXPECT_TRUE(times.take("c", sealed_at(3000), 1000 + validity));
    EXPECT_FALSE(sealed_at(1000).valid_at(1000 + validity));
    EXPECT_FALSE(times.take("b", sealed_at(2000), 1000 + validity));
}

}  // namespace
}  // namespace posy::node
