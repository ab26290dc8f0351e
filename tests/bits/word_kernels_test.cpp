#include "bits/word_kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>
#include <vector>

#include "posy/bit_array.hpp"

namespace posy::bits {
namespace {

TEST(word_kernels, every_instruction_set_combines_and_counts_alike) {
    std::mt19937_64 random(1);
    const std::pair<operation, std::function<std::uint64_t(std::uint64_t, std::uint64_t)>> operations[]{
        {operation::unite, std::bit_or<std::uint64_t>()},
        {operation::intersect, std::bit_and<std::uint64_t>()},
        {operation::exclude, std::bit_xor<std::uint64_t>()}};
    for (std::size_t size = 0; size < 70; ++size) {
        std::vector<std::uint64_t> a(size), b(size);
        for (std::size_t i = 0; i < size; ++i) a[i] = random(), b[i] = random() & random();
        for (const auto& [op, apply] : operations) {
            std::vector<std::uint64_t> expected(size);
            std::uint64_t ones = 0, ones_of_a = 0;
            for (std::size_t i = 0; i < size; ++i) {
                expected[i] = apply(a[i], b[i]);
                ones += static_cast<unsigned>(std::popcount(expected[i]));
                ones_of_a += static_cast<unsigned>(std::popcount(a[i]));
            }
            for (const instruction_set set : base::instruction_sets()) {
                SCOPED_TRACE(std::string(name_of(set)) + " " + std::to_string(size));
                EXPECT_EQ(count_ones(a, set), ones_of_a);
                EXPECT_EQ(count_ones_of(op, a, b, set), ones);
                std::vector<std::uint64_t> into = a;
                EXPECT_EQ(combine(op, into, b, set), ones);
                EXPECT_EQ(into, expected);
            }
        }
    }
}

TEST(word_kernels, arrays_are_combined_and_counted_in_one_pass) {
    const auto make = [](std::initializer_list<std::uint64_t> ones) {
        auto bits = *bit_array::make(1000);
        for (const std::uint64_t i : ones) bits.set(i);
        return bits;
    };
    const auto a = make({1, 2, 3, 700}), b = make({3, 700, 999});
    EXPECT_EQ(ones_of_union(a, b), 5u);
    EXPECT_EQ(ones_of_intersection(a, b), 2u);
    EXPECT_EQ(ones_of_difference(a, b), 3u);
    auto c = *a.clone();
    EXPECT_EQ(c.unite(b), 5u);
    EXPECT_TRUE(c == make({1, 2, 3, 700, 999}));
    EXPECT_EQ(c.intersect(b), 3u);
    EXPECT_TRUE(c == b);
    EXPECT_EQ(c.exclude(a), 3u);
    EXPECT_TRUE(c == make({1, 2, 999}));
}

}  // namespace
}  // namespace posy::bits
