#include "proxy/rule_usage.hpp"

#include <gtest/gtest.h>

namespace posy::proxy {
namespace {

using namespace std::chrono_literals;

// A clock that is moved by hand.
struct hours {
    rule_usage::moment at{rule_usage::time_point(1000s), 20'000LL * 86'400};
    void pass(std::chrono::milliseconds time) {
        at.now += time;
        at.seconds += time / 1s;
    }
};

TEST(RuleUsage, LimitsRequestsPerSecond) {
    hours time;
    rule_usage used({.rate = 5});
    const auto burst = [&](const char* who) {
        int taken = 0;
        while (!used.enter(who, time.at)) {
            used.leave(who, 0, time.at);
            ++taken;
        }
        return taken;
    };
    EXPECT_EQ(burst("a"), 10);  // what comes in two seconds
    EXPECT_EQ(burst("b"), 10);
    time.pass(1s);
    EXPECT_EQ(burst("a"), 5);
    time.pass(100s);
    EXPECT_EQ(burst("a"), 10);
    const auto over = used.enter("a", time.at);
    EXPECT_EQ(over->retry, 1);
    EXPECT_NE(over->why.find("more than 5 requests per second of one client"), std::string::npos)
        << over->why;
}

TEST(RuleUsage, LetsSlowRatesThrough) {
    hours time;
    rule_usage used({.rate = 0.1});
    EXPECT_FALSE(used.enter("a", time.at));
    EXPECT_EQ(used.enter("a", time.at)->retry, 10);
    time.pass(9s);
    EXPECT_EQ(used.enter("a", time.at)->retry, 1);
    time.pass(1001ms);
    EXPECT_FALSE(used.enter("a", time.at));
}

TEST(RuleUsage, LimitsWhatIsUnderWay) {
    hours time;
    rule_usage used({.connections = 2, .total_connections = 3});
    EXPECT_FALSE(used.enter("a", time.at));
    EXPECT_FALSE(used.enter("a", time.at));
    EXPECT_NE(used.enter("a", time.at)->why.find("2 requests of one client"), std::string::npos);
    EXPECT_FALSE(used.enter("b", time.at));
    EXPECT_NE(used.enter("c", time.at)->why.find("3 requests of all clients"), std::string::npos);
    used.leave("a", 0, time.at);
    EXPECT_FALSE(used.enter("c", time.at));
    EXPECT_TRUE(used.enter("b", time.at));
}

TEST(RuleUsage, CountsBytesByTheDay) {
    hours time;
    time.pass(10h);
    rule_usage used({.quota = 1000, .total_quota = 1500});
    const auto take = [&](const char* who, std::uint64_t bytes) {
        if (used.enter(who, time.at)) return false;
        used.leave(who, bytes, time.at);
        return true;
    };
    EXPECT_TRUE(take("a", 999));
    EXPECT_TRUE(take("a", 1));
    EXPECT_EQ(used.enter("a", time.at)->retry, 14 * 3600);
    EXPECT_TRUE(take("b", 600));
    EXPECT_FALSE(take("c", 1));  // all together have had theirs
    time.pass(14h);
    EXPECT_TRUE(take("a", 1));
    EXPECT_TRUE(take("c", 1));
}

TEST(RuleUsage, ForgetsTheLeastRecent) {
    hours time;
    rule_usage used({.rate = 1, .connections = 5}, 4);
    EXPECT_FALSE(used.enter("busy", time.at));
    for (int i = 0; i < 100; ++i) {
        const auto name = "x" + std::to_string(i);
        EXPECT_FALSE(used.enter(name, time.at));
        used.leave(name, 0, time.at);
    }
    EXPECT_LE(used.clients(), 4U);
    for (int i = 0; i < 4; ++i) {
        time.pass(1s);
        EXPECT_FALSE(used.enter("busy", time.at));
    }
    EXPECT_TRUE(used.enter("busy", time.at));  // five are under way: it was not forgotten
}

TEST(RuleUsage, WithoutLimitsCountsNobody) {
    hours time;
    rule_usage used(rule_limits{});
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(used.enter(std::to_string(i), time.at));
    used.leave("1", 5, time.at);
    EXPECT_EQ(used.clients(), 0U);
}

}  // namespace
}  // namespace posy::proxy
