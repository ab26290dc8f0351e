#include "posy/store/rate_watch.hpp"

#include <gtest/gtest.h>

#include <random>

#include "statistics.hpp"

namespace posy::store {
namespace {

// Answers until the alarm, at most `most`.
double until_alarm(double planned, double rate, std::uint64_t most, std::mt19937_64& random) {
    auto watch = *rate_watch::make(planned, 2);
    std::bernoulli_distribution is_wrong(rate);
    for (std::uint64_t i = 1; i <= most; ++i) {
        is_wrong(random) ? watch.wrong() : watch.right();
        if (watch.evident()) return static_cast<double>(i);
    }
    return static_cast<double>(most) + 1;
}

TEST(RateWatch, HasNoFalseAlarmAtThePlannedRate) {
    std::mt19937_64 random(1);
    // At most one alarm in 10^9 answers is expected, so one in these 2·10^7 has odds of 2 %, if it were at
    // its worst; the bound is far from tight.
    EXPECT_GT(until_alarm(0.01, 0.01, 20'000'000, random), 20'000'000);
}

TEST(RateWatch, SeesTwiceTheRateSoon) {
    std::mt19937_64 random(2);
    sample answers(200);
    for (int i = 0; i < 200; ++i) answers.add(until_alarm(0.01, 0.02, 1'000'000, random));
    // Wald: limit/(2p ln 2 + (1 − 2p) ln((1 − 2p)/(1 − p))) = 5,354 from a sum of 0; the floor at 0 makes it
    // less, by a few percent, and the last step overshoots by at most ln 2 of 20.7.
    EXPECT_NEAR(answers.mean(), 5'354, 400 + 4 * answers.standard_error());  // 4 deviations: 1 in 16,000
}

TEST(RateWatch, AGoodPastDoesNotHideABadPresent) {
    auto watch = *rate_watch::make(0.01, 2);
    for (int i = 0; i < 10'000'000; ++i) watch.right();
    for (int i = 0; i < 29; ++i) watch.wrong();
    EXPECT_FALSE(watch.evident());  // 29 ln 2 = 20.1
    watch.wrong();
    EXPECT_TRUE(watch.evident());
    watch.restart();
    EXPECT_FALSE(watch.evident());
}

TEST(RateWatch, RefusesWhatCannotBeWatched) {
    EXPECT_FALSE(rate_watch::make(0, 2));
    EXPECT_FALSE(rate_watch::make(0.01, 1));
    EXPECT_FALSE(rate_watch::make(0.5, 2));
    EXPECT_TRUE(rate_watch::make(0.49, 2));
}

}  // namespace
}  // namespace posy::store
