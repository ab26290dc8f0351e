#include "posy/packet/multicast_router.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "posy/theory.hpp"
#include "posy/theory/multicast.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

constexpr multicast_router::settings four{.interfaces = 4, .groups = 500, .rate = 0.02};

// Against sets of addresses: what has joined is always served, and the rest errs at the filter's rate. Five
// deviations: a false alarm in 1.7 million runs.
TEST(MulticastRouter, ServesWhoHasJoined) {
    auto router = *multicast_router::make(four);
    std::array<std::multiset<std::uint64_t>, 4> joined;
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const std::size_t at = random() % 4;
        const std::uint64_t group = random() % 300;
        if (random() % 2) {
            ASSERT_TRUE(router.join(at, key_bytes(group)));
            joined[at].insert(group);
        } else if (const auto found = joined[at].find(group); found != joined[at].end()) {
            ASSERT_TRUE(router.leave(at, key_bytes(group)));
            joined[at].erase(found);
        }
    }
    bernoulli errors(10'000);
    for (std::uint64_t group = 0; group < 10'000; ++group) {
        const auto leaves = router.forward(key_bytes(group), 2);
        EXPECT_FALSE(std::ranges::count(leaves, 2U));
        for (const std::size_t at : {0U, 1U, 3U}) {
            const bool sent = std::ranges::count(leaves, at) > 0;
            if (joined[at].contains(group)) {
                EXPECT_TRUE(sent);
            } else {
                errors.add(sent, router.filter(at).projection().false_positive_rate());
            }
        }
    }
    errors.expect(5);
    for (std::size_t at = 0; at < 4; ++at) {
        for (const std::uint64_t group : joined[at]) EXPECT_TRUE(router.leave(at, key_bytes(group)));
        EXPECT_EQ(router.filter(at).projection().ones(), 0U);
    }
    EXPECT_EQ(router.refused(), 0U);
}

TEST(MulticastRouter, SendsUpstreamWhatComesFromBelow) {
    auto with = four;
    with.upstream = 3;
    auto router = *multicast_router::make(with);
    router.join(1, key_bytes(7));
    EXPECT_EQ(router.forward(key_bytes(7), 0), (std::vector<std::size_t>{1, 3}));
    EXPECT_EQ(router.forward(key_bytes(7), 3), (std::vector<std::size_t>{1}));
    EXPECT_EQ(router.forward(key_bytes(7), {}), (std::vector<std::size_t>{1, 3}));
}

TEST(MulticastRouter, RefusesWhatCannotBe) {
    auto router = *multicast_router::make(four);
    EXPECT_FALSE(router.join(4, key_bytes(1)));
    EXPECT_FALSE(router.leave(4, key_bytes(1)));
    EXPECT_FALSE(router.leave(0, key_bytes(1)));
    std::uint64_t joins = 0;
    while (joins < 100'000 && router.join(0, key_bytes(joins))) ++joins;
    EXPECT_EQ(joins, 2'000U);  // four times the plan
    EXPECT_EQ(router.refused(), 4U);
    EXPECT_FALSE(multicast_router::make({}));
    EXPECT_FALSE(multicast_router::make({.interfaces = 2, .upstream = 2}));
}

// A tree of two levels whose interfaces err by the toss of a coin. Five standard errors: a false alarm in 1.7
// million runs.
TEST(MulticastTheory, VainPacketsAreABranchingProcess) {
    constexpr std::array rates{0.2, 0.1};
    constexpr unsigned branches = 4;
    std::mt19937_64 random(1);
    const auto errs = [&](double rate) { return std::generate_canonical<double, 53>(random) < rate; };
    sample none(100'000), one(100'000);
    for (int i = 0; i < 100'000; ++i) {
        int vain = 0, beside = 0;
        for (unsigned a = 0; a < branches; ++a) {
            const bool wrong = errs(rates[0]);
            for (unsigned b = 0; wrong && b < branches; ++b) vain += errs(rates[1]);
            vain += wrong;
        }
        none.add(vain);
        // One member: below the first interface of the first router.
        for (unsigned a = 0; a < branches; ++a) {
            const bool right = a == 0, wrong = !right && errs(rates[0]);
            for (unsigned b = right ? 1 : 0; (right || wrong) && b < branches; ++b) beside += errs(rates[1]);
            beside += wrong;
        }
        one.add(beside);
    }
    none.expect_mean(theory::multicast_vain_packets(branches, rates), 5);
    one.expect_mean(
        theory::multicast_vain_packets(branches, rates, std::array{1.0, 1.0}, std::array{1.0, 1.0}), 5);
}

}  // namespace
}  // namespace posy::packets
