#include "posy/sealed_filter.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "checked.hpp"
#include "hex.hpp"
#include "sealed/equation.hpp"
#include "sealed/payloads.hpp"
#include "sealed/ribbon.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

template <class Filter>
std::size_t yes_among(const Filter& filter, std::span<const digest> digests) {
    const std::unique_ptr<bool[]> answers(new bool[digests.size()]);
    return filter.may_contain(digests, {answers.get(), digests.size()});
}

double bits_per_key(const sealed_filter& filter) {
    return 8.0 * static_cast<double>(filter.bytes().size()) / static_cast<double>(filter.items());
}

// Sets of every size from 0 to 1000, `rounds` of each, at rates from 0.9 to 1e-6: none fails to build, no
// member is denied, and absent keys are taken for members as often as rate() says. Summed over all sets that
// is a test of rate() at 4.5 deviations: a false alarm in 10^5.
void expect_small_sets(int rounds) {
    constexpr std::size_t others = 64;
    std::mt19937_64 random(9);
    bernoulli absent(static_cast<std::uint64_t>(rounds) * 1001 * others, "absent keys");
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t size = 0; size <= 1000; ++size) {
            const double asked = std::pow(10, -6 * static_cast<double>(random() % 1000) / 1000 - 0.05);
            const auto digests = random_digests(size + others, random());
            const auto members = std::span(digests).first(size);
            auto built = sealed_filter::make(hasher(), members, {.rate = asked});
            ASSERT_TRUE(built) << size << " keys: " << built.error().text();
            const checked filter(std::move(*built), members);
            ASSERT_LE(filter->false_positive_rate(), asked);
            ASSERT_EQ(yes_among(filter, members), size);
            absent.add(yes_among(filter, std::span(digests).last(others)), others,
                       filter->false_positive_rate());
        }
    }
    absent.expect(4.5);
}

TEST(sealed_filter, sets_of_every_small_size) { expect_small_sets(3); }

TEST(sealed_filter, a_hundred_thousand_small_sets) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    expect_small_sets(100);
}

// No member denied; size and rate as promised. As many absent keys as members, at 4.5 deviations: a false
// alarm in 10^5.
void expect_large_set(std::size_t size, double rate, double overhead, unsigned threads) {
    const auto members = random_digests(size, 10);
    const auto filter = sealed_filter::make(hasher(), members, {.rate = rate, .threads = threads});
    ASSERT_TRUE(filter) << filter.error().text();
    EXPECT_EQ(filter->items(), size);
    EXPECT_EQ(yes_among(*filter, members), size);
    EXPECT_LE(bits_per_key(*filter), overhead * -std::log2(rate));
    EXPECT_NEAR(filter->false_positive_rate(), rate, 0.005 * rate);
    bernoulli absent(size, "absent keys");
    absent.add(yes_among(*filter, random_digests(size, 11)), size, rate);
    absent.expect(4.5);
}

TEST(sealed_filter, a_million_keys) {
    expect_large_set(1'000'000, 1.0 / 256, 1.015, 1);
    expect_large_set(1'000'000, 0.01, 1.03, 2);
    expect_large_set(1'000'000, 0.001, 1.03, 1);
}

TEST(sealed_filter, ten_and_a_hundred_million_keys) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to run it";
    expect_large_set(10'000'000, 1.0 / 256, 1.015, 1);
    expect_large_set(10'000'000, 0.01, 1.03, 1);
    expect_large_set(100'000'000, 0.001, 1.03, 2);
}

// The survey's measure: 8 bits per element. A Bloom filter is wrong for 2.16 % of the absent keys there.
TEST(sealed_filter, eight_bits_per_key_are_a_rate_below_0_0045) {
    const auto members = random_digests(200'000, 12);
    const checked filter(*sealed_filter::make(hasher(), members, {.rate = 0.0041}), members);
    EXPECT_LE(bits_per_key(*filter), 8);
    EXPECT_LE(filter->false_positive_rate(), 0.0042);
    // Mean 4200 at most, deviation 65: above 4500 once in 10^5.
    EXPECT_LE(yes_among(filter, random_digests(1'000'000, 13)), 4500u);
}

TEST(sealed_filter, small_sets_waste_little) {
    const auto bytes_of = [](std::size_t size) {
        return sealed_filter::make(hasher(), random_digests(size, 14), {.rate = 0.01})->bytes().size();
    };
    EXPECT_LE(bytes_of(0), 5u);
    EXPECT_LE(bytes_of(1), 8u);
    EXPECT_LE(bytes_of(10), 17u);
    EXPECT_LE(bytes_of(100), 96u);
    EXPECT_LE(bytes_of(1000), 875u);
    EXPECT_LE(bytes_of(10'000), 8600u);
}

// The payload is a function of the set: whatever the order, the repetitions and the number of threads.
TEST(sealed_filter, equal_sets_give_equal_bytes) {
    for (const std::size_t size : {0, 1, 60, 2000, 3000, 150'000}) {
        auto digests = random_digests(size, 15);
        const auto first = *sealed_filter::make(hasher(), digests, {.rate = 0.02});
        std::mt19937_64 random(16);
        for (std::size_t i = 0; i < size / 2; ++i) digests.push_back(digests[random() % size]);
        std::ranges::shuffle(digests, random);
        for (const unsigned threads : {0u, 1u, 2u, 3u, 8u}) {
            const auto again = *sealed_filter::make(hasher(), digests, {.rate = 0.02, .threads = threads});
            EXPECT_TRUE(std::ranges::equal(again.bytes(), first.bytes())) << size << " keys, " << threads;
            EXPECT_EQ(again.items(), size);
        }
    }
    const std::vector<digest> same(300'000, digest{1, 2});
    EXPECT_EQ(sealed_filter::make(hasher(), same)->items(), 1u);
}

// Every instruction set reads the same answers from one payload, one by one and in batches, at any address.
TEST(sealed_filter, answers_do_not_depend_on_the_kernel_or_the_address) {
    for (const std::size_t size : {0, 1, 40, 500, 20'000}) {
        const auto digests = random_digests(size + 1000, 17);
        const auto filter = *sealed_filter::make(hasher(), std::span(digests).first(size), {.rate = 0.07});
        for (std::size_t shift = 0; shift < 3; ++shift) {
            std::vector<std::byte> moved(shift + filter.bytes().size());
            std::ranges::copy(filter.bytes(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
            const byte_view bytes = byte_view(moved).subspan(shift);
            using enum base::instruction_set;
            for (const auto set : {scalar, avx2, avx512}) {
                if (!base::has(set)) continue;
                const auto other = sealed::ribbon::open(nullptr, bytes, set);
                ASSERT_TRUE(other) << other.error().text();
                EXPECT_EQ(other->rate(), filter.false_positive_rate());
                other->each_held(digests, [&](std::size_t i, bool answer) {
                    ASSERT_EQ(answer, filter.may_contain(digests[i]));
                    ASSERT_EQ(other->holds(digests[i]), answer);
                });
            }
        }
    }
}

TEST(sealed_filter, batches_of_every_length) {
    const auto digests = random_digests(200, 18);
    const auto members = std::span(digests).first(100);
    const checked filter(*sealed_filter::make(hasher(), members, {.rate = 0.3}), members);
    for (std::size_t length = 0; length <= digests.size(); ++length) {
        EXPECT_GE(yes_among(filter, std::span(digests).first(length)), std::min<std::size_t>(length, 100));
    }
}

// Digests that are far from random still make random equations: plain numbers in either half, and keys 0, 1,
// 2, … under every family, of which multiply-shift is linear in the key.
TEST(sealed_filter, digests_with_structure) {
    constexpr std::size_t size = 30'000;
    std::vector<std::pair<std::string, std::vector<digest>>> sets(3);
    for (std::uint64_t i = 0; i < 2 * size; ++i) {
        sets[0].second.push_back({i, 0});
        sets[1].second.push_back({0, i});
        sets[2].second.push_back({i << 32, i << 48});
    }
    for (const hash_family family : hash_families()) {
        sets.push_back({std::string(name_of(family)), {}});
        for (std::uint64_t i = 0; i < 2 * size; ++i) sets.back().second.push_back(hasher(family, {3, 4})(i));
    }
    for (const auto& [name, digests] : sets) {
        const auto members = std::span(digests).first(size);
        auto built = sealed_filter::make(hasher(), members, {.rate = 0.05});
        ASSERT_TRUE(built) << name << built.error().text();
        const checked filter(std::move(*built), members);
        EXPECT_LE(bits_per_key(*filter), 1.03 * -std::log2(0.05)) << name;
        bernoulli absent(size, name);
        absent.add(yes_among(filter, std::span(digests).last(size)), size, filter->false_positive_rate());
        absent.expect(4.5);  // a false alarm in 10^5 per set
    }
}

// The worst that digests can do: all windows of the first layer start at one place, which has room for 64.
// The layer bumps them all, and the next one, which mixes again, takes them.
TEST(sealed_filter, windows_that_all_start_at_one_place) {
    constexpr std::size_t size = sealed::small_set + 50;
    const auto shape = sealed::layer_for(size, sealed::mixture_for(0.05).extra);
    std::mt19937_64 random(22);
    std::vector<digest> digests;
    while (digests.size() < 2 * size) {
        const digest d{random(), random()};
        if (sealed::start_of(sealed::first_row(d).place, 1, shape.starts()).start == 700)
            digests.push_back(d);
    }
    const auto members = std::span(digests).first(size);
    auto built = sealed_filter::make(hasher(), members, {.rate = 0.05});
    ASSERT_TRUE(built) << built.error().text();
    const checked filter(std::move(*built), members);
    EXPECT_GT(bits_per_key(*filter), 2 * -std::log2(0.05));
    EXPECT_LT(bits_per_key(*filter), 2.2 * -std::log2(0.05));
    bernoulli absent(size);
    absent.add(yes_among(filter, std::span(digests).last(size)), size, 0.05);
    absent.expect(4.5);  // a false alarm in 10^5
}

// The bytes that docs/sealed.md explains, and a set of all parts by its hash.
TEST(sealed_filter, payloads_are_pinned) {
    std::vector<digest> digests;
    const hasher hash;
    for (int key = 0; key < 3; ++key) digests.push_back(hash(key));
    EXPECT_EQ(hex(sealed_filter::make(hash, digests, {.rate = 1.0 / 16})->bytes()), "040003000303017c0f");
    for (int key = 3; key < 200'000; ++key) digests.push_back(hash(key));
    const auto large = *sealed_filter::make(hash, digests, {.rate = 0.01});
    EXPECT_EQ(large.bytes().size(), 168'806u);
    const digest d = hash(large.bytes());
    EXPECT_EQ(d.low, 0x75bc0b17d5885de1u);
    EXPECT_EQ(d.high, 0x76d46acf41c3b84au);
}

TEST(sealed_filter, opens_the_bytes_of_another) {
    const auto digests = random_digests(5000, 19);
    const hasher hash(hash_family::siphash, {1, 2});
    const auto first = *sealed_filter::make(hash, digests, {.rate = 0.1});
    auto held = std::make_shared<std::vector<std::byte>>(first.bytes().begin(), first.bytes().end());
    const std::weak_ptr<std::vector<std::byte>> watched = held;
    {
        const byte_view bytes(*held);
        auto second = sealed_filter::open(hash, std::move(held), bytes);
        ASSERT_TRUE(second) << second.error().text();
        const sealed_filter copy = *second;
        second = error::invalid("gone");
        EXPECT_FALSE(watched.expired());
        EXPECT_EQ(copy.items(), 5000u);
        EXPECT_EQ(copy.hash(), hash);
        EXPECT_EQ(copy.false_positive_rate(), first.false_positive_rate());
        EXPECT_EQ(yes_among(copy, digests), 5000u);
    }
    EXPECT_TRUE(watched.expired());
}

// A prefix or a longer payload is refused; other damage is, too, or gives a filter that answers.
TEST(sealed_filter, damaged_payloads) {
    const auto digests = random_digests(2500, 20);
    for (const std::size_t size : {0, 1, 50, 2500}) {
        const auto good = *sealed_filter::make(hasher(), std::span(digests).first(size), {.rate = 0.3});
        const auto open = [](byte_view bytes) { return sealed_filter::open(hasher(), nullptr, bytes); };
        for (std::size_t cut = 0; cut < good.bytes().size(); ++cut) {
            const std::vector<std::byte> shorter(good.bytes().begin(),
                                                 good.bytes().begin() + static_cast<std::ptrdiff_t>(cut));
            ASSERT_FALSE(open(shorter)) << cut;
        }
        std::vector<std::byte> longer(good.bytes().begin(), good.bytes().end());
        longer.push_back(std::byte{0});
        ASSERT_FALSE(open(longer));
        int opened = 0;
        each_damaged(good.bytes(), 3000, [&](byte_view bytes) {
            const auto filter = open(bytes);
            if (!filter) {
                EXPECT_FALSE(filter.error().message.empty());
                EXPECT_LE(filter.error().offset.value(), bytes.size());
                return;
            }
            ++opened;
            EXPECT_GE(filter->false_positive_rate(), 0);
            EXPECT_LE(filter->false_positive_rate(), 1);
            yes_among(*filter, std::span(digests).first(100));
        });
        if (size > 0) {
            EXPECT_GT(opened, 30) << size;
        }
    }
}

TEST(sealed_filter, refusals) {
    const auto digests = random_digests(10, 21);
    for (const double rate : {0.0, -0.5, 1.0, 1.5, 1e-12, std::nan(""), HUGE_VAL}) {
        const auto filter = sealed_filter::make(hasher(), digests, {.rate = rate});
        EXPECT_FALSE(filter) << rate;
    }
    EXPECT_TRUE(sealed_filter::make(hasher(), digests, {.rate = 0x1p-32}));
    EXPECT_TRUE(sealed_filter::make(hasher(), digests, {.rate = std::nextafter(1, 0)}));
}

}  // namespace
}  // namespace posy
