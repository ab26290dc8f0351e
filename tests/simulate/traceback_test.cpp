#include <gtest/gtest.h>

#include "simulate/systems.hpp"
#include "statistics.hpp"

namespace posy::simulate {
namespace {

// Five standard deviations for each of four rates: a false alarm in 400,000 runs.
TEST(simulated_traceback, finds_every_way_and_the_false_branches_that_theory_predicts) {
    const report r = run_traceback({.nodes = 200, .objects = 50'000, .queries = 1000});
    at_least whole(4), compared(4), pages(4);
    for (const figure& f : r.figures) {
        if (f.name.starts_with("ways found whole")) {
            ++whole;
            EXPECT_EQ(f.measured, 1) << f.name;
        }
        if (f.name.starts_with("memory per packet")) {
            ++pages;
            EXPECT_DOUBLE_EQ(f.measured, *f.predicted) << f.name;  // pages of 200 packets, in whole blocks
        }
        if (!f.deviation) continue;
        ++compared;
        EXPECT_NEAR(f.measured, *f.predicted, 5 * *f.deviation) << f.name;
    }
}

}  // namespace
}  // namespace posy::simulate
