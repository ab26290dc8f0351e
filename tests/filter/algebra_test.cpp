#include "posy/algebra.hpp"

#include "support.hpp"

namespace posy {
namespace {

class algebra : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(every_shape, algebra, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

TEST_P(algebra, union_is_the_filter_of_the_union) {
    auto a = filter_of(GetParam(), 0, 100);
    const auto b = filter_of(GetParam(), 50, 180);
    ASSERT_TRUE(unite(a, b));
    EXPECT_EQ(a, filter_of(GetParam(), 0, 180)) << describe(GetParam());
    EXPECT_EQ(a.items(), 230u);
}

TEST_P(algebra, intersection_contains_the_common_keys) {
    auto a = filter_of(GetParam(), 0, 100);
    const auto b = filter_of(GetParam(), 50, 180);
    ASSERT_TRUE(intersect(a, b));
    for (int key = 50; key < 100; ++key) EXPECT_TRUE(a.may_contain(a.hash()(key))) << describe(GetParam());
    EXPECT_LE(a.false_positive_rate(), b.false_positive_rate());
    EXPECT_EQ(a.items(), std::nullopt);
    a.insert(a.hash()(1));
    EXPECT_EQ(a.items(), std::nullopt);
}

// By every divisor that the size has: bit for bit the filter built at the smaller size.
TEST_P(algebra, a_folded_filter_is_the_one_built_smaller) {
    const auto filter = filter_of(GetParam(), 0, 120);
    for (const std::uint64_t divisor : {1u, 2u, 3u, 4u, 5u, 7u, 13u, 64u}) {
        geometry smaller = GetParam();
        smaller.bits /= divisor;
        const auto folded = fold(filter, divisor);
        const bool possible = GetParam().bits % divisor == 0 && check(smaller).ok();
        ASSERT_EQ(folded.ok(), possible) << describe(GetParam()) << " by " << divisor;
        if (possible) {
            EXPECT_EQ(*folded, filter_of(smaller, 0, 120)) << describe(smaller);
            EXPECT_EQ(folded->items(), filter.items());
        }
    }
}

TEST(algebra_errors, geometries_that_differ_do_not_combine) {
    auto a = filter_of({1024, 5}, 0, 10);
    const auto b = filter_of({2048, 5}, 0, 10);
    EXPECT_EQ(unite(a, b).error().message,
              "the filters differ in bits 1024 and 2048; only filters of one geometry go together");
    EXPECT_FALSE(intersect(a, b));
    EXPECT_EQ(a, filter_of({1024, 5}, 0, 10));
    EXPECT_EQ(fold(a, 3).error().message, "cannot fold 1024 bits by 3; the divisor must divide the size");
    EXPECT_FALSE(fold(a, 4));
    EXPECT_FALSE(fold(a, 0));
}

// The folds that the shapes above are too odd to reach.
TEST(algebra_errors, folds_of_round_sizes) {
    for (const layout_id layout : layout_ids()) {
        const geometry g{512 * 360, 6, layout};
        const auto filter = filter_of(g, 0, 500);
        for (const std::uint64_t divisor : {2u, 3u, 4u, 5u, 6u, 10u, 12u, 15u, 20u, 30u, 60u}) {
            geometry smaller = g;
            smaller.bits /= divisor;
            EXPECT_EQ(*fold(filter, divisor), filter_of(smaller, 0, 500)) << describe(smaller);
        }
        EXPECT_EQ(*fold(*fold(filter, 2), 3), *fold(filter, 6));
    }
}

}  // namespace
}  // namespace posy
