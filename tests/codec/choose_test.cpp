#include "codec/choose.hpp"

#include <gtest/gtest.h>

namespace posy::codec {
namespace {

TEST(choose, small_arrays_bit_by_bit_large_ones_fast) {
    const auto chosen = [](std::uint64_t bits, std::uint64_t ones, coding want) {
        return choose({{}, bits, ones}, want);
    };
    EXPECT_EQ(chosen(140'000, 18'000, coding::smallest), codec_id::range);
    EXPECT_EQ(chosen(140'000, 18'000, coding::fastest), codec_id::bytes);
    EXPECT_EQ(chosen(140'000'000, 18'000'000, coding::smallest), codec_id::bytes);
    EXPECT_EQ(chosen(140'000'000, 18'000, coding::smallest), codec_id::gaps);
    EXPECT_EQ(chosen(320'000, 2'000, coding::fastest), codec_id::gaps);
    EXPECT_EQ(chosen(320'000, 2'000, coding::raw), codec_id::raw);
}

}  // namespace
}  // namespace posy::codec
