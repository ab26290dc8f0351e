#include "codec/position_list.hpp"

#include "codec/queryable_properties.hpp"

namespace posy::codec {
namespace {

TEST(position_list, small_arrays_bit_by_bit) { small_arrays<position_list>(encode_position_list); }
TEST(position_list, uneven_arrays_bit_by_bit) { uneven_arrays<position_list>(encode_position_list); }
TEST(position_list, large_arrays) { large_arrays<position_list>(encode_position_list); }
TEST(position_list, truncated_and_flipped_bytes) { hostile_bytes<position_list>(encode_position_list); }
TEST(position_list, mutated_bytes) { mutated_bytes<position_list>(encode_position_list, 3000); }
TEST(position_list, bytes_that_change_after_opening) {
    bytes_that_change_later<position_list>(encode_position_list);
}

TEST(position_list, refuses_impossible_sizes) {
    const auto bytes = encode_position_list(view_of(bits_of(100, {3})));
    EXPECT_FALSE(position_list::open(bytes, 0));
    EXPECT_FALSE(position_list::open(bytes, (std::uint64_t{1} << 40) + 1));
    EXPECT_FALSE(position_list::open(bytes, std::uint64_t{1} << 40));
}

// The example in position_list.hpp.
TEST(position_list, golden_example) {
    EXPECT_EQ(hex(encode_position_list(view_of(bits_of(1000, {3, 500, 999})))), "0303d0773e0000000000000000");
}

TEST(position_list, golden_bytes) {
    const auto pinned = [](std::uint64_t bits, double density) {
        return fingerprint(encode_position_list(view_of(random_bits(bits, density, 37))));
    };
    EXPECT_EQ(pinned(300'000, 0.133), 10144754201365939067u);
    EXPECT_EQ(pinned(300'000, 0.0108), 4820855233312405821u);
    EXPECT_EQ(pinned(300'000, 0.6), 2837204354229934484u);
}

TEST(position_list, as_many_bytes_as_promised) {
    const auto array = random_bits(1'000'000, 0.001, 29);
    EXPECT_EQ(encode_position_list(view_of(array)).size(), 2 + (array.ones() * 20 + 7) / 8 + 8);
}
}  // namespace
}  // namespace posy::codec
