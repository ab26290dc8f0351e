#include "posy/bloom_filter.hpp"

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "bits/word_kernels.hpp"
#include "checked.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

class every_shape : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(bloom_filter, every_shape, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

// No false negatives, and an answer of no is always right.
TEST_P(every_shape, never_denies_what_it_was_given) {
    SCOPED_TRACE(describe(GetParam()));
    checked filter(*bloom_filter::make(GetParam()));
    const hasher hash = filter->hash();
    std::mt19937_64 random(7);
    for (int step = 0; step < 600; ++step) {
        const std::uint64_t key = random() % 2000;
        if (step % 3 == 0) {
            filter.insert(hash(key));
        } else {
            filter.may_contain(hash(key));
        }
    }
    EXPECT_EQ(filter->items(), 200u);
    EXPECT_LE(filter->ones(), GetParam().bits);
    EXPECT_LE(filter->ones(), 200u * GetParam().hashes);
    EXPECT_EQ(*filter.sent(), *filter);
    filter.clear();
    EXPECT_EQ(filter->ones(), 0u);
}

TEST_P(every_shape, single_batched_and_concurrent_insertion_give_the_same_bits) {
    SCOPED_TRACE(describe(GetParam()));
    const auto empty = [] { return *bloom_filter::make(GetParam()); };
    checked one(empty()), batch(empty()), concurrent(empty());
    std::vector<digest> digests;
    for (int key = 0; key < 333; ++key) digests.push_back(one->hash()(key));
    for (const digest d : digests) one.insert(d);
    batch.insert(digests);
    concurrent.insert_concurrently(digests);
    EXPECT_EQ(*one, *batch);
    EXPECT_EQ(*one, *concurrent);
    EXPECT_EQ(one->items(), batch->items());
    EXPECT_EQ(one->items(), concurrent->items());

    for (int key = 333; key < 1000; ++key) digests.push_back(one->hash()(key));
    const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
    EXPECT_GE(one.may_contain(digests, {answers.get(), digests.size()}), 333u);
}

TEST(bloom_filter, many_threads_insert_into_one_filter) {
    for (const layout_id layout : members<layout_id>) {
        const geometry g{round_up_bits(100'000, 8, layout), 8, layout};
        auto filter = *bloom_filter::make(g);
        auto serial = *bloom_filter::make(g);
        const hasher hash = filter.hash();
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                std::vector<digest> mine;
                for (int key = t; key < 8000; key += 4) mine.push_back(hash(key));
                filter.insert_concurrently(mine);
                for (const digest d : mine) EXPECT_TRUE(filter.may_contain(d));
            });
        }
        threads.clear();
        for (int key = 0; key < 8000; ++key) serial.insert(hash(key));
        EXPECT_EQ(filter, serial);
        EXPECT_EQ(filter.items(), 8000u);
    }
}

// One thread inserts while another asks: no key that is in is denied, and the sanitizer sees no race.
TEST(bloom_filter, queries_beside_insertion) {
    auto filter = *bloom_filter::make({round_up_bits(200'000, 7, layout_id::spread), 7, layout_id::spread});
    const hasher hash = filter.hash();
    std::atomic<int> inserted = 0;
    std::jthread writer([&] {
        for (int key = 0; key < 20'000; ++key) {
            const digest d = hash(key);
            filter.insert_concurrently({&d, 1});
            inserted.store(key + 1, std::memory_order_release);
        }
    });
    for (int seen = 0; seen < 20'000; seen = inserted.load(std::memory_order_acquire)) {
        if (seen > 0) {
            ASSERT_TRUE(filter.may_contain(hash(seen - 1)));
        }
    }
}

// Few keys in 2^33 bits: were an index cut to 32 bits, the upper half would stay empty.
TEST(bloom_filter, sizes_beyond_32_bits) {
    for (const layout_id layout : members<layout_id>) {
        const geometry g{round_up_bits((std::uint64_t{1} << 33) + 1000, 6, layout), 6, layout};
        auto filter = *bloom_filter::make(g);
        for (int key = 0; key < 1000; ++key) filter.insert(filter.hash()(key));
        for (int key = 0; key < 1000; ++key) EXPECT_TRUE(filter.may_contain(filter.hash()(key)));
        for (int key = 1000; key < 3000; ++key) EXPECT_FALSE(filter.may_contain(filter.hash()(key)));
        const auto upper = filter.bits().words().subspan(filter.bits().words().size() / 2);
        EXPECT_NEAR(static_cast<double>(bits::count_ones(upper)), 3000,
                    400);  // at least 5 deviations in any layout
    }
}

TEST(bloom_filter, the_rate_of_these_bits_is_the_rate_measured) {
    const hasher hash;
    at_least rows(18, "geometries");  // paired takes even numbers of hashes only
    for (const layout_id layout : members<layout_id>) {
        for (const unsigned k : {2u, 5u, 8u, 11u}) {
            const geometry g{round_up_bits(20'000, k, layout), k, layout};
            if (!check(g)) continue;
            ++rows;
            auto filter = *bloom_filter::make(g);
            for (int key = 0; key < 3000; ++key) filter.insert(hash(key));
            const double rate = filter.false_positive_rate();
            bernoulli absent(400'000, describe(g));
            for (int key = 0; key < 400'000; ++key) absent.add(filter.may_contain(hash(-1 - key)), rate);
            absent.expect(4.5);  // a false alarm in 10^5
        }
    }
}

TEST(bloom_filter, clear_and_refusals) {
    auto filter = *bloom_filter::make({1024, 3});
    filter.insert(filter.hash()("x"));
    filter.clear();
    EXPECT_EQ(filter.ones(), 0u);
    EXPECT_EQ(filter.items(), 0u);
    EXPECT_EQ(filter.false_positive_rate(), 0);
    EXPECT_FALSE(bloom_filter::make({0, 3}));
    EXPECT_FALSE(bloom_filter::make({1000, 3}));
}

}  // namespace
}  // namespace posy
