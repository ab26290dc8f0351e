// What growing_filter::expect() says is what is built: arrays, size and rate, for numbers of keys on both
// sides of every boundary. A boundary is where one key more makes a further array, or folds less.
//
// Filters of different seeds are built for each number. Their means are compared with the forecast within 1 %
// or 4 errors of the mean, by the deviation that rate_deviation() computes or by that between the filters,
// whichever is larger (a false alarm in 10^4; the seeds are fixed). All of them have the forecast arrays,
// unless a new key seems to be there already: that is less than one in a hundred filters here.
#include <cmath>
#include <cstdlib>

#include "family/rate_deviation.hpp"
#include "posy/growing_filter.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

struct forecasts {
    growing_filter::options options;

    growing_filter::forecast at(std::uint64_t items) const { return *growing_filter::expect(options, items); }
    // The last number of keys of which `what` is still as at `from`, if it is different at `to`.
    template <class What>
    std::uint64_t last_before_change(std::uint64_t from, std::uint64_t to, What what) const {
        const auto before = what(at(from));
        while (from + 1 < to) {
            const std::uint64_t middle = from + (to - from) / 2;
            (what(at(middle)) == before ? from : to) = middle;
        }
        return from;
    }
    void expect_built(std::uint64_t items, int seeds) const;
};

void forecasts::expect_built(std::uint64_t items, int seeds) const {
    const auto foreseen = at(items);
    const auto least = static_cast<std::uint64_t>(seeds);
    sample bits(least, "bits"), rates(least, "rates");
    double variance = 0;
    int other_arrays = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        auto how = options;
        how.hash = hasher(hash_family::xxh3, {static_cast<std::uint64_t>(seed), 0});
        auto filter = *growing_filter::make(how);
        std::vector<digest> digests;
        for (std::uint64_t key = 0; key < items; ++key) digests.push_back(how.hash(key));
        ASSERT_TRUE(filter.insert(digests));
        other_arrays += filter.arrays().size() != foreseen.arrays || filter.bits() != foreseen.growing_bits;
        ASSERT_TRUE(filter.shrink());
        for (const bloom_filter& array : filter.arrays())
            variance += std::pow(rate_deviation(array.geometry(), static_cast<double>(*array.items())), 2);
        ASSERT_LE(filter.false_positive_rate(), options.rate);
        bits.add(static_cast<double>(filter.bits()));
        rates.add(filter.false_positive_rate());
    }
    const auto within = [&](const sample& seen, double expected, double computed) {
        const double error = std::max(std::sqrt(computed / (seeds - 1)), seen.standard_error());
        EXPECT_NEAR(seen.mean(), expected, std::max(0.01 * expected, 4 * error));
    };
    SCOPED_TRACE(std::string(name_of(options.layout)) + " rate " + std::to_string(options.rate) +
                 " n = " + std::to_string(items));
    within(bits, static_cast<double>(foreseen.bits), 0);
    within(rates, foreseen.false_positive_rate, variance / seeds);
    EXPECT_LE(other_arrays, seeds / 5);
}

void sweep(const growing_filter::options& options, int seeds, unsigned most_arrays) {
    const forecasts f{options};
    const auto arrays = [](const auto& forecast) { return forecast.arrays; };
    std::uint64_t from = 1;
    at_least boundaries(most_arrays - 1, "boundaries");
    for (unsigned count = 1; count < most_arrays; ++count) {
        std::uint64_t to = 2 * from;
        while (f.at(to).arrays == count) to *= 2;
        const std::uint64_t full = f.last_before_change(from, to, arrays);
        // One key more begins an array, and the filter gets a few percent or lines larger for it.
        EXPECT_EQ(f.at(full).arrays, count);
        EXPECT_EQ(f.at(full + 1).arrays, count + 1);
        EXPECT_LE(static_cast<double>(f.at(full + 1).bits),
                  1.06 * static_cast<double>(f.at(full).bits) + 4 * 512);
        for (const int off : {-1, 0, 1, 2}) f.expect_built(full + static_cast<std::uint64_t>(off), seeds);
        f.expect_built(full + full / 20, seeds);
        // Where the fold changes, somewhere on the way there.
        const auto bits = [](const auto& forecast) { return forecast.bits; };
        if (f.at(full / 2).bits != f.at(full).bits) {
            const std::uint64_t same = f.last_before_change(full / 2, full, bits);
            for (const int off : {0, 1}) f.expect_built(same + static_cast<std::uint64_t>(off), seeds);
        }
        from = full + 1;
        ++boundaries;
    }
}

TEST(growing_forecast, is_what_is_built_around_every_boundary) {
    for (const double rate : {0.1, 0.01}) {
        sweep({.rate = rate, .layout = layout_id::blocked, .first_bytes = 60'000}, 10, 2);
        sweep({.rate = rate, .layout = layout_id::spread, .first_bytes = 8'000}, 10, 3);
    }
}

// The long form: `POSY_LONG_TESTS=1 ctest -R family/growing_forecast`, some minutes.
TEST(growing_forecast, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    for (const layout_id layout : members<layout_id>) {
        for (const double rate : {0.25, 0.1, 0.01, 0.001, 1e-5}) {
            for (const std::uint64_t first : {8'000u, 60'000u, 500'000u}) {
                sweep({.rate = rate, .layout = layout, .first_bytes = first}, 10, first < 100'000 ? 3 : 2);
            }
        }
    }
}

}  // namespace
}  // namespace posy
