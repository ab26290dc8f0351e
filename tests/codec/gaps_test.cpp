#include "codec/gaps.hpp"

#include "arrays.hpp"
#include "hex.hpp"
#include "posy/theory.hpp"

namespace posy::codec {
namespace {

using namespace arrays;

const encode_function encode = [](auto view, auto& out, const base::how& run) {
    encode_gaps(view, out, run);
};
const decode_function decode = [](auto coded, auto room, const base::how& run) {
    return decode_gaps(coded, room, run);
};

double bound_of(const array& made) {
    return theory::log2_binomial(static_cast<double>(made.bits), static_cast<double>(made.ones)) / 8;
}

TEST(gaps, round_trip_at_every_small_size) {
    for (const double density : {0., 1e-4, .01, .1, .5, .9, 1.})
        for (std::uint64_t bits = 1; bits <= 2000; ++bits)
            expect_round_trip(random_array(bits, density, bits), encode, decode);
}

TEST(gaps, round_trip_of_one_bit_anywhere_and_of_long_gaps) {
    for (const std::uint64_t bits : {100u, 70'000u, 5'000'000u}) {
        for (const std::uint64_t at : {std::uint64_t{0}, bits / 2, bits - 1}) {
            array made{std::vector<std::uint64_t>((bits + 63) / 64), bits, 1};
            made.words[at / 64] = std::uint64_t{1} << at % 64;
            expect_round_trip(made, encode, decode);
            made.words[at / 64] |= std::uint64_t{1} << (at ^ 1) % 64;
            made.ones = 2;
            if ((at ^ 1) < bits) expect_round_trip(made, encode, decode);
        }
    }
    // Ones only at the front, then only at the back of 2^28 bits: gaps far from what the density says.
    array made{std::vector<std::uint64_t>(std::uint64_t{1} << 22), std::uint64_t{1} << 28};
    for (unsigned i = 0; i < 2000; ++i) made.words[i] = ~std::uint64_t{0};
    made.ones = 128'000;
    expect_round_trip(made, encode, decode);
    std::swap_ranges(made.words.begin(), made.words.begin() + 2000, made.words.end() - 2000);
    expect_round_trip(made, encode, decode);
}

TEST(gaps, lanes_chunks_and_threads) {
    for (const double density : {.02, .3, .7, .98}) {
        const array made = random_array(static_cast<std::uint64_t>(1'200'000 / density), density, 3);
        std::vector<std::byte> one, three;
        encode_gaps(made.view(), one, {1});
        encode_gaps(made.view(), three, {3});
        EXPECT_TRUE(one == three);
        std::vector<std::uint64_t> words(made.words.size());
        ASSERT_TRUE(decode_gaps(one, {words, made.bits}, {3}));
        EXPECT_TRUE(words == made.words);
        expect_round_trip(random_array(static_cast<std::uint64_t>(100'000 / density), density, 4), encode,
                          decode);
    }
}

TEST(gaps, pinned_codings) {
    std::vector<std::byte> coded;
    encode_gaps(random_array(1000, .02, 1).view(), coded);
    EXPECT_EQ(hex(coded), "14ca0d269034a7015f59fe4b88dba6ff1089313e");
    const std::pair<double, std::uint64_t> cases[] = {{.001, 0xf29c782b37439565},
                                                      {.006, 0x4d7c507fc5927693},
                                                      {.1331, 0xd5ddb8761409664c},
                                                      {.5, 0x3419735307d07cae},
                                                      {.9, 0x025733fa74006a2d}};
    for (const auto& [density, expected] : cases) {
        coded.clear();
        encode_gaps(random_array(3'000'000, density, 5).view(), coded);
        EXPECT_EQ(fingerprint(coded), expected) << density << " " << std::hex << fingerprint(coded);
    }
}

// The deltas of (m/n, k) = (32, 2) with 5 and 1 % changed, at full size and at 10,000 items.
TEST(gaps, sizes_are_near_the_bound) {
    for (const double density : {.0059, .0012, .999}) {
        const array made = random_array(150'000'000, density, 9);
        std::vector<std::byte> coded;
        encode_gaps(made.view(), coded);
        EXPECT_LE(static_cast<double>(coded.size()), 1.0002 * bound_of(made)) << density;
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const array made = random_array(320'000, .0059, seed);
        std::vector<std::byte> coded;
        encode_gaps(made.view(), coded);
        EXPECT_GE(static_cast<double>(coded.size()), bound_of(made));
        EXPECT_LE(static_cast<double>(coded.size()), bound_of(made) + 5);
    }
}

TEST(gaps, damage_is_noticed_or_harmless) {
    for (const double density : {.01, .1, .5, .8})
        expect_no_harm(random_array(1999, density, 2), 1, encode, decode);
    expect_no_harm(random_array(1'000'000, .1, 2), 29'989, encode, decode);
    expect_no_harm(random_array(6'000'000, .1, 2), 299'989, encode, decode);
    std::vector<std::uint64_t> words(32);
    generator next(4);
    for (int i = 0; i < 20'000; ++i) {
        std::vector<std::byte> noise(next() % 64);
        for (std::byte& byte : noise) byte = static_cast<std::byte>(next());
        (void)decode_gaps(noise, {words, 2000 + next() % 49});
    }
}

}  // namespace
}  // namespace posy::codec
