#include "posy/overlay/square.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "statistics.hpp"

namespace posy::overlay {
namespace {

constexpr unsigned levels = 5, side = 1U << levels;

template <class Use>
void each_cell(const Use& use) {
    for (std::uint32_t y = 0; y < side; ++y) {
        for (std::uint32_t x = 0; x < side; ++x) use(square{0, x, y});
    }
}

TEST(Square, QuartersCoverIt) {
    at_least checked(1000);
    each_cell([&](square cell) {
        for (unsigned level = 1; level <= levels; ++level) {
            const square whole = around(cell, level);
            int holding = 0;
            for (const square quarter : quarters(whole)) {
                EXPECT_TRUE(contains(whole, quarter));
                holding += contains(quarter, cell);
            }
            EXPECT_EQ(holding, 1);
            for (const square sibling : siblings(around(cell, level - 1))) {
                EXPECT_TRUE(contains(whole, sibling));
                EXPECT_FALSE(contains(sibling, cell));
            }
            ++checked;
        }
    });
}

TEST(Square, AStationHeadsOneSquareAtMost) {
    std::map<node_id, std::set<unsigned>> headed;
    for (unsigned level = 1; level <= levels; ++level) {
        for (std::uint32_t y = 0; y < side >> level; ++y) {
            for (std::uint32_t x = 0; x < side >> level; ++x) {
                const square s{level, x, y};
                EXPECT_TRUE(contains(s, head_of(s)));
                headed[node_of(head_of(s))].insert(level);
            }
        }
    }
    each_cell([&](square cell) {
        const auto found = headed.find(node_of(cell));
        if (found == headed.end()) {
            EXPECT_EQ(level_headed(cell, levels), 0U);
        } else {
            EXPECT_EQ(found->second, std::set{level_headed(cell, levels)});
        }
        EXPECT_EQ(cell_of(node_of(cell)), cell);
    });
    EXPECT_EQ(headed.size(), 341U);  // 4^4 + … + 1
}

TEST(Square, CommonLevelIsTheLowestThatHoldsBoth) {
    at_least checked(10'000);
    each_cell([&](square a) {
        for (const square b : {square{0, 0, 0}, square{0, 15, 16}, square{0, 7, 20}, a}) {
            unsigned level = 0;
            while (around(a, level) != around(b, level)) ++level;
            EXPECT_EQ(common_level(a, b), level);
            checked += 10;
        }
    });
}

TEST(Square, KnowsWhatLiesInAField) {
    EXPECT_TRUE(lies_in({0, 31, 31}, levels));
    EXPECT_FALSE(lies_in({0, 32, 0}, levels));
    EXPECT_TRUE(lies_in({5, 0, 0}, levels));
    EXPECT_FALSE(lies_in({5, 1, 0}, levels));
    EXPECT_FALSE(lies_in({6, 0, 0}, levels));
}

}  // namespace
}  // namespace posy::overlay
