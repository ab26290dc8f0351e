#include "posy/packet/fair_blue.hpp"

#include <gtest/gtest.h>

#include <random>

#include "posy/theory/fair_blue.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

digest flow(std::uint64_t i) { return hasher()(i); }

// Without a rehash, and changes at once.
fair_blue_settings eager() {
    fair_blue_settings s;
    s.limit = 100, s.bin_packets = 5, s.step = 0.1, s.freeze = 0;
    s.rehash = 1'000'000'000, s.warm_up = 0;
    return s;
}

TEST(FairBlue, ProbabilityRisesWhileABinIsLongAndFallsWhenItIsEmpty) {
    fair_blue blue(eager());
    std::vector<fair_blue::ticket> in_queue;
    for (int i = 0; i < 6; ++i) in_queue.push_back(blue.arrive(flow(1), 0, 0.999, true).second);
    EXPECT_EQ(blue.probability(flow(1)), 0);
    const auto [what, ticket] = blue.arrive(flow(1), 1, 0.05, true);  // the seventh finds six
    EXPECT_EQ(what, fate::marked);
    in_queue.push_back(ticket);
    EXPECT_NEAR(blue.probability(flow(1)), 0.1, 1e-12);
    EXPECT_EQ(blue.arrive(flow(1), 2, 0.05, false).first, fate::early);  // does not understand marks
    EXPECT_NEAR(blue.probability(flow(1)), 0.2, 1e-12);
    for (const auto& each : in_queue) blue.leave(each);
    EXPECT_EQ(blue.queued(), 0U);
    blue.leave(blue.arrive(flow(1), 3, 0.999, true).second);
    EXPECT_NEAR(blue.probability(flow(1)), 0.1, 1e-12);
    EXPECT_EQ(blue.probability(flow(2)), 0);
}

TEST(FairBlue, ChangesABinOncePerFreezeTime) {
    auto s = eager();
    s.freeze = 100;
    fair_blue blue(s);
    for (int i = 0; i < 50; ++i) blue.arrive(flow(1), 1'000, 0.999, true);
    EXPECT_NEAR(blue.probability(flow(1)), 0.1, 1e-12);
    blue.arrive(flow(1), 1'100, 0.999, true);
    EXPECT_NEAR(blue.probability(flow(1)), 0.2, 1e-12);
}

// What does not yield gets the penalty rate and its burst; others are not touched.
TEST(FairBlue, LimitsWhatDoesNotYield) {
    auto s = eager();
    s.limit = 1'000, s.bin_packets = 60, s.penalty_rate = 100, s.penalty_burst = 10;
    fair_blue_queue<int> queue(s);
    for (int i = 0; i < 72; ++i) queue.push(0, flow(1), 0, 0.999, true);
    EXPECT_EQ(queue.state().probability(flow(1)), 1);
    std::uint64_t passed = 0, punished = 0;
    for (std::uint64_t now = 0; now < 300'000; now += 10) {
        const fate f = queue.push(0, flow(1), now, 0.5, true);
        passed += is_queued(f), punished += f == fate::punished;
    }
    EXPECT_NEAR(static_cast<double>(passed), 10 + 30, 2);
    EXPECT_EQ(passed + punished, 30'000U);
    EXPECT_EQ(queue.push(2, flow(2), 300'000, 0.5, true), fate::queued);
}

// The next hashes know who does not yield before they decide, if they had time to learn.
TEST(FairBlue, AChangeOfHashesFreesNobodyWhoDoesNotYield) {
    for (const std::uint64_t warm_up : {500'000U, 0U}) {
        auto s = eager();
        s.rehash = 1'000'000, s.warm_up = warm_up, s.step = 0.01;
        fair_blue_queue<int> queue(s);
        std::uint64_t changes = 0;
        at_least checked(9, "changes");
        for (std::uint64_t now = 0; now < 10'000'000; now += 10) {
            queue.push(0, flow(1), now, 0.5, true);
            if (queue.state().changes() != changes) {
                changes = queue.state().changes();
                const double known = queue.state().probability(flow(1));
                EXPECT_TRUE(warm_up ? known > 0.9 : known < 0.1) << known;
                ++checked;
            }
            // Others keep the queue in use.
            if (now % 50 == 0) {
                queue.push(1, flow(2 + now / 50 % 100), now, 0.999, true);
                queue.pop();
            }
        }
    }
}

// Packets of earlier hashes leave, and no counter goes below zero.
TEST(FairBlue, CountsOnlyWhatItsHashesHaveSeen) {
    auto s = eager();
    s.rehash = 1'000, s.warm_up = 100;
    fair_blue_queue<int> queue(s);
    std::mt19937_64 random(1);
    std::uint64_t taken = 0, left = 0;
    for (std::uint64_t now = 0; now < 100'000; now += 7) {
        taken += is_queued(queue.push(0, flow(random() % 50), now, 0.9, true));
        if (random() % 3) left += queue.pop().has_value();
    }
    while (queue.pop()) ++left;
    EXPECT_EQ(taken, left);
    EXPECT_EQ(queue.state().queued(), 0U);
    // All bins are empty: an arrival lowers a probability and raises none.
    for (std::uint64_t i = 0; i < 50; ++i) {
        const double had = queue.state().probability(flow(i));
        queue.push(0, flow(i), 100'001, 0.99999, true);
        EXPECT_LE(queue.state().probability(flow(i)), had);
        queue.pop();
    }
}

// How many of 1,000 flows are punished with one that is not theirs: five deviations, a false alarm in 1.7
// million runs.
TEST(FairBlue, AccidentsAreThoseOfTheory) {
    bernoulli accidents(200'000);
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto s = eager();
        s.levels = 2, s.bins = 11, s.seed = seed, s.step = 1;
        fair_blue blue(s);
        for (int i = 0; i < 10; ++i) blue.arrive(flow(0), 0, 0.9, true);
        ASSERT_EQ(blue.probability(flow(0)), 1);
        for (std::uint64_t i = 1; i <= 1'000; ++i)
            accidents.add(blue.probability(flow(i)) == 1, theory::fair_blue_accident(2, 11, 1));
    }
    accidents.expect(5);
}

}  // namespace
}  // namespace posy::packets
