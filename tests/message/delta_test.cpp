#include "posy/delta.hpp"

#include "support.hpp"

namespace posy {
namespace {

class every_delta : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(delta, every_delta, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

TEST_P(every_delta, turns_one_filter_into_the_other) {
    auto filter = filter_of(GetParam(), 0, 100);
    const auto next = filter_of(GetParam(), 20, 150);
    const auto delta = make_delta(filter, next);
    ASSERT_TRUE(delta);
    ASSERT_TRUE(apply(filter, *delta));
    EXPECT_EQ(filter, next);
    EXPECT_EQ(filter.items(), next.items());
}

TEST(delta, is_refused_by_anything_but_its_base) {
    const geometry g{2048, 3};
    const auto a = filter_of(g, 0, 100), b = filter_of(g, 0, 120);
    const auto delta = *make_delta(a, b);
    auto other = filter_of(g, 0, 101);
    const auto before = *other.clone();
    ASSERT_FALSE(apply(other, delta));
    EXPECT_EQ(other, before);
    auto elsewhere = filter_of({1024, 3}, 0, 100);
    EXPECT_FALSE(apply(elsewhere, delta));
    EXPECT_FALSE(make_delta(a, elsewhere));
}

}  // namespace
}  // namespace posy
