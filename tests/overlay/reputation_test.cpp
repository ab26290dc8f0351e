#include "posy/overlay/reputation.hpp"

#include <random>

namespace posy::overlay {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Lookups of different keys at a peer that has the share `kept` of what its summary names, and false
// positives at the rate that the summary states or at another.
struct trial {
    double predicted, real, named = 0, kept = 0;
    std::uint64_t lookups = 20'000;
};

// After how many false hits it was rested; nothing if it never was.
std::optional<std::uint64_t> rested_after(const trial& t, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto chance = [&](double p) { return static_cast<double>(random() >> 11) * 0x1p-53 < p; };
    reputation r;
    std::uint64_t wrong = 0;
    for (std::uint64_t key = 1; key <= t.lookups; ++key) {
        if (chance(t.named) && chance(t.kept)) {
            r.hit();
        } else if (chance(t.real)) {
            ++wrong;
            r.false_hit(key, key, t.predicted, clock::time_point() + 1h);
            if (r.rests()) return wrong;
        }
    }
    return std::nullopt;
}

// Chernoff bounds at 10^-12, a thousand windows at most: a false alarm here has odds of 10^-7 in all.
TEST(reputation, an_honest_summary_is_never_rested) {
    for (const double rate : {0.0, 1e-6, 0.001, 0.01, 0.1, 0.5, 0.75}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            EXPECT_EQ(rested_after({rate, rate}, seed), std::nullopt) << rate;
            EXPECT_EQ(rested_after({rate, rate, 0.3, 0.9}, seed), std::nullopt) << rate;
        }
    }
    // Stale: half of what it names is gone, far beyond its rate.
    EXPECT_EQ(rested_after({0.01, 0.2, 0.2, 1}, 1), std::nullopt);
}

TEST(reputation, a_lie_is_found_within_some_dozens_of_false_hits) {
    for (const double said : {0.0, 1e-6, 0.001, 0.01}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const auto after = rested_after({said, 1.0}, seed);
            ASSERT_TRUE(after) << said;
            EXPECT_LE(*after, 40u) << said;
        }
    }
    EXPECT_TRUE(rested_after({0.01, 0.1}, 1));
    EXPECT_TRUE(rested_after({0.5, 1.0}, 1));
}

TEST(reputation, one_popular_key_says_no_more_the_second_time) {
    reputation r;
    for (std::uint64_t i = 1; i <= 5000; ++i) r.false_hit(7, i, 0.001, clock::time_point() + 1h);
    EXPECT_EQ(r.rests(), 0u);
}

// Long honesty does not excuse later lies.
TEST(reputation, a_peer_that_turns_bad_is_found_as_soon) {
    reputation r;
    const auto now = clock::time_point() + 1h;
    std::uint64_t lookups = 10'000'000, wrong = 0;
    while (r.rests() == 0 && wrong < 1000) r.false_hit(++wrong, ++lookups, 0.01, now);
    EXPECT_LE(wrong, 40u);
}

TEST(reputation, rests_double_and_end) {
    reputation r;
    auto now = clock::time_point() + 1h;
    std::uint64_t key = 0;
    const auto lie = [&] {
        const auto before = r.rests();
        while (r.rests() == before) ++key, r.false_hit(key, key, 0, now);
        EXPECT_TRUE(r.resting(now));
        const auto rest = r.rests_until() - now;
        now = r.rests_until();
        EXPECT_FALSE(r.resting(now));
        return rest;
    };
    EXPECT_EQ(lie(), 1min);
    EXPECT_EQ(lie(), 2min);
    for (int i = 0; i < 10; ++i) lie();
    EXPECT_EQ(lie(), reputation::longest_rest);
    // A window in which it was right, and its past is forgotten.
    for (std::size_t i = 0; i < reputation::window; ++i) r.hit();
    ++key, r.false_hit(key, key, 0.01, now);
    EXPECT_EQ(lie(), 1min);
}

}  // namespace
}  // namespace posy::overlay
