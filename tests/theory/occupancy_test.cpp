#include "theory/occupancy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "layout/all.hpp"
#include "posy/counting_filter.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"

namespace posy::theory {
namespace {

// Every way to throw, one by one.
TEST(occupancy, is_that_of_an_enumeration) {
    for (unsigned groups = 1; groups <= 5; ++groups) {
        for (unsigned throws = 0; throws <= 7; ++throws) {
            std::vector<double> reach(throws + 2);  // how many ways lead to a highest load of at least j
            const auto ways = static_cast<unsigned>(std::pow(groups, throws));
            for (unsigned way = 0; way < ways; ++way) {
                std::vector<unsigned> load(groups);
                for (unsigned t = 0, rest = way; t < throws; ++t, rest /= groups) ++load[rest % groups];
                for (unsigned j = 0; j <= *std::ranges::max_element(load); ++j) ++reach[j];
            }
            for (unsigned j = 1; j < reach.size(); ++j)
                EXPECT_NEAR(any_fault(throws, groups, faults(j, 0.0)), reach[j] / ways, 1e-12)
                    << throws << " into " << groups << " to " << j;
        }
    }
}

// P(all loads < j) for 0, 1, … throws, group by group: each takes a binomial number of the throws that are
// left.
std::vector<double> all_below(unsigned throws, unsigned groups, unsigned j) {
    std::vector<double> well(throws + 1);
    for (unsigned t = 0; t <= throws; ++t) well[t] = t < j;
    for (unsigned more = 2; more <= groups; ++more) {
        std::vector<double> next(throws + 1);
        for (unsigned t = 0; t <= throws; ++t) {
            double weight = counter_probability(0, t, more, 1);
            for (unsigned x = 0; x < j && x <= t; ++x) {
                next[t] += weight * well[t - x];
                weight *= (t - x) / (x + 1.0) / (more - 1.0);
            }
        }
        well = next;
    }
    return well;
}

// On both sides of where the method changes, in throws and in the size of the answer; where that is not so
// small that one minus the other loses its digits.
TEST(occupancy, keeps_its_digits_where_the_method_changes) {
    at_least answers(100, "answers");
    for (const unsigned groups : {20u, 100u, 300u}) {
        for (const unsigned j : {6u, 8u, 10u, 12u}) {
            const auto well = all_below(800, groups, j);
            for (unsigned throws = 300; throws <= 800; throws += throws > 500 && throws < 520 ? 1 : 20) {
                const double exact = 1 - well[throws];
                if (exact < 1e-6) continue;
                ++answers;
                EXPECT_NEAR(any_fault(throws, groups, faults(j, 0.0)) / exact, 1, 1e-4)
                    << throws << " into " << groups << " to " << j;
            }
        }
    }
}

// The bracket that negative association gives, and a tail far below what one minus anything could show.
TEST(occupancy, lies_between_its_bounds) {
    for (const double m : {100.0, 1e4, 1e6, 1e12}) {
        for (const unsigned k : {1u, 7u}) {
            for (unsigned j = 2; j < 40; ++j) {
                const double n = std::floor(0.7 * m / k), one = counter_tail(j, n, m, k);
                const double p = overflow_probability(j, n, m, k);
                EXPECT_LE(p, m * one * (1 + 1e-9));
                EXPECT_GE(p, -std::expm1(m * std::log1p(-one)) * (1 - 1e-9));
                EXPECT_LE(p, 1);
            }
        }
    }
    EXPECT_NEAR(overflow_probability(30, 1e5, 1e6, 7) / (1e6 * counter_tail(30, 1e5, 1e6, 7)), 1, 1e-6);
    EXPECT_EQ(overflow_probability(16, 3, 100, 5), 0);   // fifteen throws never reach sixteen
    EXPECT_EQ(overflow_probability(3, 101, 150, 3), 1);  // and 303 into 150 always reach three
}

// Filters with real counters in every layout: the share of them in which a counter has saturated. Odds of a
// false alarm at 4.5 deviations: 7e-6 per row.
TEST(occupancy, is_that_of_real_filters) {
    const struct {
        layout_id layout;
        std::uint64_t bits;
        unsigned hashes, items;
    } rows[] = {{layout_id::spread, 50, 4, 85},     {layout_id::spread, 300, 9, 180},
                {layout_id::sliced, 60, 4, 100},    {layout_id::blocked, 512, 8, 370},
                {layout_id::blocked, 1024, 5, 900}, {layout_id::blocked, 512, 12, 240},
                {layout_id::narrow, 128, 5, 150},   {layout_id::narrow, 384, 8, 220},
                {layout_id::paired, 1024, 8, 720},  {layout_id::paired, 2048, 6, 1600}};
    std::mt19937_64 random(20);
    for (const auto& [layout, bits, hashes, items] : rows) {
        const geometry g{bits, hashes, layout};
        const double p = layouts::with_layout(g, [&]<class Layout>(const Layout&) {
            return Layout::overflow(15, items, static_cast<double>(bits), hashes);
        });
        EXPECT_GT(p, 0.02) << name_of(layout) << bits;
        EXPECT_LT(p, 0.98) << name_of(layout) << bits;
        bernoulli saturated(1500, std::string(name_of(layout)) + " m=" + std::to_string(bits) +
                                      " k=" + std::to_string(hashes));
        for (int run = 0; run < 1500; ++run) {
            auto filter = *counting_filter::make(g, 4);
            for (unsigned i = 0; i < items; ++i) filter.insert(digest{random(), random()});
            saturated.add(filter.saturated() > 0, p);
        }
        saturated.expect(4.5);
    }
}

}  // namespace
}  // namespace posy::theory
