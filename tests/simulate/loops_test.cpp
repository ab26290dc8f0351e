#include <gtest/gtest.h>

#include <cmath>

#include "simulate/systems.hpp"
#include "statistics.hpp"

namespace posy::simulate {
namespace {

// Every figure with a deviation is within five of it, and one more event for those that are too rare for a
// normal distribution: a false alarm in 50,000 runs.
TEST(simulated_loops, are_noticed_as_theory_predicts) {
    const report r = run_loops({.nodes = 200, .queries = 5000});
    at_least compared(20);
    bool true_loops = false;
    for (const figure& f : r.figures) {
        if (f.name.starts_with("true loops")) {
            true_loops = true;
            EXPECT_EQ(f.measured, 1);
        }
        if (!f.deviation) continue;
        ++compared;
        EXPECT_NEAR(f.measured, *f.predicted, 5 * *f.deviation + 1.0 / 5000) << f.name;
    }
    EXPECT_TRUE(true_loops);
}

TEST(simulated_loops, are_the_same_with_the_same_seed) {
    const options same{.nodes = 50, .queries = 500, .seed = 4};
    EXPECT_EQ(table(run_loops(same)), table(run_loops(same)));
}

}  // namespace
}  // namespace posy::simulate
