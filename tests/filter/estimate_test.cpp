#include "posy/estimate.hpp"

#include <cmath>
#include <map>

#include "posy/algebra.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

bloom_filter filter_of(geometry g, std::uint64_t seed, std::uint64_t from, std::uint64_t to) {
    g.seed.low = seed;
    auto filter = *bloom_filter::make(g);
    std::vector<digest> digests;
    for (std::uint64_t key = from; key < to; ++key) digests.push_back(filter.hash()(key));
    filter.insert(digests);
    return filter;
}

// "Right at its stated level" is a claim about many runs. Of 600 runs a 95 % interval must cover the truth in
// 570, give or take 4.2 deviations (± 22.4): one false alarm in 40,000 per row. It must not cover more,
// either: an interval that is too wide is as wrong as one that is too narrow.
constexpr int runs = 600;
constexpr double level = 0.95, deviations = 4.2;
bool covers(const estimate& e, double truth) { return e.low <= truth && truth <= e.high; }

class every_layout : public testing::TestWithParam<layout_id> {};
INSTANTIATE_TEST_SUITE_P(estimate, every_layout, testing::ValuesIn(members<layout_id>),
                         [](const auto& row) { return std::string(name_of(row.param)); });

TEST_P(every_layout, the_interval_for_the_number_of_items_is_right) {
    at_least rows(GetParam() == layout_id::paired ? 1 : 5, "geometries");  // paired takes even numbers
    for (const auto& [bits_per_item, hashes] :
         {std::pair{10.0, 7u}, {10.0, 8u}, {4.0, 3u}, {20.0, 11u}, {2.0, 1u}}) {
        constexpr std::uint64_t n = 3000;
        const geometry g{round_up_bits(static_cast<std::uint64_t>(n * bits_per_item), hashes, GetParam()),
                         hashes, GetParam()};
        if (!check(g)) continue;
        bernoulli covered(runs, describe(g));
        sample values(runs), deviation(runs);
        for (int run = 0; run < runs; ++run) {
            const estimate e = estimate_items(filter_of(g, static_cast<std::uint64_t>(run) + 1, 0, n));
            covered.add(covers(e, n), level);
            values.add(e.value);
            deviation.add((e.high - e.low) / 2 / 1.96);
        }
        covered.expect(deviations);
        // And no bias: the mean of the runs within 4.5 of its deviations.
        EXPECT_NEAR(values.mean(), n, 4.5 * deviation.mean() / std::sqrt(runs)) << describe(g);
        ++rows;
    }
}

TEST_P(every_layout, the_intervals_of_a_comparison_are_right) {
    constexpr std::uint64_t n = 3000;
    const geometry g{round_up_bits(n * 10, 6, GetParam()), 6, GetParam()};
    for (const std::uint64_t common : {std::uint64_t{0}, n / 20, n / 2, n}) {
        std::map<std::string, bernoulli> all;
        const auto covered = [&](const std::string& what, const estimate& e, double truth) {
            all.try_emplace(what, runs, describe(g) + " " + what + " common " + std::to_string(common))
                .first->second.add(covers(e, truth), level);
        };
        for (int run = 0; run < runs; ++run) {
            const auto seed = static_cast<std::uint64_t>(run) + 1;
            const auto c = *compare(filter_of(g, seed, 0, n), filter_of(g, seed, n - common, 2 * n - common));
            const auto both = static_cast<double>(2 * n - common);
            covered("|A|", c.a, n);
            covered("|B|", c.b, n);
            covered("union", c.united, both);
            covered("intersection", c.intersection, static_cast<double>(common));
            covered("Jaccard", c.jaccard, static_cast<double>(common) / both);
        }
        EXPECT_EQ(all.size(), 5u);
        for (const auto& [what, each] : all) {
            if (common == n && what == "Jaccard") {  // equal sets have equal arrays
                EXPECT_EQ(each.yes(), runs) << describe(g) << " " << what << " common " << common;
            } else {
                each.expect(deviations);
            }
        }
    }
}

// The bits of an intersection are those of the common keys and more, so they bound the number of common keys
// from above. The worst case for the bound is that there are no others: B contains A, and the AND is the
// filter of A. There the bound must hold in 95 % of 600 runs, no less and no more (4.2 deviations: one false
// alarm in 40,000 per row); with others it can only hold more often.
TEST_P(every_layout, the_items_of_an_intersection_are_bounded_from_above) {
    constexpr std::uint64_t n = 3000;
    const geometry g{round_up_bits(n * 10, 6, GetParam()), 6, GetParam()};
    bernoulli held(runs, describe(g));
    for (int run = 0; run < runs; ++run) {
        const auto seed = static_cast<std::uint64_t>(run) + 1;
        auto all_common = filter_of(g, seed, 0, n);
        ASSERT_TRUE(intersect(all_common, all_common));
        const estimate e = estimate_items(all_common);
        EXPECT_EQ(e.low, 0);
        EXPECT_EQ(e.value, e.high);
        held.add(n <= e.high, level);
        if (run % 20 != 0) continue;
        auto some_common = filter_of(g, seed, 0, n);
        ASSERT_TRUE(intersect(some_common, filter_of(g, seed, n / 2, n + n / 2)));
        EXPECT_GE(estimate_items(some_common).high, n / 2);
        EXPECT_LE(estimate_items(some_common).high, e.high);
    }
    held.expect(deviations);
    // Nearly empty: lines with fewer ones than any key sets.
    const geometry wide{round_up_bits(n * 200, 6, GetParam()), 6, GetParam()};
    auto few = filter_of(wide, 1, 0, n);
    ASSERT_TRUE(intersect(few, filter_of(wide, 1, n - 100, 2 * n)));
    EXPECT_GE(estimate_items(few).high, 100);
    EXPECT_LE(estimate_items(few).high, 400);
}

TEST(estimate, an_intersection_cannot_be_compared) {
    const auto a = filter_of({20'000, 4, layout_id::spread}, 1, 0, 1000);
    auto common = *a.clone();
    ASSERT_TRUE(intersect(common, a));
    for (const auto& c : {compare(a, common), compare(common, a)}) {
        ASSERT_FALSE(c);
        EXPECT_NE(c.error().message.find("compare the filters that it was made from"), std::string::npos);
    }
    EXPECT_TRUE(compare(a, a));
}

TEST_P(every_layout, empty_full_and_tiny_filters) {
    const geometry g{round_up_bits(2048, 4, GetParam()), 4, GetParam()};
    auto filter = *bloom_filter::make(g);
    const estimate none = estimate_items(filter);
    EXPECT_EQ(none.value, 0);
    EXPECT_EQ(none.high, 0);
    filter.insert(filter.hash()("one"));
    const estimate one = estimate_items(filter);
    EXPECT_NEAR(one.value, 1, 0.1);
    EXPECT_TRUE(covers(one, 1));
    for (int key = 0; key < 200'000; ++key) filter.insert(filter.hash()(key));
    const estimate full = estimate_items(filter);
    EXPECT_TRUE(std::isinf(full.value));
    EXPECT_TRUE(std::isinf(full.high));
    EXPECT_GT(full.low, 2000);
    EXPECT_LT(full.low, 200'000);
    const auto c = compare(filter, filter);
    ASSERT_TRUE(c);
    EXPECT_TRUE(std::isinf(c->united.value));
}

TEST_P(every_layout, a_higher_level_gives_a_wider_interval) {
    const geometry g{round_up_bits(20'000, 4, GetParam()), 4, GetParam()};
    const auto filter = filter_of(g, 1, 0, 3000);
    const estimate narrow = estimate_items(filter, 0.5), wide = estimate_items(filter, 0.999);
    EXPECT_LT(wide.low, narrow.low);
    EXPECT_GT(wide.high, narrow.high);
    EXPECT_EQ(wide.value, narrow.value);
}

// Few keys in many lines: every line holds one key or none, and with more than eight hashes two bits of a key
// may be one. The estimate is all but certain, for every number of hashes.
TEST(estimate, lightly_loaded_lines) {
    for (unsigned k = 1; k <= 16; ++k) {
        const geometry g{512 * 20'000, k, layout_id::blocked};
        const estimate e = estimate_items(filter_of(g, 1, 0, 1000));
        EXPECT_NEAR(e.value, 1000, 20) << k;
        EXPECT_TRUE(covers(estimate_items(filter_of(g, 1, 0, 1000), 0.99999), 1000))
            << k << ": " << e.low << " … " << e.high;
    }
}

TEST(estimate, the_low_end_of_a_full_filter_grows_with_its_size) {
    const geometry g{512 * 100, 8, layout_id::blocked};
    const estimate e = estimate_items(filter_of(g, 1, 0, 150'000));
    EXPECT_TRUE(std::isinf(e.high));
    EXPECT_GT(e.low, 10'000);
    EXPECT_LT(e.low, 150'000);
}

// Two filters of one geometry, and both printed formulas of the survey (2.4) against the truth; the second is
// algebraically our own from the zeros of the union.
TEST(estimate, the_surveys_formulas) {
    const geometry g{200'000, 5, layout_id::spread};
    const auto a = filter_of(g, 1, 0, 20'000), b = filter_of(g, 1, 15'000, 40'000);
    auto both = *a.clone();
    ASSERT_TRUE(intersect(both, b));
    const auto m = static_cast<double>(g.bits), inner = static_cast<double>(both.ones());
    const double zeros_a = m - static_cast<double>(a.ones()), zeros_b = m - static_cast<double>(b.ones());
    const estimate ours = compare(a, b)->intersection;
    EXPECT_NEAR(intersection_from_zeros(zeros_a, zeros_b, m - inner, m, 5), ours.value, 1e-6 * ours.value);
    EXPECT_TRUE(covers(ours, 5000));
    EXPECT_NEAR(intersection_from_inner_product(inner, 20'000, 25'000, m, 5), 5000, 500);
}

TEST(estimate, geometries_that_differ_cannot_be_compared) {
    const auto c = compare(*bloom_filter::make({1024, 5}), *bloom_filter::make({1024, 4}));
    ASSERT_FALSE(c);
    EXPECT_NE(c.error().message.find("hashes 5 and 4"), std::string::npos);
}

}  // namespace
}  // namespace posy
