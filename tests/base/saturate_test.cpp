#include "base/saturate.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace posy {
namespace {

TEST(saturating_sum, is_the_sum_or_the_largest) {
    for (unsigned a = 0; a < 256; ++a) {
        for (unsigned b = 0; b < 256; ++b)
            ASSERT_EQ(saturating_sum(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)),
                      std::min(a + b, 255u));
    }
    EXPECT_EQ(saturating_sum(~std::uint64_t{0}, std::uint64_t{1}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace posy
