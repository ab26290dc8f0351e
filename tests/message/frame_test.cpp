#include "message/frame.hpp"

#include <gtest/gtest.h>

namespace posy::frame {
namespace {

TEST(frame, a_raw_payload_starts_at_a_multiple_of_64) {
    header h;
    for (const std::uint64_t bits : {std::uint64_t{1}, std::uint64_t{1000}, max_bits}) {
        h.geometry = {
            bits, 7, layout_id::spread, hash_family::siphash, {~std::uint64_t{0}, ~std::uint64_t{0}}};
        h.items = ~std::uint64_t{0} - 1;
        h.payload_size = raw_size(h.geometry, 0);
        const auto bytes = encode(h);
        EXPECT_EQ(bytes.size() % 64, 0u);
        ASSERT_EQ(*header_size(bytes), bytes.size());
        const auto back = decode(bytes);
        ASSERT_TRUE(back) << back.error().text();
        EXPECT_EQ(back->geometry, h.geometry);
        EXPECT_EQ(back->items, h.items);
        EXPECT_EQ(back->payload_size, h.payload_size);
    }
}

TEST(frame, raw_sizes_are_whole_words) {
    EXPECT_EQ(raw_size({1, 1}, 0), 8u);
    EXPECT_EQ(raw_size({65, 1}, 0), 16u);
    EXPECT_EQ(raw_size({65, 1}, 4), 40u);
}

}  // namespace
}  // namespace posy::frame
