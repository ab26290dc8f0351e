#include "posy/candidate_set.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace posy {
namespace {

// Any stream of keys with exact counts: whoever is outside was seen no more often than was dropped.
TEST(candidate_set, what_is_outside_was_seen_no_more_often_than_dropped) {
    std::mt19937_64 random(3);
    for (const std::uint64_t room : {1u, 4u, 30u}) {
        candidate_set set(room);
        std::map<std::uint64_t, std::uint64_t> truth;
        for (int step = 0; step < 5000; ++step) {
            const std::uint64_t key = random() % (1 + random() % 200);
            const std::uint64_t now = ++truth[key];
            set.offer(std::to_string(key), hasher()(key), now);
            ASSERT_LT(set.keys().size(), 2 * room);
        }
        EXPECT_GT(set.dropped(), 0u);
        for (const auto& [key, count] : truth) {
            const auto at = set.keys().find(hasher()(key));
            if (at == set.keys().end()) {
                EXPECT_LE(count, set.dropped());
            } else {
                EXPECT_EQ(at->second, (heavy_hitter{std::to_string(key), count}));
            }
        }
    }
}

TEST(candidate_set, too_light_is_not_taken_and_goes_first) {
    candidate_set set(2);
    set.offer("a", hasher()("a"), 5, 6);
    EXPECT_FALSE(set.contains(hasher()("a")));
    set.offer("a", hasher()("a"), 7, 6);
    EXPECT_TRUE(set.contains(hasher()("a")));
    for (const char* key : {"b", "c", "d"}) set.offer(key, hasher()(key), 20, 10);
    EXPECT_FALSE(set.contains(hasher()("a")));
    EXPECT_EQ(set.keys().size(), 2u);
    EXPECT_EQ(set.dropped(), 20u);  // one of three equals
}

}  // namespace
}  // namespace posy
