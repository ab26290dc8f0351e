#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "posy/counter_array.hpp"

namespace posy {
namespace {

class counter_width : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(both, counter_width, testing::Values(4u, 8u));

// Against plain integers that stick at the largest value: no step may touch a neighbour.
TEST_P(counter_width, behaves_like_sticky_integers) {
    auto counters = *counter_array::make(100, GetParam());
    std::vector<unsigned> model(100);
    std::mt19937_64 random(1);
    for (int step = 0; step < 200'000; ++step) {
        const std::uint64_t i = random() % 100;
        unsigned& expected = model[i];
        ASSERT_EQ(counters[i], expected);
        if (random() % 5 < 3) {
            counters.increment(i);
            expected += expected < counters.largest();
        } else if (expected > 0) {
            counters.decrement(i);
            expected -= expected < counters.largest();
        }
    }
    std::uint64_t saturated = 0;
    for (std::uint64_t i = 0; i < 100; ++i) {
        ASSERT_EQ(counters[i], model[i]);
        saturated += model[i] == counters.largest();
    }
    EXPECT_EQ(counters.saturated(), saturated);
    const auto reread = counter_array::from_cells(*counters.cells().clone(), GetParam());
    EXPECT_EQ(reread, counters);
}

TEST_P(counter_width, a_saturated_counter_sticks) {
    auto counters = *counter_array::make(3, GetParam());
    for (unsigned i = 0; i < 2 * counters.largest(); ++i) counters.increment(1);
    EXPECT_EQ(counters[1], counters.largest());
    EXPECT_EQ(counters.saturated(), 1u);
    EXPECT_EQ(counters.decrement(1), counters.largest());
    EXPECT_EQ(counters[1], counters.largest());
    EXPECT_EQ(counters[0] + counters[2], 0u);
    counters.clear();
    EXPECT_EQ(counters[1] + counters.saturated(), 0u);
}

}  // namespace
}  // namespace posy
