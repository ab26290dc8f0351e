#include "message/frame.hpp"

#include <gtest/gtest.h>

namespace posy::frame {
namespace {

TEST(frame, headers_come_back_as_they_went_at_their_largest) {
    for (const kind k : {kind::filter, kind::counting, kind::delta, kind::queryable}) {
        header h;
        h.kind = k;
        h.geometry = {
            max_bits, 7, layout_id::spread, hash_family::siphash, {~std::uint64_t{0}, ~std::uint64_t{0}}};
        h.items = ~std::uint64_t{0} - 1;
        h.counter_bits = k == kind::counting ? 8 : 0;
        h.generation = h.base_generation = ~std::uint64_t{0};
        h.base_checksum = 0xdeadbeef;
        h.payload_size = h.array_bytes();
        const auto bytes = encode(h);
        if (h.raw()) {
            EXPECT_EQ(bytes.size() % 64, 0u);
        }
        ASSERT_EQ(*header_size(bytes), bytes.size());
        const auto back = decode(bytes);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(encode(*back), bytes);
        EXPECT_EQ(back->geometry, h.geometry);
        EXPECT_EQ(back->items, h.items);
    }
}

TEST(frame, a_small_delta_has_a_small_frame) {
    header h;
    h.kind = kind::delta;
    h.codec = codec_id::gaps;
    h.geometry = {320'000, 2, layout_id::spread};
    h.items = 10'000;
    h.generation = 100;
    h.base_generation = 99;
    h.payload_size = 2078;
    EXPECT_LE(encode(h).size() + checksum_size, 36u);
}

TEST(frame, arrays_are_whole_words) {
    header h;
    h.geometry = {65, 1, layout_id::spread};
    EXPECT_EQ(h.array_bytes(), 16u);
    h.kind = kind::counting;
    h.counter_bits = 4;
    EXPECT_EQ(h.array_bytes(), 40u);
}

}  // namespace
}  // namespace posy::frame
