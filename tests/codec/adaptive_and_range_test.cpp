// The two bit-by-bit coders share their tests: what comes out is what went in, close to the bound.
#include <bit>
#include <cmath>
#include <random>

#include "codec/codec.hpp"
#include "posy/bit_array.hpp"
#include "posy/theory.hpp"
#include "support.hpp"

namespace posy::codec {
namespace {

struct pair {
    const char* name;
    encoder* encode;
    decoder* decode;
};

bit_array random_bits(std::uint64_t bits, double density, std::uint64_t seed) {
    auto array = *bit_array::make(bits);
    std::mt19937_64 random(seed);
    const auto threshold = density * std::ldexp(1.0, 64);
    for (std::uint64_t i = 0; i < bits; ++i) {
        if (density >= 1 || static_cast<double>(random()) < threshold) array.set(i);
    }
    return array;
}

std::vector<std::byte> coded(const pair& codec, const bit_array& array) {
    std::vector<std::byte> bytes;
    codec.encode({array.words(), array.size(), array.ones()}, bytes);
    return bytes;
}

class bit_codec : public testing::TestWithParam<pair> {};
INSTANTIATE_TEST_SUITE_P(both, bit_codec,
                         testing::Values(pair{"adaptive", encode_adaptive, decode_adaptive},
                                         pair{"range", encode_range, decode_range}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST_P(bit_codec, comes_back_as_it_went_close_to_the_bound) {
    for (const double density : {0.0, 1e-4, 0.01, 0.1, 0.5, 0.9, 0.9999, 1.0}) {
        for (const std::uint64_t bits : {1u, 2u, 7u, 63u, 64u, 65u, 1000u, 9999u, 140'000u}) {
            const auto array = random_bits(bits, density, bits);
            const auto bytes = coded(GetParam(), array);
            auto back = *bit_array::make(bits);
            const auto decoded = GetParam().decode(bytes, {back.words(), bits});
            ASSERT_TRUE(decoded) << bits << " bits, density " << density << ": " << decoded.error().text();
            ASSERT_EQ(back, array) << bits << " bits, density " << density;
            const auto m = static_cast<double>(bits), x = static_cast<double>(array.ones());
            EXPECT_LE(static_cast<double>(bytes.size()), theory::log2_binomial(m, x) / 8 + 6)
                << bits << " " << density;
        }
    }
}

TEST_P(bit_codec, every_truncation_and_every_longer_input_is_refused_or_means_something_else) {
    const auto array = random_bits(900, 0.1, 5);
    auto bytes = coded(GetParam(), array);
    auto back = *bit_array::make(900);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        back.clear();
        if (GetParam().decode(byte_view(bytes).first(size), {back.words(), 900})) {
            EXPECT_FALSE(back == array) << size;
        }
    }
    bytes.push_back(std::byte{1});
    EXPECT_FALSE(GetParam().decode(bytes, {back.words(), 900}));
    bytes.back() = std::byte{0};
    EXPECT_FALSE(GetParam().decode(bytes, {back.words(), 900}));
}

// One input has one coding: a decoder that accepts a changed input decodes other bits.
TEST_P(bit_codec, a_flipped_bit_never_decodes_to_the_same_array) {
    const auto array = random_bits(900, 0.1, 6);
    auto bytes = coded(GetParam(), array);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        auto back = *bit_array::make(900);
        const bool accepted = GetParam().decode(bytes, {back.words(), 900}).ok();
        EXPECT_FALSE(accepted && back == array) << bit;
        bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
}

// Long carries: a run of bits that pushes the interval towards its upper end.
TEST_P(bit_codec, unlikely_inputs) {
    for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{49'999}, std::uint64_t{99'999}}) {
        auto array = *bit_array::make(100'000);
        array.set(position);
        auto inverse = *bit_array::make(100'000);
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            if (i != position) inverse.set(i);
        }
        for (const auto& each : {std::cref(array), std::cref(inverse)}) {
            auto back = *bit_array::make(100'000);
            ASSERT_TRUE(GetParam().decode(coded(GetParam(), each), {back.words(), 100'000}));
            EXPECT_EQ(back, each.get());
        }
    }
}

// The paper's first case: 10,000 keys, 140,000 bits, 2 hashes. Theory says 9,904 bytes; the paper's coder
// took 9,920 on average. Forty arrays with as many ones as hashing gives; the size belongs to the ones
// (± 11.5 bytes), so the mean of forty is within 8 of the truth with odds of 10^5 to 1.
TEST_P(bit_codec, the_papers_case) {
    double sum = 0, bound = 0;
    for (std::uint64_t run = 0; run < 40; ++run) {
        auto array = *bit_array::make(140'000);
        std::mt19937_64 random(run);
        for (int i = 0; i < 20'000; ++i) array.set(random() % 140'000);
        sum += static_cast<double>(coded(GetParam(), array).size());
        bound += theory::log2_binomial(140'000, static_cast<double>(array.ones())) / 8;
    }
    EXPECT_LT(sum / 40, 9908 + 8);
    EXPECT_LT((sum - bound) / 40, 5);
}

}  // namespace
}  // namespace posy::codec
