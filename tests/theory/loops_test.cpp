#include "posy/theory/loops.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "statistics.hpp"

namespace posy {
namespace {

std::vector<unsigned> masks_of(unsigned bits, unsigned mask_bits) {
    std::vector<unsigned> masks;
    for (unsigned mask = 0; mask < 1u << bits; ++mask)
        if (static_cast<unsigned>(std::popcount(mask)) == mask_bits) masks.push_back(mask);
    return masks;
}

// The share of all ways of this many more nodes that are stopped: every mask at every node.
double stopped(const std::vector<unsigned>& masks, unsigned filter, unsigned hops) {
    if (hops == 0) return 0;
    double sum = 0;
    for (const unsigned mask : masks)
        sum += (filter | mask) == filter ? 1 : stopped(masks, filter | mask, hops - 1);
    return sum / static_cast<double>(masks.size());
}

TEST(theory_loops, odds_are_those_of_all_ways_of_small_networks) {
    at_least checked(60);
    for (unsigned bits = 1; bits <= 6; ++bits)
        for (unsigned k = 1; k <= bits; ++k)
            for (unsigned hops = 0; hops <= 4; ++hops, ++checked)
                EXPECT_NEAR(theory::false_loop_odds(hops, bits, k), stopped(masks_of(bits, k), 0, hops),
                            1e-13)
                    << bits << " bits, masks of " << k << ", hops " << hops;
}

TEST(theory_loops, two_nodes_are_stopped_by_equal_masks) {
    // 1/C(256, 16): small odds keep their digits.
    const double equal = std::exp(std::lgamma(17) + std::lgamma(241) - std::lgamma(257));
    EXPECT_NEAR(theory::false_loop_odds(2, 256, 16) / equal, 1, 1e-10);
    EXPECT_EQ(theory::false_loop_odds(1, 256, 16), 0);
    EXPECT_EQ(theory::false_loop_odds(5, 8, 8), 1);
    EXPECT_TRUE(std::isnan(theory::false_loop_odds(3, 8, 9)));
    EXPECT_TRUE(std::isnan(theory::false_loop_odds(3, 8, 0)));
}

TEST(theory_loops, the_best_mask_has_the_least_odds_of_all) {
    for (const unsigned hops : {2u, 8u, 16u, 32u, 64u})
        for (const unsigned bits : {64u, 128u, 256u}) {
            const unsigned best = theory::best_mask_bits(hops, bits);
            const double least = theory::false_loop_odds(hops, bits, best);
            for (unsigned k = 1; k <= 64; ++k)
                EXPECT_GE(theory::false_loop_odds(hops, bits, k), least * (1 - 1e-12))
                    << hops << " hops, " << bits << " bits: " << k << " rather than " << best;
        }
}

TEST(theory_loops, the_fewest_bits_keep_the_odds) {
    const auto odds = [](unsigned hops, unsigned bits) {
        return theory::false_loop_odds(hops, bits, theory::best_mask_bits(hops, bits));
    };
    for (const unsigned hops : {4u, 16u}) {
        const unsigned bits = theory::loop_filter_bits(hops, 1e-3);
        EXPECT_EQ(bits % 8, 0u);
        EXPECT_LE(odds(hops, bits), 1e-3);
        EXPECT_GT(odds(hops, bits - 8), 1e-3);
    }
    EXPECT_EQ(theory::loop_filter_bits(1000, 1e-3), 0u);
}

}  // namespace
}  // namespace posy
