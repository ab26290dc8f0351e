#include "posy/standing.hpp"

#include <cmath>

#include "posy/algebra.hpp"
#include "posy/plan.hpp"
#include "support.hpp"

namespace posy {
namespace {

class standing_in : public testing::TestWithParam<layout_id> {
  protected:
    // Planned for 1000 items and given the integers from 0 to `keys`, each `times` times.
    static bloom_filter planned(int keys, int times = 1) {
        const auto p = *choose({.items = 1000, .rate = 0.01, .layout = GetParam()});
        auto filter = filter_of(p.geometry(), 0, keys);
        for (int again = 1; again < times; ++again)
            for (int key = 0; key < keys; ++key) filter.insert(filter.hash()(key));
        filter.set_planned(p.promise());
        return filter;
    }
};
INSTANTIATE_TEST_SUITE_P(standing, standing_in, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

TEST_P(standing_in, the_plan_or_past_it) {
    for (const int keys : {0, 1, 999, 1000}) {
        const auto filter = planned(keys);
        EXPECT_FALSE(past_plan(filter)) << keys;
        EXPECT_FALSE(standing_of(filter)->past_plan) << keys;
        EXPECT_LE(standing_of(filter)->expected_rate, filter.provenance().planned->rate) << keys;
    }
    for (const int keys : {1100, 2000, 5000}) {
        const auto filter = planned(keys);
        EXPECT_TRUE(past_plan(filter)) << keys;
        EXPECT_TRUE(standing_of(filter)->past_plan) << keys;
        EXPECT_GT(standing_of(filter)->expected_rate, filter.provenance().planned->rate) << keys;
        auto without = *filter.clone();
        without.set_planned(std::nullopt);
        EXPECT_FALSE(past_plan(without));
    }
}

// The number inserted is exact as long as no key came twice; where the bits say that keys did, it is
// ignored. The estimate of 1000 has a deviation below 20 here: 1000 ± 100 is beyond 5 of them.
TEST_P(standing_in, repeated_keys_are_not_too_many) {
    EXPECT_EQ(standing_of(planned(900))->items, 900);
    const auto filter = planned(1000, 5);
    EXPECT_EQ(filter.items(), 5000u);
    EXPECT_NEAR(standing_of(filter)->items, 1000, 100);
    EXPECT_FALSE(past_plan(filter));
    EXPECT_TRUE(past_plan(planned(2000, 5)));
}

TEST_P(standing_in, an_unknown_number_of_items_is_estimated) {
    auto filter = planned(2000);
    filter.set_items(std::nullopt);
    EXPECT_NEAR(standing_of(filter)->items, 2000, 250);
    EXPECT_TRUE(past_plan(filter));
}

TEST_P(standing_in, an_intersection_and_a_full_array_have_none) {
    auto common = planned(5000);
    ASSERT_TRUE(intersect(common, planned(5000)));
    EXPECT_FALSE(standing_of(common));
    EXPECT_FALSE(past_plan(common));
    auto full = planned(400'000);
    ASSERT_EQ(full.fill(), 1);
    EXPECT_EQ(standing_of(full)->items, 400'000);
    EXPECT_TRUE(past_plan(full));
    full.set_items(std::nullopt);
    EXPECT_FALSE(standing_of(full));
}

}  // namespace
}  // namespace posy
