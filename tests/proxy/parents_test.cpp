#include "proxy/parents.hpp"

#include <gtest/gtest.h>

namespace posy::proxy {
namespace {

using order = std::vector<std::size_t>;

TEST(Parents, OneThatFailedIsTriedLastForAWhile) {
    parents three(
        {*http::parse_url("http://a:1"), *http::parse_url("http://b:1"), *http::parse_url("http://c:1")});
    http::clock::time_point now{};
    EXPECT_EQ(three.in_order(now), (order{0, 1, 2}));
    three.failed(0, now);
    EXPECT_EQ(three.in_order(now), (order{1, 2, 0}));
    now += parents::rest - std::chrono::milliseconds(1);
    three.failed(1, now);
    EXPECT_EQ(three.in_order(now), (order{2, 0, 1}));
    now += std::chrono::milliseconds(1);
    EXPECT_EQ(three.in_order(now), (order{0, 2, 1}));
    three.worked(1);
    EXPECT_EQ(three.in_order(now), (order{0, 1, 2}));
    EXPECT_FALSE(parents({}).any());
}

TEST(Parents, ALossAndAReturnAreNewsOnce) {
    parents one({*http::parse_url("http://a:1")});
    const http::clock::time_point now{};
    EXPECT_FALSE(one.worked(0));
    EXPECT_TRUE(one.failed(0, now));
    EXPECT_FALSE(one.failed(0, now + 2 * parents::rest));
    EXPECT_TRUE(one.worked(0));
    EXPECT_FALSE(one.worked(0));
    EXPECT_TRUE(one.failed(0, now));
}

}  // namespace
}  // namespace posy::proxy
