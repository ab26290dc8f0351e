// Any number of threads and any division of the work give the bits of one thread.
#include "posy/parallel.hpp"

#include <numeric>
#include <thread>

#include "support.hpp"

namespace posy {
namespace {

class parallel_layouts : public testing::TestWithParam<layout_id> {};
INSTANTIATE_TEST_SUITE_P(parallel, parallel_layouts, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

// Sizes on both sides of the division into regions, and some that are no multiple of anything.
std::vector<geometry> sizes(layout_id layout) {
    std::vector<geometry> list;
    for (const std::uint64_t bits : {std::uint64_t{100'000}, parallel_build::divided_bits + 1,
                                     3 * parallel_build::divided_bits + 12'345}) {
        for (const unsigned hashes : {6u, 12u})
            list.push_back({round_up_bits(bits, hashes, layout), hashes, layout});
    }
    return list;
}

TEST_P(parallel_layouts, threads_make_the_same_filter) {
    std::vector<std::uint64_t> keys(100'001);
    std::iota(keys.begin(), keys.end(), 1'000'000);
    for (const geometry& g : sizes(GetParam())) {
        SCOPED_TRACE(describe(g));
        auto one = *bloom_filter::make(g);
        one.insert(keys);
        for (const unsigned threads : {1u, 2u, 5u}) {
            auto many = *bloom_filter::make(g);
            insert(many, keys, threads);
            EXPECT_TRUE(one == many) << threads;
            EXPECT_EQ(many.items(), keys.size());

            const std::unique_ptr<bool[]> answers(new bool[keys.size()]);
            const std::span<bool> room(answers.get(), keys.size());
            EXPECT_EQ(may_contain(many, std::span<const std::uint64_t>(keys), room, threads), keys.size());
            EXPECT_EQ(std::ranges::count(room, true), static_cast<std::ptrdiff_t>(keys.size()));
        }
    }
}

TEST_P(parallel_layouts, a_build_takes_digests_as_they_come) {
    const geometry g = sizes(GetParam())[2];
    auto one = *bloom_filter::make(g), many = *bloom_filter::make(g);
    const hasher hash = one.hash();
    for (int key = 0; key < 40'000; ++key) one.insert(hash(key));
    {
        parallel_build build(many);
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                std::vector<digest> batch;
                for (int key = t; key < 40'000; key += 4) {
                    batch.push_back(hash(key));
                    if (batch.size() == static_cast<std::size_t>(key % 700 + 1)) {
                        build.insert(batch);
                        batch.clear();
                    }
                }
                build.insert(batch);
            });
        }
    }
    EXPECT_TRUE(one == many);
    EXPECT_EQ(many.items(), 40'000u);
}

TEST(parallel, an_empty_batch_changes_nothing) {
    auto filter = *bloom_filter::make({2 * parallel_build::divided_bits, 8});
    insert(filter, std::span<const std::uint64_t>(), 3);
    EXPECT_EQ(filter.ones(), 0u);
    EXPECT_EQ(filter.items(), 0u);
}

}  // namespace
}  // namespace posy
