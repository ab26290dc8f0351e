#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "posy/bloomier_map.hpp"
#include "posy/sealed_filter.hpp"
#include "posy/theory.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy::theory {
namespace {

// Measured sizes stray from set to set by what is bumped: at 10^4 keys, where the layer below is all
// remainder, by 0.1 %. The bound is the promise, ten times that.
TEST(sealed_bits, are_the_bits_of_the_payload) {
    for (const std::size_t size : {10'000u, 23'456u, 65'536u, 65'537u, 200'000u}) {
        for (const double rate : {0.9, 0.5, 0.3, 0.1, 0.01, 0.001, 1e-6}) {
            const auto filter = *sealed_filter::make(hasher(), random_digests(size, 50), {.rate = rate});
            EXPECT_NEAR(sealed_bits(static_cast<double>(size), rate) / 8.0 /
                            static_cast<double>(filter.bytes().size()),
                        1, 0.01)
                << size << " keys at " << rate;
        }
        const std::vector<std::uint64_t> values(size, 12);
        const auto map = *bloomier_map::make(hasher(), random_digests(size, 51), values, {.value_bits = 20});
        EXPECT_NEAR(
            sealed_bits(static_cast<double>(size), 0.01, 20) / 8.0 / static_cast<double>(map.bytes().size()),
            1, 0.01);
    }
}

// Small sets, too, to a few bytes.
TEST(sealed_bits, of_small_sets) {
    for (std::size_t size = 0; size <= 3000; size += 1 + size / 7) {
        const auto filter = *sealed_filter::make(hasher(), random_digests(size, 52), {.rate = 0.01});
        const double bits = sealed_bits(static_cast<double>(size), 0.01);
        EXPECT_NEAR(bits / 8, static_cast<double>(filter.bytes().size()), 3 + 0.02 * bits / 8) << size;
    }
}

// Sizes and rates as they will be, from one key on: where all fingerprints of a small set are alike, and
// where the first layer has thirty blocks to mix. The rate is the mean over six sets; from set to set it
// strays by 0.3 % of itself, so that 1 % is eight deviations of the mean.
TEST(sealed_rate, is_the_rate_that_was_built) {
    std::vector<std::size_t> sizes{1,  2,  3,  4,   7,   15,  32,   63,   64,  65,
                                   66, 70, 80, 100, 150, 333, 1000, 2047, 2048};
    for (std::size_t size = 2049; size <= 5000; size += size < 2200 ? 25 : 211) sizes.push_back(size);
    for (const std::size_t size : sizes) {
        for (const double rate : {0.9, 0.5, 0.3, 0.1, 0.01, 0.006, 0.001, 1e-6}) {
            const auto n = static_cast<double>(size);
            constexpr unsigned sets = 6;
            sample bytes(sets), rates(sets);
            for (unsigned set = 0; set < sets; ++set) {
                const auto filter =
                    *sealed_filter::make(hasher(), random_digests(size, 60 + set), {.rate = rate});
                bytes.add(static_cast<double>(filter.bytes().size()));
                rates.add(filter.false_positive_rate());
            }
            EXPECT_NEAR(sealed_bits(n, rate) / 8, bytes.mean(), 1 + 0.01 * bytes.mean())
                << size << " keys at " << rate;
            // Of 64 to 70 keys the remainder may get a second place to start at, or not.
            const double tolerance = size >= 64 && size <= 70 ? 0.2 : 0.01;
            EXPECT_NEAR(sealed_rate(n, rate) / rates.mean(), 1, tolerance) << size << " keys at " << rate;
        }
    }
    EXPECT_EQ(sealed_rate(10, 0.01), 1.0 / 128);
    EXPECT_TRUE(std::isnan(sealed_rate(10, 0)));
}

// At least the lower bound; from a million keys on, half a percent and the price of the mixture above it.
TEST(sealed_bits, are_near_the_lower_bound) {
    for (const double n : {1e6, 1e8, 1e11}) {
        for (double rate = 0.4; rate > 1e-9; rate /= 3) {
            const double bits = sealed_bits(n, rate), least = lower_bound_bits(n, rate);
            EXPECT_GT(bits, least);
            EXPECT_LT(bits, 1.0025 * least + (0.0862 + 0.02) * n) << n << " " << rate;
        }
    }
    EXPECT_LT(sealed_bits(1e7, 1.0 / 256), 1.005 * 8e7);
}

TEST(sealed_bits, outside_its_limits) {
    EXPECT_TRUE(std::isnan(sealed_bits(1e13, 0.01)));
    EXPECT_TRUE(std::isnan(sealed_bits(-1, 0.01)));
    EXPECT_TRUE(std::isnan(sealed_bits(100, 0)));
    EXPECT_TRUE(std::isnan(sealed_bits(100, 1e-10)));
    EXPECT_TRUE(std::isnan(sealed_bits(100, 1.5)));
    EXPECT_TRUE(std::isnan(sealed_bits(100, 0.1, 65)));
}

}  // namespace
}  // namespace posy::theory
