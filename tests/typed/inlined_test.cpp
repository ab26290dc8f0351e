// Keys one at a time, inlined, give the same bits and counters as batches, which the kernels process. This
// file is compiled for several instruction sets (tests/CMakeLists.txt).
#include <gtest/gtest.h>

#include <random>

#include "posy/filter.hpp"
#include "posy/typed/counting.hpp"

namespace posy {
namespace {

std::vector<std::uint64_t> some_keys(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = random();
    return keys;
}

geometry shape(std::uint64_t bits, unsigned hashes, layout_id layout) {
    return {round_up_bits(bits, hashes, layout), hashes, layout, hash_family::fold64};
}

template <layout_id Layout, unsigned Hashes>
void expect_bits_of_a_batch(unsigned hashes) {
    SCOPED_TRACE(std::string(name_of(Layout)) + ", " + std::to_string(hashes) + " hashes");
    using keyed = filter<std::uint64_t, Layout, Hashes>;
    const geometry g = shape(20'000, hashes, Layout);
    keyed single = *keyed::make(*bloom_filter::make(g)), batch = single;
    const auto keys = some_keys(1500, hashes), others = some_keys(5000, 1000 + hashes);
    for (const auto key : keys) single.insert(key);
    batch.insert(keys);
    EXPECT_EQ(single, batch);
    std::vector<char> answers(others.size());
    const std::span<bool> asked(reinterpret_cast<bool*>(answers.data()), answers.size());
    batch.may_contain(others, asked);
    for (std::size_t i = 0; i < others.size(); ++i) ASSERT_EQ(single.may_contain(others[i]), asked[i]) << i;
    for (const auto key : keys) ASSERT_TRUE(single.may_contain(key));
}

template <layout_id Layout>
void expect_bits_of_batches() {
    for (unsigned hashes = 1; hashes <= 32; ++hashes) {
        if (check(shape(20'000, hashes, Layout))) expect_bits_of_a_batch<Layout, 0>(hashes);
    }
    expect_bits_of_a_batch<Layout, 4>(4);
    expect_bits_of_a_batch<Layout, 8>(8);
    expect_bits_of_a_batch<Layout, 12>(12);
}

TEST(inlined_calls, set_the_bits_of_the_kernels) {
    expect_bits_of_batches<layout_id::spread>();
    expect_bits_of_batches<layout_id::sliced>();
    expect_bits_of_batches<layout_id::blocked>();
    expect_bits_of_batches<layout_id::paired>();
    expect_bits_of_batches<layout_id::narrow>();
}

// Some keys many times: their counters pass 7, beyond which the kernels take over, and stick at 15.
TEST(inlined_calls, count_as_the_kernels_do) {
    for (const unsigned hashes : {3u, 8u, 11u}) {
        using keyed = typed::counting<std::uint64_t>;
        const geometry g = shape(20'000, hashes, layout_id::narrow);
        keyed single(*counting_filter::make(g)), batch(*counting_filter::make(g));
        std::mt19937_64 random(hashes);
        const auto keys = some_keys(1200, hashes);
        const auto often = [&](std::size_t i) { return i % 50 == 0 ? 1 + random() % 20 : 1 + random() % 3; };
        std::vector<std::uint64_t> history;
        for (std::size_t i = 0; i < keys.size(); ++i) history.insert(history.end(), often(i), keys[i]);
        std::shuffle(history.begin(), history.end(), random);
        const auto expect_equal = [&](const char* when) {
            EXPECT_EQ(single.untyped().counters(), batch.untyped().counters()) << when;
            EXPECT_EQ(single.untyped().projection(), batch.untyped().projection()) << when;
            EXPECT_EQ(single.untyped().saturated(), batch.untyped().saturated()) << when;
            EXPECT_EQ(single.items(), batch.items()) << when;
        };
        for (const auto key : history) single.insert(key);
        batch.insert(history);
        expect_equal("inserted");
        EXPECT_GT(single.untyped().saturated(), 0u);

        history.resize(history.size() / 2);
        const auto strangers = some_keys(500, 77);
        history.insert(history.end(), strangers.begin(), strangers.end());
        std::vector<char> answers(history.size());
        const std::span<bool> removed(reinterpret_cast<bool*>(answers.data()), answers.size());
        batch.remove(history, removed);
        for (std::size_t i = 0; i < history.size(); ++i)
            ASSERT_EQ(single.remove(history[i]), removed[i]) << i;
        expect_equal("removed");
    }
}

}  // namespace
}  // namespace posy
