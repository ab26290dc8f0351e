#include "posy/theory/geographic.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "posy/overlay/square.hpp"
#include "statistics.hpp"

namespace posy::theory {
namespace {

using overlay::square;

constexpr std::array rates{0.05, 0.02, 0.08, 0.03};
constexpr unsigned levels = rates.size();

// A search as it is described in the header, where each filter answers by the toss of a coin. The visits of
// squares without the host, and of those with it.
struct search {
    std::mt19937_64& random;
    square host;
    bool present;
    int vain = 0, right = 0;

    bool look(square cell, unsigned inside) {
        if (present && cell == host) return true;
        for (unsigned level = 0; level < inside; ++level) {
            for (const square s : overlay::siblings(overlay::around(cell, level))) {
                const bool holds = present && overlay::contains(s, host);
                if (!holds && std::generate_canonical<double, 53>(random) >= rates[level]) continue;
                ++(holds ? right : vain);
                if (look(overlay::head_of(s), level)) return true;
            }
        }
        return false;
    }
};

square random_cell(std::mt19937_64& random) {
    return {0, static_cast<std::uint32_t>(random() % 16), static_cast<std::uint32_t>(random() % 16)};
}

// Five standard errors: a false alarm in one of 600,000 runs for each of the three.
TEST(Geographic, ForwardsAreThoseOfARandomSearch) {
    std::mt19937_64 random(1);
    sample vain(100'000), right(100'000), absent(100'000);
    for (int i = 0; i < 100'000; ++i) {
        search s{random, random_cell(random), true};
        EXPECT_TRUE(s.look(random_cell(random), levels));
        vain.add(s.vain), right.add(s.right);
        search none{random, {}, false};
        EXPECT_FALSE(none.look(random_cell(random), levels));
        absent.add(none.vain);
    }
    vain.expect_mean(geographic_false_forwards(rates), 5);
    right.expect_mean(geographic_true_forwards(levels), 5);
    absent.expect_mean(geographic_absent_forwards(rates), 5);
}

TEST(Geographic, WithoutErrorsNothingIsVisitedInVain) {
    constexpr std::array<double, 3> none{};
    EXPECT_EQ(geographic_false_forwards(none), 0);
    EXPECT_EQ(geographic_absent_forwards(none), 0);
    EXPECT_NEAR(geographic_absent_forwards(std::array{1.0, 1.0}), 15, 1e-12);  // all but its own cell
}

// Exactly, by counting the lines between cells.
TEST(Geographic, CrossingIsTheShareOfTheLines) {
    constexpr unsigned side = 1U << levels;
    for (unsigned level = 0; level < levels; ++level) {
        int lines = 0;
        for (std::uint32_t x = 0; x + 1 < side; ++x)
            lines += overlay::common_level({0, x, 0}, {0, x + 1, 0}) > level;
        EXPECT_NEAR(geographic_crossing(level, levels), lines / (side - 1.0), 1e-12) << level;
    }
}

}  // namespace
}  // namespace posy::theory
