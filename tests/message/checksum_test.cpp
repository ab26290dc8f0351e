#include <gtest/gtest.h>

#include "message/frame.hpp"

namespace posy::frame {
namespace {

// XXH3-64 of nothing is 2d06800538d394c2.
TEST(checksum, is_the_low_half_of_xxh3_and_does_not_care_how_it_is_fed) {
    EXPECT_EQ(checksum().value(), 0x38d394c2u);
    checksum whole, pieces;
    whole.add(as_byte_view("a posy of bytes"));
    pieces.add(as_byte_view("a posy"));
    pieces.add(as_byte_view(" of bytes"));
    EXPECT_EQ(whole.value(), pieces.value());
}

}  // namespace
}  // namespace posy::frame
