// The simulations of this room that draw at random, in small: every promise holds, and what is measured is
// within five standard errors of what is predicted (a false alarm in 1.7 million for each figure).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "simulate/systems.hpp"
#include "statistics.hpp"

namespace posy::simulate {
namespace {

const figure& find(const report& r, const std::string& name) {
    const auto found = std::ranges::find(r.figures, name, &figure::name);
    EXPECT_NE(found, r.figures.end()) << name;
    return *found;
}

// Those with a deviation; `slack` is for what theory leaves out.
void expect_predicted(const report& r, double slack) {
    at_least checked(1);
    for (const figure& f : r.figures) {
        if (!f.predicted || !f.deviation) continue;
        EXPECT_NEAR(f.measured, *f.predicted, 5 * *f.deviation + slack * *f.predicted) << f.name;
        ++checked;
    }
}

TEST(SimulateGeographic, FindsEveryHostAndKeepsThePrediction) {
    const report r = run_geographic({.nodes = 256, .objects = 20'000, .queries = 4'000});
    EXPECT_EQ(find(r, "hosts at rest found").measured, 1);
    EXPECT_EQ(find(r, "hosts in motion found").measured, 1);
    expect_predicted(r, 0.02);
    const figure& deltas = find(r, "summaries per move, as deltas");
    EXPECT_NEAR(deltas.measured, *deltas.predicted, 0.05 * *deltas.predicted);
}

TEST(SimulateMulticast, ServesEveryMember) {
    const report r = run_multicast({.nodes = 50, .objects = 2'000, .queries = 8'000});
    EXPECT_EQ(find(r, "members that missed a packet").measured, 0);
    EXPECT_EQ(find(r, "joins and leaves that were refused").measured, 0);
    EXPECT_EQ(find(r, "filters empty after all have left").measured, 1);
    expect_predicted(r, 0.02);
}

}  // namespace
}  // namespace posy::simulate
