#include "posy/distinct_hitters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace posy {
namespace {

struct traffic {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;  // of key and value
    std::map<std::uint64_t, std::set<std::uint64_t>> truth;

    void add(std::uint64_t key, std::uint64_t value) {
        pairs.emplace_back(key, value);
        truth[key].insert(value);
    }
};

// Keys with many values, keys that come often with few, and many that come once; in mixed order.
traffic mixed() {
    traffic t;
    for (std::uint64_t key = 0; key < 10; ++key)
        for (std::uint64_t value = 0; value < 1000 * (key + 1); ++value) t.add(key, value);
    for (std::uint64_t key = 100; key < 110; ++key)
        for (int i = 0; i < 5000; ++i) t.add(key, static_cast<std::uint64_t>(i) % 20);
    for (std::uint64_t key = 1000; key < 21'000; ++key) t.add(key, key);
    std::shuffle(t.pairs.begin(), t.pairs.end(), std::mt19937_64(5));
    return t;
}

distinct_hitters fed(const traffic& t, std::uint64_t room, std::uint64_t width = 20'000) {
    auto hitters =
        *distinct_hitters::make(*count_min::make(hasher(), width, 4, update_rule::conservative), room);
    for (const auto& [key, value] : t.pairs) hitters.add(std::to_string(key), hasher()(key), hasher()(value));
    return hitters;
}

// Five standard errors: 40 keys, a false alarm in 10^4; the streams are fixed.
TEST(distinct_hitters, the_keys_with_the_most_values) {
    const traffic t = mixed();
    const auto list = fed(t, 160).report(20);
    ASSERT_EQ(list.keys.size(), 20u);
    for (std::size_t rank = 0; rank < 10; ++rank) {
        const auto& [key, different, count] = list.keys[rank];
        const double truth = 1000 * (10.0 - static_cast<double>(rank));
        EXPECT_EQ(key, std::to_string(9 - rank));
        EXPECT_NEAR(different.value, truth, 5 * distinct_counter::standard_error * truth);
        EXPECT_GE(different.high, truth);
        EXPECT_GE(count, truth);
    }
    for (std::size_t rank = 10; rank < 20; ++rank) EXPECT_EQ(list.keys[rank].different.value, 20);
    EXPECT_LT(list.complete_from, 100u);
}

// Hardly any room: keys come and go. No truth is above an interval by more than its error, and no key with
// complete_from values is missing.
TEST(distinct_hitters, what_was_missed_is_in_the_interval) {
    const traffic t = mixed();
    for (const std::uint64_t room : {1u, 5u, 40u}) {
        for (const std::uint64_t width : {50u, 20'000u}) {
            const auto list = fed(t, room, width).report(1000);
            std::set<std::string> listed;
            for (const auto& [key, different, count] : list.keys) {
                listed.insert(key);
                const auto truth = static_cast<double>(t.truth.at(std::stoull(key)).size());
                EXPECT_LE(truth, different.high * (1 + 4 * distinct_counter::standard_error));
                EXPECT_LE(different.low, truth * (1 + 4 * distinct_counter::standard_error));
                EXPECT_LE(different.low, different.value);
            }
            for (const auto& [key, values] : t.truth)
                EXPECT_TRUE(values.size() < list.complete_from || listed.contains(std::to_string(key)));
        }
    }
}

TEST(distinct_hitters, refusals) {
    EXPECT_FALSE(distinct_hitters::make(*count_min::make(hasher(), 10, 2), 0));
    auto used = *count_min::make(hasher(), 10, 2);
    used.add(hasher()(1));
    EXPECT_FALSE(distinct_hitters::make(std::move(used), 5));
}

}  // namespace
}  // namespace posy
