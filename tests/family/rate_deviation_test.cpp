// The scatter of the rate of the bits, as computed and as it is between 400 filters of different seeds. The
// deviation of 400 samples is known to 1/√800 = 3.5 % of itself, somewhat worse where the scatter is skewed;
// with a tenth for what the formula leaves out, 4 of those are a quarter (a false alarm in 10^4).
#include "family/rate_deviation.hpp"

#include <cmath>

#include "posy/bloom_filter.hpp"
#include "posy/plan.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

TEST(rate_deviation, is_that_between_filters) {
    for (const layout_id layout : members<layout_id>) {
        for (const double rate : {0.2, 0.01, 1e-4}) {
            for (const std::uint64_t items : {200u, 2000u}) {
                geometry g = choose({.items = items, .rate = rate, .layout = layout})->geometry();
                constexpr std::uint64_t filters = 400;
                sample rates(filters);
                for (g.seed.low = 1; g.seed.low <= filters; ++g.seed.low)
                    rates.add(filter_of(g, 0, static_cast<int>(items)).false_positive_rate());
                EXPECT_NEAR(rate_deviation(g, static_cast<double>(items)), rates.deviation(),
                            0.25 * rates.deviation())
                    << describe(g) << " n=" << items << " rate " << rates.mean();
            }
        }
    }
}

// A single key sets one bit in every slice, so that there is no scatter; rounding must not make it negative.
TEST(rate_deviation, of_next_to_nothing) {
    for (const geometry& g : all_shapes()) {
        for (const double items : {0.0, 0.4, 1.0, 2.0, 1e18}) {
            const double deviation = rate_deviation(g, items);
            EXPECT_TRUE(std::isfinite(deviation) && deviation >= 0) << describe(g) << " n=" << items;
        }
    }
}

}  // namespace
}  // namespace posy
