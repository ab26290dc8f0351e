#include "codec/elias_fano.hpp"

#include "codec/queryable_properties.hpp"
#include "posy/theory.hpp"

namespace posy::codec {
namespace {

TEST(elias_fano, small_arrays_bit_by_bit) { small_arrays<elias_fano>(encode_elias_fano); }
TEST(elias_fano, uneven_arrays_bit_by_bit) { uneven_arrays<elias_fano>(encode_elias_fano); }
TEST(elias_fano, large_arrays) { large_arrays<elias_fano>(encode_elias_fano); }
TEST(elias_fano, truncated_and_flipped_bytes) { hostile_bytes<elias_fano>(encode_elias_fano); }
TEST(elias_fano, mutated_bytes) { mutated_bytes<elias_fano>(encode_elias_fano, 3000); }
TEST(elias_fano, bytes_that_change_after_opening) { bytes_that_change_later<elias_fano>(encode_elias_fano); }

TEST(elias_fano, refuses_impossible_sizes) {
    const auto bytes = encode_elias_fano(view_of(bits_of(100, {3})));
    EXPECT_FALSE(elias_fano::open(bytes, 0));
    EXPECT_FALSE(elias_fano::open(bytes, (std::uint64_t{1} << 40) + 1));
    EXPECT_FALSE(elias_fano::open(bytes, std::uint64_t{1} << 40));
}

// The example in elias_fano.hpp.
TEST(elias_fano, golden_example) {
    EXPECT_EQ(hex(encode_elias_fano(view_of(bits_of(100, {3, 17, 18, 41, 77})))),
              "0403050900000080022d0113920d0000000000000000");
}

TEST(elias_fano, golden_bytes) {
    const auto pinned = [](std::uint64_t bits, double density) {
        return fingerprint(encode_elias_fano(view_of(random_bits(bits, density, 37))));
    };
    EXPECT_EQ(pinned(300'000, 0.133), 8710861519007334023u);
    EXPECT_EQ(pinned(300'000, 0.0108), 7102561674544451693u);
    EXPECT_EQ(pinned(300'000, 0.6), 18041246738677673046u);
}

// At a tenth of the size of the header's table. The size follows the count of ones, so there is no
// statistical margin to leave; the directory's widths depend on extremes, which vary by a bit.
TEST(elias_fano, as_many_bytes_as_promised) {
    for (const auto& [density, most] : {std::pair{0.1331, 1.17}, {0.0108, 1.08}}) {
        const auto array = random_bits(14'000'000, density, 29);
        const double least = theory::log2_binomial(14e6, static_cast<double>(array.ones())) / 8;
        EXPECT_LT(static_cast<double>(encode_elias_fano(view_of(array)).size()), most * least);
    }
}

// Whatever the density, close to raw at worst.
TEST(elias_fano, never_much_more_than_the_array) {
    for (int percent = 0; percent <= 100; ++percent) {
        const auto array = random_bits(1'000'000, percent / 100.0, 31);
        EXPECT_LT(encode_elias_fano(view_of(array)).size(), 125'000 * 1.01 + 64) << percent;
    }
}
}  // namespace
}  // namespace posy::codec
