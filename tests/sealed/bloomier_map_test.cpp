#include "posy/bloomier_map.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "checked.hpp"
#include "hex.hpp"
#include "posy/sealed_filter.hpp"
#include "sealed/payloads.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::vector<std::uint64_t> random_values(std::size_t count, unsigned bits, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> values(count);
    for (std::uint64_t& v : values) v = random() >> (64 - bits);
    return values;
}

template <class Map>
std::size_t found_among(const Map& map, std::span<const digest> digests) {
    std::vector<std::optional<std::uint64_t>> found(digests.size());
    return map.find(digests, found);
}

// Every width, sets of no key, few, many, and absent keys. Those of all sets together that have a value are
// within 4.5 deviations of what is expected: a false alarm in 10^5.
TEST(bloomier_map, gives_every_key_its_value) {
    const auto others = random_digests(2000, 30);
    bernoulli absent(64 * 6 * others.size(), "absent keys");
    for (unsigned bits = 1; bits <= 64; ++bits) {
        for (const std::size_t size : {0, 1, 2, 70, 300, 4000}) {
            const auto digests = random_digests(size, 31 + bits);
            const auto values = random_values(size, bits, bits);
            const double rate = bits % 3 == 0 ? 0.03 : bits % 3 == 1 ? 0.25 : 0.6;
            auto built = bloomier_map::make(hasher(), digests, values, {.value_bits = bits, .rate = rate});
            ASSERT_TRUE(built) << built.error().text();
            const checked map(std::move(*built), digests, values);
            EXPECT_EQ(map->value_bits(), bits);
            EXPECT_EQ(found_among(map, digests), size);
            absent.add(found_among(map, others), others.size(), map->false_positive_rate());
        }
    }
    absent.expect(4.5);
}

TEST(bloomier_map, a_million_keys_with_eight_bits) {
    const auto digests = random_digests(1'000'000, 32);
    const auto values = random_values(digests.size(), 8, 33);
    const checked map(*bloomier_map::make(hasher(), digests, values, {.value_bits = 8, .rate = 0.01}),
                      digests, values);
    EXPECT_EQ(found_among(map, digests), digests.size());
    EXPECT_LE(8.0 * static_cast<double>(map->bytes().size()), 1.05e6 * (8 + std::log2(100)));
    // 10^4 absent keys of 10^6, deviation 100: a false alarm in 10^5.
    EXPECT_NEAR(static_cast<double>(found_among(map, random_digests(1'000'000, 34))), 10'000, 450);
}

// 64 bits of value and 32 of fingerprint.
TEST(bloomier_map, the_widest_equations) {
    const auto digests = random_digests(5000, 35);
    const auto values = random_values(digests.size(), 64, 36);
    const checked map(*bloomier_map::make(hasher(), digests, values, {.rate = 0x1p-32}), digests, values);
    EXPECT_EQ(found_among(map, digests), digests.size());
    EXPECT_EQ(found_among(map, random_digests(100'000, 37)), 0u);  // but once in 40,000 runs
    EXPECT_NEAR(map->false_positive_rate() / 0x1p-32, 1, 1e-9);
    EXPECT_TRUE(std::ranges::equal(map.sent()->bytes(), map->bytes()));
}

// At rate 1 only values are stored, and every key has one, inserted or not.
TEST(bloomier_map, a_function_without_fingerprints) {
    const auto digests = random_digests(3000, 38);
    const auto values = random_values(digests.size(), 3, 39);
    const checked map(*bloomier_map::make(hasher(), digests, values, {.value_bits = 3, .rate = 1}), digests,
                      values);
    EXPECT_EQ(found_among(map, digests), digests.size());
    EXPECT_EQ(map->false_positive_rate(), 1);
    EXPECT_EQ(found_among(map, random_digests(100, 40)), 100u);
    EXPECT_LE(8 * map->bytes().size(), 3000 * 3 * 105 / 100);
}

TEST(bloomier_map, equal_maps_give_equal_bytes) {
    auto digests = random_digests(100'000, 41);
    auto values = random_values(digests.size(), 5, 42);
    const auto first = *bloomier_map::make(hasher(), digests, values, {.value_bits = 5});
    digests.insert(digests.end(), digests.begin(), digests.begin() + 1000);
    values.insert(values.end(), values.begin(), values.begin() + 1000);
    std::ranges::reverse(digests);
    std::ranges::reverse(values);
    for (const unsigned threads : {1u, 3u}) {
        const auto again =
            bloomier_map::make(hasher(), digests, values, {.value_bits = 5, .threads = threads});
        ASSERT_TRUE(again) << again.error().text();
        EXPECT_TRUE(std::ranges::equal(again->bytes(), first.bytes()));
        EXPECT_EQ(again->items(), 100'000u);
    }
}

TEST(bloomier_map, refusals) {
    auto digests = random_digests(1000, 43);
    auto values = random_values(1000, 8, 44);
    const auto error_of = [&](const bloomier_options& options) {
        const auto map = bloomier_map::make(hasher(), digests, values, options);
        return map ? "" : map.error().text();
    };
    EXPECT_EQ(error_of({.value_bits = 8}), "");
    EXPECT_NE(error_of({.value_bits = 0}), "");
    EXPECT_NE(error_of({.value_bits = 65}), "");
    EXPECT_NE(error_of({.value_bits = 4}), "");
    EXPECT_NE(error_of({.value_bits = 8, .rate = 1.01}), "");
    digests.push_back(digests[500]);
    EXPECT_NE(error_of({.value_bits = 8}), "");  // a key without a value
    values[500] = 3;
    values.push_back(7);
    EXPECT_EQ(error_of({.value_bits = 8}), "one key has two values, 3 and 7; give each key one value");
    values.back() = 3;
    EXPECT_EQ(error_of({.value_bits = 8}), "");
}

TEST(bloomier_map, payloads_are_pinned) {
    std::vector<digest> digests;
    std::vector<std::uint64_t> values;
    const hasher hash;
    for (std::uint64_t key = 0; key < 3; ++key) {
        digests.push_back(hash(key));
        values.push_back(key);
    }
    const auto small = *bloomier_map::make(hash, digests, values, {.value_bits = 2, .rate = 0.25});
    EXPECT_EQ(hex(small.bytes()), "020203000303011d0f");
    for (std::uint64_t key = 3; key < 50'000; ++key) {
        digests.push_back(hash(key));
        values.push_back(key);
    }
    const auto large = *bloomier_map::make(hash, digests, values, {.value_bits = 64, .rate = 0.01});
    const digest d = hash(large.bytes());
    EXPECT_EQ(d.low, 0x9cfd2524d26e5f82u);
    EXPECT_EQ(d.high, 0x65e7544860dddeb8u);
}

// A filter is not read as a map, and a map not as a filter; damage gives an error or a map that answers.
TEST(bloomier_map, payloads_from_elsewhere) {
    const auto digests = random_digests(2500, 45);
    const auto values = random_values(digests.size(), 7, 46);
    const auto open = [](byte_view bytes) { return bloomier_map::open(hasher(), nullptr, bytes); };
    const auto filter = *sealed_filter::make(hasher(), digests);
    EXPECT_FALSE(open(filter.bytes()));
    for (const std::size_t size : {1, 50, 2500}) {
        const auto good = *bloomier_map::make(hasher(), std::span(digests).first(size),
                                              std::span(values).first(size), {.value_bits = 7, .rate = 0.6});
        EXPECT_FALSE(sealed_filter::open(hasher(), nullptr, good.bytes()));
        EXPECT_TRUE(open(good.bytes()));
        int opened = 0;
        each_damaged(good.bytes(), 3000, [&](byte_view bytes) {
            const auto map = open(bytes);
            if (!map) return;
            ++opened;
            found_among(*map, std::span(digests).first(100));
        });
        EXPECT_GT(opened, 30);
    }
}

}  // namespace
}  // namespace posy
