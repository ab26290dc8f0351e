#include "http/forward_clock.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace posy::http {
namespace {

TEST(forward_clock, follows_the_time_of_day_and_never_runs_back) {
    forward_clock clock;
    EXPECT_EQ(clock.at(1000, 10), 1000);
    EXPECT_EQ(clock.at(1005, 15), 1005);
    EXPECT_EQ(clock.at(405, 15), 1005);   // set back by 600: it goes on …
    EXPECT_EQ(clock.at(425, 35), 1025);   // … steadily
    EXPECT_EQ(clock.at(2000, 40), 2000);  // set forward: it follows
    EXPECT_EQ(clock.at(1030, 50), 2010);
    EXPECT_EQ(clock.at(3000, 60), 3000);
}

TEST(forward_clock, whatever_is_done_to_the_time_of_day) {
    std::mt19937_64 random(5);
    forward_clock clock;
    std::int64_t steady = 0, last = clock.at(1'000'000, 0);
    for (int i = 0; i < 10000; ++i) {
        steady += static_cast<std::int64_t>(random() % 10);
        const auto now = clock.at(static_cast<std::int64_t>(random() % 2'000'000), steady);
        ASSERT_GE(now, last);
        last = now;
    }
}

TEST(forward_clock, from_many_threads) {
    forward_clock clock;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&clock, t] {
            std::int64_t last = 0;
            for (int i = 0; i < 5000; ++i) {
                const auto now = clock.at(1000 * t + i % 100, i);
                ASSERT_GE(now, last);
                last = now;
            }
        });
    }
}

}  // namespace
}  // namespace posy::http
