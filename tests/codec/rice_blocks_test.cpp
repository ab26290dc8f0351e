#include "codec/rice_blocks.hpp"

#include "codec/queryable_properties.hpp"
#include "posy/theory.hpp"

namespace posy::codec {
namespace {

TEST(rice_blocks, small_arrays_bit_by_bit) { small_arrays<rice_blocks>(encode_rice_blocks); }
TEST(rice_blocks, uneven_arrays_bit_by_bit) { uneven_arrays<rice_blocks>(encode_rice_blocks); }
TEST(rice_blocks, large_arrays) { large_arrays<rice_blocks>(encode_rice_blocks); }
TEST(rice_blocks, truncated_and_flipped_bytes) { hostile_bytes<rice_blocks>(encode_rice_blocks); }
TEST(rice_blocks, mutated_bytes) { mutated_bytes<rice_blocks>(encode_rice_blocks, 3000); }
TEST(rice_blocks, bytes_that_change_after_opening) {
    bytes_that_change_later<rice_blocks>(encode_rice_blocks);
}

TEST(rice_blocks, refuses_impossible_sizes) {
    const auto bytes = encode_rice_blocks(view_of(bits_of(100, {3})));
    EXPECT_FALSE(rice_blocks::open(bytes, 0));
    EXPECT_FALSE(rice_blocks::open(bytes, (std::uint64_t{1} << 40) + 1));
    EXPECT_FALSE(rice_blocks::open(bytes, std::uint64_t{1} << 40));
}

// The example in rice_blocks.hpp.
TEST(rice_blocks, golden_example) {
    EXPECT_EQ(hex(encode_rice_blocks(view_of(bits_of(100, {3, 17, 18, 41, 77})))),
              "07040005051c0b0000000038332b71090000000000000000");
}

TEST(rice_blocks, golden_bytes) {
    const auto pinned = [](std::uint64_t bits, double density) {
        return fingerprint(encode_rice_blocks(view_of(random_bits(bits, density, 37))));
    };
    EXPECT_EQ(pinned(300'000, 0.133), 7098361677102020758u);
    EXPECT_EQ(pinned(300'000, 0.0108), 5609524169630808262u);
    EXPECT_EQ(pinned(300'000, 0.6), 2292175081825339142u);
}

// At a tenth of the size of the header's table. The size follows the count of ones, so
// there is no statistical margin to leave; the directory's widths depend on extremes, which vary by a bit.
TEST(rice_blocks, close_to_the_fewest_bytes) {
    for (const auto& [density, most] : {std::pair{0.1331, 1.02}, {0.0108, 1.012}}) {
        const auto array = random_bits(14'000'000, density, 29);
        const double least = theory::log2_binomial(14e6, static_cast<double>(array.ones())) / 8;
        EXPECT_LT(static_cast<double>(encode_rice_blocks(view_of(array)).size()), most * least);
    }
}

// Whatever the density, close to raw at worst.
TEST(rice_blocks, never_much_more_than_the_array) {
    for (int percent = 0; percent <= 100; ++percent) {
        const auto array = random_bits(1'000'000, percent / 100.0, 31);
        EXPECT_LT(encode_rice_blocks(view_of(array)).size(), 125'000 * 1.01 + 64) << percent;
    }
}
}  // namespace
}  // namespace posy::codec
