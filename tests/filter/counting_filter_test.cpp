#include "posy/counting_filter.hpp"

#include <algorithm>
#include <memory>
#include <random>

#include "checked.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::vector<geometry> counting_shapes() {
    std::vector<geometry> shapes;
    std::ranges::copy_if(all_shapes(), std::back_inserter(shapes),
                         [](const geometry& g) { return g.bits >= 513; });
    return shapes;
}

class every_counting : public testing::TestWithParam<std::tuple<geometry, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(counting_filter, every_counting,
                         testing::Combine(testing::ValuesIn(counting_shapes()), testing::Values(4u, 8u)),
                         [](const auto& row) { return std::to_string(row.index); });

bloom_filter built_from(const geometry& g, const checked<counting_filter>::truth& keys) {
    auto filter = *bloom_filter::make(g);
    for (const auto& [d, count] : keys) {
        if (count > 0) filter.insert(d);
    }
    return filter;
}

// As long as nothing saturates the projection is, bit for bit, the filter built from the keys that are there:
// Summary Cache's promise.
TEST_P(every_counting, the_projection_follows_the_set) {
    const auto& [g, width] = GetParam();
    SCOPED_TRACE(describe(g));
    checked filter(*counting_filter::make(g, width));
    const hasher hash = filter->hash();
    std::mt19937_64 random(3);
    for (int step = 0; step < 400; ++step) {
        const std::uint64_t key = random() % 60;
        if (random() % 2 == 0) {
            filter.insert(hash(key));
        } else if (filter.number_of(hash(key)).value_or(0) > 0) {
            EXPECT_TRUE(filter.remove(hash(key)));
        }
    }
    EXPECT_EQ(filter.sent()->counters(), filter->counters());
    EXPECT_TRUE(width == 4 || filter->saturated() == 0);
    if (filter->saturated() > 0) return;
    EXPECT_EQ(filter->projection(), built_from(g, filter.known()));
    for (std::uint64_t key = 0; key < 60; ++key) {
        while (filter.number_of(hash(key)).value_or(0) > 0) EXPECT_TRUE(filter.remove(hash(key)));
    }
    EXPECT_EQ(filter->projection().ones(), 0u);
    EXPECT_EQ(filter->counters().cells().ones(), 0u);
}

TEST_P(every_counting, flips_since_a_mark_are_the_difference) {
    const auto& [g, width] = GetParam();
    SCOPED_TRACE(describe(g));
    auto filter = *counting_filter::make(g, width);
    const hasher hash = filter.hash();
    for (int key = 0; key < 20; ++key) filter.insert(hash(key));
    EXPECT_EQ(filter.flipped_count(), 0u);
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(filter.mark());
        EXPECT_TRUE(filter.flipped().empty());
        const auto before = *filter.projection().clone();
        for (int key = 0; key < 5; ++key) filter.remove(hash(round * 5 + key));
        for (int key = 0; key < 7; ++key) filter.insert(hash(100 + round * 10 + key));
        filter.insert(hash(999)), filter.remove(hash(999));
        if (round == 2) filter.clear();
        std::vector<std::uint64_t> expected;
        for (std::uint64_t i = 0; i < g.bits; ++i) {
            if (before.bits().test(i) != filter.projection().bits().test(i)) expected.push_back(i);
        }
        EXPECT_EQ(filter.flipped(), expected);
        EXPECT_EQ(filter.flipped_count(), expected.size());
    }
}

TEST(counting_filter, removing_what_is_certainly_absent_changes_nothing) {
    auto filter = *counting_filter::make({5000, 4, layout_id::spread});
    const hasher hash = filter.hash();
    for (int key = 0; key < 300; ++key) filter.insert(hash(key));
    const auto before = *filter.counters().cells().clone();
    int refused = 0;
    for (int key = 1000; key < 3000; ++key) {
        if (!filter.may_contain(hash(key))) {
            EXPECT_FALSE(filter.remove(hash(key)));
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_EQ(filter.counters().cells(), before);
    EXPECT_EQ(filter.items(), 300u);
}

// Two hashes of one key that meet in one counter need two increments there. In 7 bits they always meet.
TEST(counting_filter, hashes_that_meet_count_twice) {
    auto filter = *counting_filter::make({7, 12, layout_id::spread}, 8);
    const hasher hash = filter.hash();
    filter.insert(hash("present"));
    int refused_though_all_bits_are_set = 0;
    for (int key = 0; key < 2000; ++key) {
        if (!filter.may_contain(hash(key))) continue;
        auto copy = *counting_filter::make({7, 12, layout_id::spread}, 8);
        copy.insert(hash("present"));
        refused_though_all_bits_are_set += !copy.remove(hash(key));
    }
    EXPECT_GT(refused_though_all_bits_are_set, 0);
    EXPECT_TRUE(filter.remove(hash("present")));
    EXPECT_EQ(filter.projection().ones(), 0u);
}

TEST(counting_filter, a_saturated_counter_keeps_the_promise) {
    checked filter(*counting_filter::make({64, 2, layout_id::spread}));
    const hasher hash = filter->hash();
    for (int key = 0; key < 1000; ++key) filter.insert(hash(key));
    EXPECT_EQ(filter->saturated(), 64u);
    for (int key = 0; key < 999; ++key) EXPECT_TRUE(filter.remove(hash(key)));
    EXPECT_TRUE(filter.may_contain(hash(999)));
    EXPECT_EQ(filter->items(), 1u);
}

TEST(counting_filter, batches_and_refusals) {
    const geometry g{round_up_bits(3000, 5, layout_id::blocked), 5};
    checked one(*counting_filter::make(g)), batch(*counting_filter::make(g));
    std::vector<digest> digests;
    for (int key = 0; key < 200; ++key) digests.push_back(one->hash()(key));
    for (const digest d : digests) one.insert(d);
    batch.insert(digests);
    EXPECT_EQ(one->counters(), batch->counters());
    EXPECT_EQ(one->items(), batch->items());
    const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
    EXPECT_EQ(batch.may_contain(digests, {answers.get(), digests.size()}), 200u);
    EXPECT_EQ(batch.remove(digests, {answers.get(), digests.size()}), 200u);
    for (const digest d : digests) EXPECT_TRUE(one.remove(d));
    EXPECT_EQ(one->counters(), batch->counters());
    EXPECT_EQ(counting_filter::make(g, 5).error().message, "counters of 5 bits; 4 and 8 are possible");
    EXPECT_FALSE(counting_filter::make({0, 1}));
}

}  // namespace
}  // namespace posy
