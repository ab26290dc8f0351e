#include "posy/theory/intersection.hpp"

#include <gtest/gtest.h>

#include <random>

#include "posy/bloom_filter.hpp"
#include "posy/intersection_plan.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"

namespace posy {
namespace {

TEST(Intersection, TheFormulaIsTheMinimum) {
    at_least checked(100);
    for (const double a : {10.0, 1000.0, 1e6}) {
        for (const double b : {10.0, 1000.0, 1e5, 1e7}) {
            for (const double j : {8.0, 32.0, 128.0}) {
                const double best = theory::intersection_filter_bits(a, b, 0, j);
                const double least = theory::intersection_bits(a, b, 0, j, best);
                for (const double off : {0.5, 0.9, 1.1, 2.0}) {
                    EXPECT_LE(
                        least,
                        theory::intersection_bits(a, b, 0, j, std::max(0.0, best * off + (off - 1))) + 1e-9);
                    ++checked;
                }
            }
        }
    }
}

// Reynolds & Vahdat 2003, 3.2: m = |A| log_0.6185(2.081 |A|/(|B| j)).
TEST(Intersection, AgreesWithThePaper) {
    const double a = 10'000, b = 50'000, j = 128;
    const double paper = a * std::log(2.081 * a / (b * j)) / std::log(0.6185);
    EXPECT_NEAR(theory::intersection_filter_bits(a, b, 0, j), paper, paper * 1e-3);
}

TEST(Intersection, ThePlanIsNearTheFormulaAndNoFilterIsAPlan) {
    const auto plan = plan_intersection(10'000, 50'000, 128);
    const double formula = theory::intersection_bits(
        10'000, 50'000, 0, 128, theory::intersection_filter_bits(10'000, 50'000, 0, 128));
    EXPECT_NEAR(plan.total_bits, formula, formula * 0.01);
    EXPECT_EQ(plan.rate, theory::spread_rate(10'000, static_cast<double>(plan.bits), plan.hashes));
    EXPECT_EQ(plan_intersection(1'000'000, 10, 32).bits, 0U);  // ten names are less than any filter
}

// What a filter of the plan lets through is what the plan says: five deviations, a false alarm in 1.7
// million.
TEST(Intersection, FalsePositivesAreThoseOfThePlan) {
    const auto plan = plan_intersection(1'000, 20'000, 25);
    bernoulli passed(2'000'000);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto filter =
            *bloom_filter::make({plan.bits, plan.hashes, layout_id::spread, hash_family::xxh3, {seed}});
        for (std::uint64_t key = 0; key < 1'000; ++key) filter.insert(filter.hash()(key));
        for (std::uint64_t key = 1'000; key < 21'000; ++key)
            passed.add(filter.may_contain(filter.hash()(key)), plan.rate);
    }
    passed.expect(5, 0.02 * passed.expected());  // between filters the number of ones varies
}

}  // namespace
}  // namespace posy
