#include "posy/theory/traceback.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "posy/plan.hpp"
#include "posy/theory.hpp"

namespace posy {
namespace {

// The definition: a tree, walked to a depth at which nothing is left.
double branches_behind(double children, double rate, int depth) {
    return depth == 0 ? 0 : children * rate * (1 + branches_behind(children, rate, depth - 1));
}

TEST(theory_traceback, false_branches_are_those_of_the_tree) {
    for (const double degree : {2.0, 3.0, 8.0})
        for (const double rate : {0.001, 0.01, 0.1}) {
            const double behind = 1 + branches_behind(degree - 1, rate, 400);
            // The two ends of the way have degree − 1 other neighbours, the routers between them degree − 2.
            EXPECT_NEAR(theory::false_branches(5, degree, rate),
                        (3 * (degree - 2) + 2 * (degree - 1)) * rate * behind, 1e-12);
            EXPECT_NEAR(theory::false_branches(1, degree, rate), degree * rate * behind, 1e-12);
            EXPECT_LE(theory::false_branches(5, degree, rate), theory::false_branches_bound(5, degree, rate));
        }
    EXPECT_TRUE(std::isinf(theory::false_branches(5, 11, 0.1)));
    EXPECT_TRUE(std::isinf(theory::false_branches_bound(5, 10, 0.1)));
}

TEST(theory_traceback, the_rate_for_given_branches_gives_them) {
    for (const double branches : {0.01, 1.0, 5.0})
        EXPECT_NEAR(theory::false_branches(15, 4, theory::traceback_rate(15, 4, branches)), branches, 1e-12);
}

TEST(theory_traceback, digests_take_half_a_percent_of_the_link) {
    // 5 bits per packet and 3 hashes are a rate of 0.092; the best filter with it needs a little less.
    const double rate = theory::false_positive_rate_asymptotic(1, 5, 3);
    EXPECT_NEAR(theory::digest_share(125, rate), 0.005, 1e-4);
    EXPECT_DOUBLE_EQ(theory::digest_bytes(1000, 60, rate), theory::digest_share(125, rate) * 125 * 60'000);
}

// A page is what the planner makes of it; few packets have a block of 64 bytes to themselves.
TEST(theory_traceback, a_page_has_whole_blocks) {
    EXPECT_EQ(theory::page_bytes(1, 0.1), 64);
    EXPECT_EQ(theory::page_bytes(50, 0.1), 64);
    for (const std::uint64_t packets : {50U, 800U, 100'000U})
        for (const double rate : {0.1, 0.01, 0.001}) {
            const auto page = choose(
                {.items = packets, .rate = rate, .layout = layout_id::blocked, .hash = hash_family::siphash});
            EXPECT_EQ(theory::page_bytes(static_cast<double>(packets), rate),
                      static_cast<double>(page->memory_bytes()))
                << packets << " packets, rate " << rate;
            EXPECT_GE(theory::page_bytes(static_cast<double>(packets), rate),
                      theory::digest_bytes(static_cast<double>(packets), 1, rate));
        }
}

}  // namespace
}  // namespace posy
