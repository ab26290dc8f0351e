#include "http/rates.hpp"

#include <gtest/gtest.h>

namespace posy::http {
namespace {

using namespace std::chrono_literals;

address host(unsigned number) { return boost::asio::ip::address_v4(0x0a000000 + number); }

TEST(Rates, ABucketHoldsTwoSeconds) {
    rates r(10);
    rates::time_point now{};
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(r.take(host(1), now)) << i;
    EXPECT_FALSE(r.take(host(1), now));
    EXPECT_TRUE(r.take(host(2), now));
    EXPECT_TRUE(r.take(host(1), now += 100ms));
    EXPECT_FALSE(r.take(host(1), now));
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(r.take(host(1), now + 1h)) << i;
    EXPECT_FALSE(r.take(host(1), now + 1h));
    rates any(0);
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(any.take(host(1), now));
}

TEST(Rates, AnIPv6HostIsItsNetwork) {
    rates r(1);
    const auto at = [](const char* text) { return boost::asio::ip::make_address(text); };
    EXPECT_TRUE(r.take(at("2001:db8::1"), {}));
    EXPECT_TRUE(r.take(at("2001:db8::2"), {}));
    EXPECT_FALSE(r.take(at("2001:db8::3"), {}));
    EXPECT_TRUE(r.take(at("2001:db8:0:1::1"), {}));
}

TEST(Rates, AnotherLimitCountsAtOnce) {
    rates r(0);
    const rates::time_point now{};
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(r.take(host(0), now));
    r.limit(1);
    EXPECT_TRUE(r.take(host(0), now));
    EXPECT_TRUE(r.take(host(0), now));
    EXPECT_FALSE(r.take(host(0), now));
    r.limit(0);
    EXPECT_TRUE(r.take(host(0), now));
}

TEST(Rates, ManyOthersDoNotResetOneThatKeepsAsking) {
    rates r(1, 100);
    const rates::time_point now{};
    EXPECT_TRUE(r.take(host(0), now));
    EXPECT_TRUE(r.take(host(0), now));
    for (unsigned other = 1; other < 10'000; ++other) {
        EXPECT_TRUE(r.take(host(other), now));
        if (other % 50 == 0) {
            EXPECT_FALSE(r.take(host(0), now)) << other;
        }
    }
    // Those that were asked least recently were forgotten; each of them begins anew.
    EXPECT_TRUE(r.take(host(1), now));
    EXPECT_TRUE(r.take(host(1), now));
    EXPECT_FALSE(r.take(host(1), now));
}

}  // namespace
}  // namespace posy::http
