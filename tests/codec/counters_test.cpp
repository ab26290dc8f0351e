#include "codec/counters.hpp"

#include <cmath>

#include "arrays.hpp"

namespace posy::codec {
namespace {

using namespace arrays;

struct counters {
    std::vector<std::uint64_t> words;
    std::uint64_t size;
    unsigned width;
};

// As many increments as `load` times the size, at random places; they stick at the largest value.
counters random_counters(std::uint64_t size, unsigned width, double load, std::uint64_t seed) {
    counters made{std::vector<std::uint64_t>((size * width + 63) / 64), size, width};
    generator next(seed);
    for (double i = 0; i < load * static_cast<double>(size); ++i) {
        const std::uint64_t at = (next() >> 32) * size >> 32, shift = at * width % 64;
        std::uint64_t& word = made.words[at * width / 64];
        if ((word >> shift & ((1u << width) - 1)) != (1u << width) - 1) word += std::uint64_t{1} << shift;
    }
    return made;
}

std::vector<std::byte> encoded(const counters& made, const base::how& run = {}) {
    std::vector<std::byte> coded;
    encode_counters(made.words, made.size, made.width, coded, run);
    return coded;
}

double entropy_bytes(const counters& made) {
    std::vector<double> counts(256);
    for (std::uint64_t i = 0; i < made.size; ++i)
        ++counts[made.words[i * made.width / 64] >> i * made.width % 64 & ((1u << made.width) - 1)];
    double bits = 0;
    for (const double count : counts)
        if (count > 0) bits -= count * std::log2(count / static_cast<double>(made.size));
    return bits / 8;
}

TEST(counters_codec, round_trip_at_every_small_size) {
    for (const unsigned width : {4u, 8u}) {
        for (const double load : {0., .01, .7, 4., 20.}) {
            for (std::uint64_t size = 1; size <= 400; ++size) {
                const counters made = random_counters(size, width, load, size);
                std::vector<std::uint64_t> words(made.words.size());
                const auto done = decode_counters(encoded(made), words, size, width);
                ASSERT_TRUE(done) << done.error().text();
                ASSERT_TRUE(words == made.words) << width << " " << load << " " << size;
            }
        }
    }
}

TEST(counters_codec, every_kernel_and_any_number_of_threads_give_the_same_bytes) {
    for (const unsigned width : {4u, 8u}) {
        for (const double load : {.2, .7, 4., 12.}) {
            const counters made = random_counters(2'000'003, width, load, 1);
            const auto reference = encoded(made, {1, base::instruction_set::scalar});
            for (const auto set : instruction_sets()) {
                for (const unsigned threads : {1u, 3u}) {
                    EXPECT_TRUE(encoded(made, {threads, set}) == reference)
                        << name_of(set) << width << " " << load;
                    std::vector<std::uint64_t> words(made.words.size());
                    EXPECT_TRUE(decode_counters(reference, words, made.size, width, {threads, set}));
                    EXPECT_TRUE(words == made.words) << name_of(set) << width << " " << load;
                }
            }
        }
    }
}

TEST(counters_codec, pinned_codings) {
    EXPECT_EQ(fingerprint(encoded(random_counters(1000, 4, .7, 1))), 0x474641cd72f86332u);
    EXPECT_EQ(fingerprint(encoded(random_counters(1'000'000, 4, .7, 1))), 0xd60b2651b5df5ef9u);
    EXPECT_EQ(fingerprint(encoded(random_counters(1'000'000, 8, .7, 1))), 0x26dcf6a57140123fu);
    EXPECT_EQ(fingerprint(encoded(random_counters(1'000'000, 8, 20, 1))), 0xcd589ad123d791cau);
}

TEST(counters_codec, sizes_are_near_the_entropy) {
    for (const double load : {.35, .7, 2.}) {
        const counters made = random_counters(4'000'000, 4, load, 7);
        EXPECT_LE(static_cast<double>(encoded(made).size()), 1.0005 * entropy_bytes(made)) << load;
    }
    const counters small = random_counters(20'000, 4, .7, 7);
    EXPECT_LE(static_cast<double>(encoded(small).size()), entropy_bytes(small) + 25);
    EXPECT_EQ(encoded(random_counters(20'000, 4, 0, 7)).size(), 1u);
}

TEST(counters_codec, damage_is_noticed_or_harmless) {
    for (const unsigned width : {4u, 8u}) {
        const counters small = random_counters(501, width, .7, 2),
                       large = random_counters(1'000'001, width, .7, 2);
        for (const counters* made : {&small, &large}) {
            const auto coded = encoded(*made);
            std::vector<std::uint64_t> words(made->words.size());
            damage(coded, made == &small ? 1 : 29'989, [&](byte_view damaged) {
                std::ranges::fill(words, 0);
                if (!decode_counters(damaged, words, made->size, width)) return;
                EXPECT_TRUE(std::ranges::equal(encoded({words, made->size, width}), damaged));
            });
            auto longer = coded;
            longer.push_back(std::byte{0});
            EXPECT_FALSE(decode_counters(longer, words, made->size, width));
        }
    }
}

}  // namespace
}  // namespace posy::codec
