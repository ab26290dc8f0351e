#include "posy/window_filter.hpp"

#include <cmath>
#include <memory>

#include "checked.hpp"
#include "payload.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

class every_layout_ages : public testing::TestWithParam<layout_id> {
  protected:
    // Large arrays: one false positive in millions of questions.
    window_filter roomy(std::uint64_t window, unsigned generations, std::uint64_t items = 10'000) const {
        return *window_filter::make({round_up_bits(60'000, 8, GetParam()), 8, GetParam()}, {items, 0.01},
                                    window, generations);
    }
};
INSTANTIATE_TEST_SUITE_P(window_filter, every_layout_ages, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

// A key that is younger than the window is there, always. One that is older than the window and a slot is
// gone, but for false positives, of which these arrays have next to none. In between it may be either. The
// same holds where every array is full after a key or two, and others follow in the slot.
TEST_P(every_layout_ages, remembers_the_window_and_forgets_within_a_slot) {
    for (const unsigned generations : {1u, 2u, 5u, 16u}) {
        for (const std::uint64_t window : {16u, 100u, 999u}) {
            checked filter(roomy(window, generations, window == 100 ? 2 * generations : 10'000));
            const hasher hash = filter->hash();
            EXPECT_GE(filter->remembered_at_least(), window);
            EXPECT_LT(filter->remembered_at_least(), window + generations);
            EXPECT_EQ(filter->forgotten_after(), filter->remembered_at_least() + filter->slot());
            std::mt19937_64 random(window);
            std::uint64_t now = 1000;
            at_least kept(101, "keys of the window"), gone(101, "forgotten keys");
            for (int step = 0; step < 1500; ++step) {
                now += random() % (window / 8 + 1);
                if (random() % 100 == 0) now += 3 * window;  // a pause
                const std::uint64_t key = random() % 12;
                if (random() % 2 == 0) {
                    EXPECT_TRUE(filter.insert(hash(key), now));
                }
                const digest asked = hash(random() % 12);
                const std::uint64_t later = now + random() % (2 * window);
                const bool there = filter.may_contain(asked, later);
                const auto seen = filter.number_of(asked);
                if (seen && later - *seen <= window) {
                    ASSERT_TRUE(there);
                    ++kept;
                } else if (!seen || later - *seen >= filter->forgotten_after()) {
                    ASSERT_FALSE(there);
                    ++gone;
                }
            }
        }
    }
}

// Exactly where the edges are: a key of slot s is there until slot s + g ends.
TEST_P(every_layout_ages, the_edges) {
    auto filter = roomy(100, 4);
    const digest d = filter.hash()("x");
    EXPECT_EQ(filter.slot(), 25u);
    EXPECT_TRUE(filter.insert(d, 1049));  // the last moment of its slot: no longer than the window
    EXPECT_TRUE(filter.may_contain(d, 1049 + 100));
    EXPECT_FALSE(filter.may_contain(d, 1049 + 101));
    EXPECT_TRUE(filter.insert(d, 1050));  // the first, and nothing behind it in its slot: the same
    EXPECT_TRUE(filter.may_contain(d, 1050 + 100));
    EXPECT_FALSE(filter.may_contain(d, 1050 + 101));
    EXPECT_TRUE(filter.insert(filter.hash()("y"), 1074));  // another in the last moment: a slot longer
    EXPECT_TRUE(filter.may_contain(d, 1050 + 124));
    EXPECT_FALSE(filter.may_contain(d, 1050 + 125));
    // Time does not run backwards.
    EXPECT_TRUE(filter.may_contain(d, 0));
    EXPECT_EQ(filter.latest(), 1074u);
    EXPECT_EQ(filter.items(1074), 3u);
    EXPECT_EQ(filter.items(1150), 2u);
    EXPECT_EQ(filter.items(1175), 0u);
    EXPECT_EQ(filter.arrays(1149), 2u);
    EXPECT_EQ(filter.arrays(1150), 1u);
    EXPECT_EQ(filter.arrays(1175), 0u);
}

// A key that the array in use has already takes no room, and is remembered from its last insertion on.
TEST_P(every_layout_ages, repeated_keys_take_no_room) {
    auto filter = roomy(100, 4, 8);
    const digest d = filter.hash()("x");
    EXPECT_EQ(filter.quota(), 2u);
    for (std::uint64_t time = 1000; time < 1020; ++time) EXPECT_TRUE(filter.insert(d, time));
    EXPECT_EQ(filter.items(1020), 1u);
    EXPECT_TRUE(filter.may_contain(d, 1019 + 100));
    EXPECT_FALSE(filter.may_contain(d, 1019 + 101));
    // Two others: the second begins an array, in which x counts again.
    for (const char* other : {"y", "z"}) EXPECT_TRUE(filter.insert(filter.hash()(other), 1020));
    EXPECT_EQ(filter.arrays(1020), 2u);
    EXPECT_TRUE(filter.insert(d, 1021));
    EXPECT_EQ(filter.items(1021), 4u);
    EXPECT_FALSE(filter.may_contain(filter.hash()("y"), 1020 + 101));
    EXPECT_TRUE(filter.may_contain(d, 1021 + 100));
}

// The age of a late key counts from its own time. One that is older than the window is refused.
TEST_P(every_layout_ages, late_keys) {
    auto filter = roomy(100, 4);
    const hasher hash = filter.hash();
    EXPECT_TRUE(filter.insert(hash("now"), 1000));
    EXPECT_TRUE(filter.insert(hash("late"), 930));
    EXPECT_TRUE(filter.may_contain(hash("late"), 1000));
    EXPECT_TRUE(filter.may_contain(hash("late"), 1030));
    EXPECT_FALSE(filter.may_contain(hash("late"), 1031));
    EXPECT_TRUE(filter.may_contain(hash("now"), 1050));
    EXPECT_TRUE(filter.insert(hash("just"), 900));
    EXPECT_TRUE(filter.may_contain(hash("just"), 1000));
    EXPECT_FALSE(filter.may_contain(hash("just"), 1001));
    EXPECT_FALSE(filter.insert(hash("too late"), 899));
    EXPECT_FALSE(filter.may_contain(hash("too late"), 1000));
    EXPECT_TRUE(filter.insert(hash("first"), 5000));
    EXPECT_FALSE(filter.may_contain(hash("now"), 5000));
}

// As many keys as were planned for: the rate is at most the promised one, and it is what is measured,
// within 4.5 binomial deviations (a false alarm in 10^5). Batches answer as single questions do.
TEST_P(every_layout_ages, rate) {
    for (const unsigned generations : {1u, 4u, 10u}) {
        constexpr std::uint64_t items = 20'000;
        auto filter = *window_filter::with_rate(items, 0.01, 1'000'000, generations, GetParam());
        const hasher hash = filter.hash();
        std::uint64_t time = 0;
        for (std::uint64_t key = 0; key < 3 * items; ++key) {
            time = key * (1'000'000 / items);
            ASSERT_TRUE(filter.insert(hash(key), time));
        }
        const double rate = filter.false_positive_rate(time);
        EXPECT_LE(rate, 0.0105);  // 5 deviations of the fill of some thousand keys
        EXPECT_GT(rate, 0.005);
        // As planned at both edges of a slot: at its end all filters are full, at its beginning the new one
        // is empty. To the same 5 deviations.
        const double one =
            window_filter::plan_generation({items, 0.01}, generations, GetParam())->false_positive_rate;
        const auto full = [&](unsigned filters) { return 1 - std::pow(1 - one, filters); };
        EXPECT_NEAR(rate, full(generations + 1), 0.05 * rate);
        EXPECT_NEAR(filter.false_positive_rate(time + filter.slot()), full(generations), 0.05 * rate);
        EXPECT_EQ(filter.arrays(time), generations + 1);
        EXPECT_EQ(filter.memory_bytes(), (generations + 1) * ((filter.geometry().bits + 63) / 64 * 8));
        constexpr std::size_t queries = 50'000;
        std::vector<digest> digests;
        for (std::uint64_t key = 0; key < queries; ++key) digests.push_back(hash(1'000'000 + key));
        const std::unique_ptr<bool[]> answers(new bool[queries]);
        bernoulli absent(queries);
        absent.add(filter.may_contain(digests, time, {answers.get(), queries}), queries, rate);
        absent.expect(4.5);
        for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(answers[i], filter.may_contain(digests[i], time));
        EXPECT_EQ(filter.false_positive_rate(time + 3'000'000), 0);
    }
}

// Two filters that each saw a part of the keys, and one that saw all of them.
TEST_P(every_layout_ages, union_saw_it_all) {
    for (const std::uint64_t pause : {0u, 60u, 400u}) {
        checked a(roomy(100, 4)), b(roomy(100, 4)), both(roomy(100, 4));
        const hasher hash = a->hash();
        std::mt19937_64 random(pause);
        for (std::uint64_t time = 1000; time < 1200; ++time) {
            (random() % 2 ? a : b).insert(hash(time), time);
            both.insert(hash(time), time);
        }
        b.insert(hash("later"), 1200 + pause);
        both.insert(hash("later"), 1200 + pause);
        auto reverse = b.sent();
        ASSERT_TRUE(unite(reverse, a));
        ASSERT_TRUE(unite(a, b));
        EXPECT_EQ(hex(payload_of(*a)), hex(payload_of(*both)));
        EXPECT_EQ(hex(payload_of(*reverse)), hex(payload_of(*both)));
    }
    auto a = roomy(100, 4);
    EXPECT_EQ(
        unite(a, roomy(100, 5)).error().message,
        "the windows differ: 4 generations of 25 for 10000 keys at a rate of 0.010000, and 5 generations "
        "of 20 for 10000 keys at a rate of 0.010000; only equals unite");
    EXPECT_FALSE(unite(a, roomy(104, 4)));
    EXPECT_FALSE(unite(a, roomy(100, 4, 9'999)));
    EXPECT_FALSE(unite(a, *window_filter::make({512, 3}, {100, 0.01}, 100, 4)));
}

// Several arrays per slot: the union contains at every time what either filter does, and nothing else but
// false positives, of which there are next to none. Keys that come afterwards fill the array with room.
TEST_P(every_layout_ages, union_of_full_arrays) {
    checked a(roomy(100, 4, 40)), b(roomy(100, 4, 40));
    const hasher hash = a->hash();
    std::mt19937_64 random(1);
    for (std::uint64_t key = 0; key < 200; ++key) {
        const std::uint64_t time = 1000 + random() % 90;
        (random() % 3 ? a : b).insert(hash(key), time);
    }
    auto both = a.sent();
    ASSERT_TRUE(unite(both, b));
    EXPECT_EQ(both->items(1090), a->items(1090) + b->items(1090));
    EXPECT_LE(both->arrays(1090), a->arrays(1090) + b->arrays(1090));
    EXPECT_GT(both.known().size(), 150u);
    for (std::uint64_t time = 1090; time < 1220; ++time) {
        for (const auto& [d, last] : both.known()) {
            const bool there = both.may_contain(d, time);
            ASSERT_TRUE(there || (!a.may_contain(d, time) && !b.may_contain(d, time)));
            ASSERT_TRUE(!there || time - last < both->forgotten_after());
        }
    }
    const std::uint64_t arrays = both->arrays(1090);
    EXPECT_TRUE(both.insert(hash("more"), std::uint64_t{1090}));
    EXPECT_LE(both->arrays(1090), arrays + 1);
}

TEST_P(every_layout_ages, travels) {
    checked filter(roomy(1000, 3));
    const hasher hash = filter->hash();
    for (std::uint64_t key = 0; key < 300; ++key) filter.insert(hash(key), 10 * key);
    const auto back = filter.sent();
    for (std::uint64_t key = 0; key < 600; ++key) {
        for (const std::uint64_t time : {2990u, 3500u, 4100u})
            ASSERT_EQ(back.may_contain(hash(key), time), filter.may_contain(hash(key), time));
    }
    EXPECT_EQ(back->items(2990), filter->items(2990));
}

TEST(window_filter, refusals) {
    const promise plan{1000, 0.01};
    EXPECT_FALSE(window_filter::make({0, 3}, plan, 100, 4));
    EXPECT_FALSE(window_filter::make({512, 3}, plan, 100, 0));
    EXPECT_EQ(window_filter::make({512, 3}, plan, 100, 255).error().message,
              "255 generations; 1 to 254 are possible");
    EXPECT_FALSE(window_filter::make({512, 3}, plan, 0, 4));
    EXPECT_FALSE(window_filter::make({512, 3}, plan, ~std::uint64_t{0}, 4));
    EXPECT_FALSE(window_filter::with_rate(100, 0, 10, 4));
    EXPECT_FALSE(window_filter::with_rate(100, 1.5, 10, 4));
    EXPECT_FALSE(window_filter::with_rate(100, 0.1, 10, 0));
    EXPECT_FALSE(window_filter::with_rate(0, 0.1, 10, 4));
    // The largest time there is.
    auto filter = *window_filter::make({512, 3}, {7, 0.1}, 7, 7);
    EXPECT_TRUE(filter.insert(filter.hash()("x"), ~std::uint64_t{0}));
    EXPECT_TRUE(filter.may_contain(filter.hash()("x"), ~std::uint64_t{0}));
    EXPECT_TRUE(window_filter::parse(filter.hash(), payload_of(filter), plenty));
}

// Layout, hashes, generations, rate, bits, slot, items, latest time, arrays; of each array, oldest
// first, how long before the latest time it was given a key, its items and the nested array.
TEST(window_filter, bytes) {
    auto filter = *window_filter::make({64, 2, layout_id::spread}, {6, 0.25}, 60, 2);
    EXPECT_EQ(hex(payload_of(filter)),
              "0102"
              "02"
              "000000000000d03f"
              "40"
              "1e"
              "06"
              "00"
              "00");
    filter.insert(filter.hash()("a"), 10);
    filter.insert(filter.hash()("b"), 50);
    filter.insert(filter.hash()("c"), 100);
    EXPECT_EQ(hex(payload_of(filter)),
              "0102"
              "02"
              "000000000000d03f"
              "40"
              "1e"
              "06"
              "64"
              "02"
              "3201020302"
              "807a"
              "0001020302"
              "97dc");
    expect_robust(filter, false);
}

TEST(window_filter, parsing_keeps_its_limits) {
    auto filter = *window_filter::make({1 << 20, 3}, {9, 0.1}, 60, 3);
    EXPECT_TRUE(window_filter::parse(hasher(), payload_of(filter), read_limits::exactly((1 << 17) + 500)));
    EXPECT_FALSE(window_filter::parse(hasher(), payload_of(filter), read_limits::exactly((1 << 17) - 1)));
    for (int key = 0; key < 12; ++key) filter.insert(hasher()(key), 5);
    ASSERT_EQ(filter.arrays(5), 4u);
    const auto bytes = payload_of(filter);
    EXPECT_TRUE(window_filter::parse(hasher(), bytes, read_limits::exactly((4 << 17) + 2000)));
    EXPECT_FALSE(window_filter::parse(hasher(), bytes, read_limits::exactly((4 << 17) - 1)));
    EXPECT_FALSE(window_filter::parse(hasher(hash_family{77}), bytes, plenty));
}

}  // namespace
}  // namespace posy
