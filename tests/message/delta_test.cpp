#include "posy/delta.hpp"

#include "posy/algebra.hpp"
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

TEST(delta, the_plan_stays_and_the_rest_is_the_new_generations) {
    const geometry g{2048, 3};
    auto a = filter_of(g, 0, 100), b = filter_of(g, 0, 120), common = filter_of(g, 0, 120);
    a.set_planned(promise{100, 0.25});
    ASSERT_TRUE(intersect(common, a));
    ASSERT_TRUE(apply(a, *make_delta(a, common)));
    EXPECT_EQ(a.provenance(), (provenance{{}, true, promise{100, 0.25}}));
    ASSERT_TRUE(apply(a, *make_delta(a, b)));
    EXPECT_EQ(a.provenance(), (provenance{120, false, promise{100, 0.25}}));
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
