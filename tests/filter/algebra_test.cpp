#include "posy/algebra.hpp"

#include <tuple>

#include "checked.hpp"
#include "posy/plan.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

class algebra : public testing::TestWithParam<geometry> {};
INSTANTIATE_TEST_SUITE_P(every_shape, algebra, testing::ValuesIn(all_shapes()),
                         [](const auto& row) { return std::to_string(row.index); });

checked<bloom_filter> checked_filter_of(const geometry& g, int from, int to) {
    checked filter(*bloom_filter::make(g));
    std::vector<digest> digests;
    for (int key = from; key < to; ++key) digests.push_back(filter->hash()(key));
    filter.insert(digests);
    return filter;
}

TEST_P(algebra, union_is_the_filter_of_the_union) {
    auto a = checked_filter_of(GetParam(), 0, 100);
    const auto b = checked_filter_of(GetParam(), 50, 180);
    ASSERT_TRUE(unite(a, b));
    EXPECT_EQ(*a, filter_of(GetParam(), 0, 180)) << describe(GetParam());
    EXPECT_EQ(a->items(), 230u);
}

TEST_P(algebra, intersection_contains_the_common_keys) {
    SCOPED_TRACE(describe(GetParam()));
    auto a = checked_filter_of(GetParam(), 0, 100);
    const auto b = checked_filter_of(GetParam(), 50, 180);
    ASSERT_TRUE(intersect(a, b));
    EXPECT_EQ(a.known().size(), 50u);
    EXPECT_LE(a->false_positive_rate(), b->false_positive_rate());
    EXPECT_EQ(a->items(), std::nullopt);
    a.insert(a->hash()(1));
    EXPECT_EQ(a->items(), std::nullopt);
}

// By every divisor that the size has: bit for bit the filter built at the smaller size.
TEST_P(algebra, a_folded_filter_is_the_one_built_smaller) {
    const auto filter = checked_filter_of(GetParam(), 0, 120);
    for (const std::uint64_t divisor : {1u, 2u, 3u, 4u, 5u, 7u, 13u, 64u}) {
        geometry smaller = GetParam();
        smaller.bits /= divisor;
        const auto folded = fold(filter, divisor);
        const bool possible = GetParam().bits % divisor == 0 && check(smaller).ok();
        ASSERT_EQ(folded.ok(), possible) << describe(GetParam()) << " by " << divisor;
        if (possible) {
            EXPECT_EQ(**folded, filter_of(smaller, 0, 120)) << describe(smaller);
            EXPECT_EQ((*folded)->items(), filter->items());
        }
    }
}

// The rate of an intersection: keys of neither set have the rate of its bits, keys of one set alone that of
// the other filter. Within 4.5 binomial deviations: one false alarm in 150,000 per row.
TEST(algebra_rates, an_intersection_has_a_rate_for_absent_keys_and_one_for_keys_of_one_set) {
    for (const layout_id layout : members<layout_id>) {
        const geometry g{512 * 500, 4, layout};
        auto common = filter_of(g, 0, 60'000);
        const auto b = filter_of(g, 50'000, 110'000);
        ASSERT_TRUE(intersect(common, b));
        const auto expect_rate = [&](int from, int to, double rate, const char* what) {
            bernoulli keys(50'000, describe(g) + " " + what);
            for (int key = from; key < to; ++key) keys.add(common.may_contain(common.hash()(key)), rate);
            keys.expect(4.5);
        };
        expect_rate(200'000, 400'000, common.false_positive_rate(), "absent keys");
        expect_rate(0, 50'000, b.false_positive_rate(), "keys of A alone");
        EXPECT_GT(b.false_positive_rate(), 2 * common.false_positive_rate());
    }
}

bloom_filter planned_for(std::uint64_t items, double rate) {
    auto filter = filter_of({1024, 5}, 0, 10);
    if (items > 0) filter.set_planned(promise{items, rate});
    return filter;
}

TEST(algebra_provenance, of_two_plans_the_larger_stays) {
    const std::optional<promise> small{{10, 0.125}}, large{{20, 0.25}};
    for (const auto& [a, b, together] : {std::tuple{small, large, large},
                                         {large, small, large},
                                         {small, {}, small},
                                         {{}, small, small},
                                         {small, small, small},
                                         {{}, {}, {}}}) {
        const auto make = [](const std::optional<promise>& p) {
            return p ? planned_for(p->items, p->rate) : planned_for(0, 0);
        };
        auto united = make(a), common = make(a);
        ASSERT_TRUE(unite(united, make(b)));
        EXPECT_EQ(united.provenance(), (provenance{20, false, together}));
        ASSERT_TRUE(intersect(common, make(b)));
        EXPECT_EQ(common.provenance(), (provenance{{}, true, together}));
    }
}

TEST(algebra_provenance, an_intersection_stays_one_until_it_is_cleared) {
    auto common = planned_for(10, 0.125);
    ASSERT_TRUE(intersect(common, planned_for(0, 0)));
    const provenance kept{{}, true, promise{10, 0.125}};
    EXPECT_EQ(common.provenance(), kept);
    common.insert(common.hash()(77));
    EXPECT_EQ(common.provenance(), kept);
    auto from_left = *common.clone(), from_right = planned_for(0, 0);
    ASSERT_TRUE(unite(from_left, planned_for(0, 0)));
    ASSERT_TRUE(unite(from_right, common));
    EXPECT_EQ(from_left.provenance(), kept);
    EXPECT_EQ(from_right.provenance(), kept);
    EXPECT_TRUE(fold(common, 2)->provenance().intersection);
    common.clear();
    EXPECT_EQ(common.provenance(), (provenance{0, false, promise{10, 0.125}}));
}

// A folded filter is the one built smaller, its plan included: for as many items, at the rate they have
// there.
TEST(algebra_provenance, a_fold_promises_what_the_smaller_plan_would) {
    for (const layout_id layout : members<layout_id>) {
        const geometry g{512 * 120, 6, layout}, half{512 * 60, 6, layout};
        auto filter = filter_of(g, 0, 100);
        filter.set_planned(predict(5000, g)->promise());
        EXPECT_EQ(fold(filter, 2)->provenance().planned, predict(5000, half)->promise()) << describe(g);
        EXPECT_EQ(fold(filter, 1)->provenance(), filter.provenance()) << describe(g);
        EXPECT_EQ(fold(filter_of(g, 0, 100), 2)->provenance().planned, std::nullopt);
    }
}

TEST(algebra_errors, geometries_that_differ_do_not_combine) {
    auto a = filter_of({1024, 5}, 0, 10);
    const auto b = filter_of({2048, 5}, 0, 10);
    EXPECT_EQ(
        unite(a, b).error().message,
        "the filters differ in bits 1024 and 2048; only filters of one geometry go together: build them with "
        "the same options, or fold the larger one by 2");
    EXPECT_FALSE(intersect(a, b));
    EXPECT_EQ(a, filter_of({1024, 5}, 0, 10));
    EXPECT_EQ(fold(a, 3).error().message, "cannot fold 1024 bits by 3; the divisor must divide the size");
    EXPECT_FALSE(fold(a, 4));
    EXPECT_FALSE(fold(a, 0));
}

// Folds that the odd sizes above do not allow.
TEST(algebra_errors, folds_of_round_sizes) {
    for (const layout_id layout : members<layout_id>) {
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
