#include "posy/packet/digest_table.hpp"

#include <gtest/gtest.h>

#include <random>

#include "imprints.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

constexpr std::uint64_t second = 1'000'000;

digest_table table(const digest_settings& settings) { return *digest_table::make(settings); }

TEST(digest_table, refuses_impossible_settings) {
    EXPECT_FALSE(digest_table::make({.packets = 0}));
    EXPECT_FALSE(digest_table::make({.rate = 0}));
    EXPECT_FALSE(digest_table::make({.rate = 1.5}));
    EXPECT_FALSE(digest_table::make({.interval = 0}));
    EXPECT_FALSE(digest_table::make({.packets = 1'000'000, .memory = 1'000'000}));
    EXPECT_TRUE(digest_table::make({}));
}

// Packets at random times, some of them late; the oracle knows when each came.
TEST(digest_table, finds_every_packet_in_every_window_that_has_its_time) {
    std::mt19937_64 random(1);
    digest_table t = table({.packets = 500, .rate = 0.01, .interval = 10 * second, .memory = 1 << 20});
    std::vector<std::uint64_t> came;
    std::uint64_t now = 1'000'000 * second;
    for (std::uint64_t i = 0; i < 5000; ++i) {
        now += random() % (i % 1000 < 500 ? 2 * second : second / 1000);
        came.push_back(now - random() % (20 * second));
        ASSERT_TRUE(t.insert(numbered(i), came.back()));
    }
    EXPECT_EQ(t.dropped(), 0u);
    EXPECT_GT(t.pages().size(), 100u);
    at_least checked(5000);
    for (std::uint64_t i = 0; i < came.size(); ++i, ++checked) {
        const time_window window{came[i] - random() % second, came[i] + random() % second};
        const auto found = t.find(numbered(i), window);
        ASSERT_TRUE(std::ranges::any_of(
            found.seen, [&](const time_window& page) { return page.from <= came[i] && came[i] <= page.to; }))
            << "packet " << i;
    }
    EXPECT_EQ(t.find(numbered(0), {0, 1000}).pages, 0u);
}

TEST(digest_table, a_page_ends_with_its_interval_or_when_it_is_full) {
    digest_table t = table({.packets = 100, .rate = 0.01, .interval = 10 * second, .memory = 1 << 20});
    for (std::uint64_t i = 0; i < 250; ++i) ASSERT_TRUE(t.insert(numbered(i), i));
    ASSERT_EQ(t.pages().size(), 3u);
    EXPECT_EQ(t.pages()[0].when, (time_window{0, 99}));
    EXPECT_EQ(t.pages()[1].when, (time_window{100, 199}));
    ASSERT_TRUE(t.insert(numbered(0), 200 + 10 * second - 1));
    EXPECT_EQ(t.pages().size(), 3u);
    ASSERT_TRUE(t.insert(numbered(0), 200 + 10 * second));
    EXPECT_EQ(t.pages().size(), 4u);
    // A late packet widens the page in use.
    ASSERT_TRUE(t.insert(numbered(1), 5));
    EXPECT_EQ(t.pages().back().when, (time_window{5, 200 + 10 * second}));
}

TEST(digest_table, forgets_the_oldest_page_when_the_memory_is_used_up) {
    const auto page = table({.packets = 100, .rate = 0.01}).page_plan().memory_bytes();
    digest_table t = table({.packets = 100, .rate = 0.01, .memory = 3 * page + 1});
    at_least sizes(1000);
    for (std::uint64_t i = 0; i < 1000; ++i, ++sizes) {
        ASSERT_TRUE(t.insert(numbered(i), i));
        ASSERT_LE(t.memory_bytes(), 3 * page);
        const std::uint64_t oldest = i / 100 < 2 ? 0 : (i / 100 - 2) * 100;
        ASSERT_EQ(t.pages().front().when.from, oldest);
        ASSERT_FALSE(t.find(numbered(oldest)).seen.empty());
    }
    EXPECT_EQ(t.dropped(), 7u);
}

TEST(digest_table, gives_its_pages_away_in_order) {
    digest_table t = table({.packets = 10, .rate = 0.01, .memory = 1 << 20});
    for (std::uint64_t i = 0; i < 25; ++i) ASSERT_TRUE(t.insert(numbered(i), i));
    EXPECT_EQ(t.take(25)->when, (time_window{0, 9}));
    EXPECT_EQ(t.take(25)->when, (time_window{10, 19}));
    EXPECT_FALSE(t.take(20 + 10 * second - 1));
    EXPECT_EQ(t.take(20 + 10 * second)->when, (time_window{20, 24}));
    EXPECT_FALSE(t.take(~0ull));
    ASSERT_TRUE(t.insert(numbered(1), 30));
    EXPECT_EQ(t.pages().size(), 1u);
    EXPECT_TRUE(t.take(~0ull));
}

// Full pages have the planned rate, and an answer over several pages the rate that it states: five standard
// deviations, a false alarm in 1.7 million runs.
TEST(digest_table, strangers_are_seen_as_often_as_predicted) {
    digest_table t = table({.packets = 2000, .rate = 0.02, .memory = 1 << 20, .seed = {1, 2}});
    for (std::uint64_t i = 0; i < 8000; ++i) ASSERT_TRUE(t.insert(numbered(i), i));
    ASSERT_EQ(t.pages().size(), 4u);
    bernoulli any(20'000);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto found = t.find(numbered(1'000'000 + i));
        any.add(!found.seen.empty(), found.false_positive_rate());
    }
    any.expect(5);
    EXPECT_NEAR(any.expected() / 20'000, 1 - std::pow(0.98, 4), 0.01);
}

// A stranger that one page takes for its own is not likelier to be taken for it by the next: seeds differ.
TEST(digest_table, pages_err_independently) {
    const auto fill = [](digest_table& t) {
        for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(t.insert(numbered(i), i));
        for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(t.insert(numbered(i), 100 * second + i));
    };
    digest_table t = table({.packets = 2000, .rate = 0.05, .memory = 1 << 20});
    fill(t);
    ASSERT_EQ(t.pages().size(), 2u);
    EXPECT_NE(t.pages()[0].filter.geometry().seed, t.pages()[1].filter.geometry().seed);
    bernoulli second_page(1000);
    const double rate = t.pages()[1].filter.false_positive_rate();
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        const imprint stranger = numbered(1'000'000 + i);
        if (t.pages()[0].may_contain(stranger)) second_page.add(t.pages()[1].may_contain(stranger), rate);
    }
    second_page.expect(5);
}

}  // namespace
}  // namespace posy::packets
