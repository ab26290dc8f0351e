#include "posy/distinct_counter.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "statistics.hpp"

namespace posy {
namespace {

distinct_counter counted(std::uint64_t values, std::uint64_t seed, hash_family family = hash_family::xxh3) {
    const hasher hash(family, {seed});
    distinct_counter counter;
    for (std::uint64_t value = 0; value < values; ++value) counter.add(hash(value));
    return counter;
}

TEST(distinct_counter, few_values_are_counted_exactly) {
    distinct_counter counter;
    EXPECT_EQ(counter.count().value, 0);
    for (std::uint64_t value = 1; value <= distinct_counter::exact; ++value) {
        for (std::uint64_t again = 0; again < value; ++again) counter.add(hasher()(again));
        const estimate there = counter.count();
        ASSERT_EQ(there.value, value);
        ASSERT_EQ(there.low, value);
        ASSERT_EQ(there.high, value);
    }
}

// Parts of every size: exact ones, exact ones that together are not, and registers on either side.
TEST(distinct_counter, united_parts_are_the_counter_of_the_whole) {
    const auto part = [](std::uint64_t from, std::uint64_t to) {
        distinct_counter counter;
        for (std::uint64_t value = from; value < to; ++value) counter.add(hasher()(value));
        return counter;
    };
    for (const std::uint64_t size : {0u, 50u, 100u, 150u, 5'000u})
        for (const std::uint64_t other : {0u, 50u, 100u, 150u, 5'000u}) {
            distinct_counter united = part(0, size);
            united.unite(part(size / 2, size / 2 + other));
            united.unite(united);
            const distinct_counter whole = part(0, std::max(size, size / 2 + other));
            ASSERT_TRUE(std::ranges::equal(united.hashes(), whole.hashes())) << size << " and " << other;
            ASSERT_TRUE(std::ranges::equal(united.highest_runs(), whole.highest_runs()))
                << size << " and " << other;
        }
}

TEST(distinct_counter, is_made_again_of_its_parts_and_of_no_others) {
    for (const std::uint64_t values : {0u, 100u, 50'000u}) {
        const auto counter = counted(values, 1);
        const auto again = distinct_counter::of(counter.hashes(), counter.highest_runs());
        ASSERT_TRUE(again.ok());
        EXPECT_EQ(again->count().value, counter.count().value);
    }
    const auto few = counted(100, 1), many = counted(50'000, 1);
    std::vector<std::uint64_t> hashes(few.hashes().begin(), few.hashes().end());
    std::vector<std::uint8_t> runs(many.highest_runs().begin(), many.highest_runs().end());
    EXPECT_FALSE(distinct_counter::of(hashes, runs).ok());
    EXPECT_FALSE(distinct_counter::of({}, std::span(runs).first(1023)).ok());
    runs[7] = 56;
    EXPECT_FALSE(distinct_counter::of({}, runs).ok());
    std::swap(hashes[3], hashes[4]);
    EXPECT_FALSE(distinct_counter::of(hashes, {}).ok());
    EXPECT_FALSE(distinct_counter::of(std::vector<std::uint64_t>(2, 7), {}).ok());
}

TEST(distinct_counter, the_same_values_change_nothing) {
    const auto once = counted(50'000, 1).count();
    distinct_counter thrice;
    for (int round = 0; round < 3; ++round)
        for (std::uint64_t value = 0; value < 50'000; ++value)
            thrice.add(hasher(hash_family::xxh3, {1})(value));
    EXPECT_EQ(thrice.count().value, once.value);
}

// 200 counters with seeds of their own. The mean has no bias: within 5 standard errors, a false alarm in
// 10^6. The deviation is the one stated, or less where values are few: the deviation of 200 draws is itself
// known to 5 % (a standard error of 1/√400), so 1.25 times the stated one is 5 of its deviations. The
// interval at 95 % holds the truth in at least 170 of 200: were it 95 %, fewer have odds below 10^-7.
TEST(distinct_counter, the_error_is_the_one_stated) {
    for (const std::uint64_t values : {129u, 500u, 2500u, 20'000u, 100'000u}) {
        constexpr unsigned counters = 200;
        sample shares(counters, std::to_string(values) + " values");
        unsigned held = 0;
        for (unsigned seed = 0; seed < counters; ++seed) {
            const estimate e = counted(values, seed).count();
            shares.add(e.value / static_cast<double>(values));
            held += e.low <= static_cast<double>(values) && static_cast<double>(values) <= e.high;
        }
        shares.expect_mean(1, 5);
        EXPECT_LT(shares.deviation(), 1.25 * distinct_counter::standard_error);
        if (values >= 20'000) {
            EXPECT_GT(shares.deviation(), 0.75 * distinct_counter::standard_error);
        }
        EXPECT_GE(held, 170u);
    }
}

// Also where a family mixes only one half well.
TEST(distinct_counter, every_hash_family_will_do) {
    for (const hash_family family : members<hash_family>) {
        if (!check(hasher(family, {7}))) continue;
        const double value = counted(30'000, 7, family).count().value;
        EXPECT_NEAR(value, 30'000, 5 * distinct_counter::standard_error * 30'000) << name_of(family);
    }
}

}  // namespace
}  // namespace posy
