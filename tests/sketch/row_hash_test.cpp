#include "sketch/row_hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace posy::sketch {
namespace {

// Two digests, however alike, fall on the pairs of indices as two dice would. Over 64,000 seeds; chi-square
// with 63 degrees of freedom is above 135 once in 3 million.
TEST(row_hash, pairs_of_digests_are_independent) {
    constexpr std::uint64_t width = 8;
    constexpr std::uint64_t seeds = 64'000;
    const std::vector<std::pair<digest, digest>> pairs{
        {{0, 0}, {1, 0}},
        {{0, 0}, {0, 1}},
        {{0, 0}, {std::uint64_t{1} << 63, 0}},
        {{5, 7}, {7, 5}},
        {{~std::uint64_t{0}, 0}, {0, ~std::uint64_t{0}}},
        {{1, 2}, {std::uint64_t{1} << 32, std::uint64_t{2} << 32}},  // the halves of the words changed places
    };
    for (const auto& [x, y] : pairs) {
        std::array<double, width * width> seen{};
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            const row_hash row({seed, 0}, static_cast<unsigned>(seed % 5));
            ++seen[row(x, width) * width + row(y, width)];
        }
        double chi_square = 0;
        for (const double count : seen) {
            const double expected = static_cast<double>(seeds) / (width * width);
            chi_square += (count - expected) * (count - expected) / expected;
        }
        EXPECT_LT(chi_square, 135) << x.low << ' ' << x.high << ' ' << y.low << ' ' << y.high;
    }
}

TEST(row_hash, seeds_and_rows_differ) {
    const digest d{123, 456};
    const std::uint64_t width = std::uint64_t{1} << 32;
    const std::uint64_t here = row_hash({1, 0}, 0)(d, width);
    EXPECT_NE(here, row_hash({1, 0}, 1)(d, width));
    EXPECT_NE(here, row_hash({2, 0}, 0)(d, width));
    EXPECT_NE(here, row_hash({1, 1}, 0)(d, width));
}

// The largest width reaches its upper half, and width 1 has one index.
TEST(row_hash, every_width) {
    const std::uint64_t width = std::uint64_t{1} << 32;
    unsigned high = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const row_hash row({9, 0}, 0);
        EXPECT_LT(row({i, i * i}, width), width);
        high += row({i, i * i}, width) >= width / 2;
        EXPECT_EQ(row({i, i}, 1), 0u);
    }
    EXPECT_GT(high, 300u);
    EXPECT_LT(high, 700u);
}

// On the wire: other machines have to find the same counters.
TEST(row_hash, pinned) {
    const hasher hash;
    EXPECT_EQ(row_hash({0, 0}, 0)(hash("posy"), 1'000'000), 732'291u);
    EXPECT_EQ(row_hash({0, 0}, 3)(hash("posy"), 1'000'000), 484'541u);
    EXPECT_EQ(row_hash({7, 9}, 3)(hash("posy"), 1'000'000), 808'552u);
}

}  // namespace
}  // namespace posy::sketch
