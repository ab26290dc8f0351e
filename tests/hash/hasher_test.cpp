// Every family is pinned: a digest that changes makes every file in the world unreadable.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hash/families.hpp"
#include "posy/digest.hpp"

namespace posy {
namespace {

TEST(hasher, names_round_trip) {
    for (const hash_family family : hash_families()) EXPECT_EQ(named<hash_family>(name_of(family)), family);
    EXPECT_EQ(named<hash_family>("sha1"), std::nullopt);
}

TEST(hasher, an_integer_is_eight_little_endian_bytes) {
    for (const hash_family family : hash_families()) {
        const hasher h(family, {family == hash_family::md5 ? 0u : 42u, 0});
        const std::string bytes("\x39\x30\0\0\0\0\0\0", 8);
        EXPECT_EQ(h(12345), h(std::string_view(bytes)));
        EXPECT_EQ(h(std::uint8_t{57}), h(57));
        EXPECT_EQ(h(-1), h(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff")));
    }
}

// Integers have a way of their own through XXH3, on their own and in batches; both must be the library's.
TEST(hasher, xxh3_of_integers_is_xxh3_of_their_bytes) {
    for (const std::uint64_t seed : {0ull, 1ull, 0x8000000000000000ull, 0x123456789abcdef0ull}) {
        const hasher h(hash_family::xxh3, {seed, 0});
        std::vector<std::uint64_t> keys{0, 1, ~std::uint64_t{0}, 0xffffffff, 0x100000000};
        while (keys.size() < 1000) keys.push_back(keys.back() * 0xd1342543de82ef95 + seed + 1);
        for (const std::uint64_t key : keys) {
            const auto bytes = key_bytes(key);
            ASSERT_EQ(h(key), h(byte_view(bytes)));
        }
        for (const auto set : base::instruction_sets()) {
            for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 31u, 1000u}) {
                std::vector<digest> digests(count);
                hash::xxh3_integers(std::span(keys).first(count), digests, seed, set);
                for (std::size_t i = 0; i < count; ++i)
                    ASSERT_EQ(digests[i], h(keys[i])) << name_of(set) << i;
            }
        }
    }
}

TEST(hasher, batches_equal_single_calls) {
    const std::vector<std::string_view> words{"", "a", "posy",
                                              "a longer key that takes more than one stripe of sixteen"};
    const std::vector<std::uint64_t> numbers{0, 1, ~std::uint64_t{0}, 1234567890123};
    for (const hash_family family : hash_families()) {
        const hasher h(family);
        std::vector<digest> digests(words.size());
        h(words, digests);
        for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(digests[i], h(words[i]));
        h(numbers, digests);
        for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(digests[i], h(numbers[i]));
    }
}

// XXH3-128 of "" with seed 0 is the reference implementation's published 99aa06d3014798d86001c324468d497f.
TEST(hasher, xxh3_vectors) {
    const hasher h;
    EXPECT_EQ(h(""), (digest{0x6001c324468d497f, 0x99aa06d3014798d8}));
    EXPECT_EQ(h("posy"), (digest{0x5123c2160a8664f5, 0xa1a00d781a28cec8}));
    EXPECT_EQ(h(7), (digest{0xe8c0d782b2f61276, 0xdeb6d224c549cbd3}));
    EXPECT_EQ(hasher(hash_family::xxh3, {42})("posy"), (digest{0xf7139e6da6f87db7, 0xbb35240b627515ab}));
}

TEST(hasher, seeds_matter_where_a_family_takes_one) {
    EXPECT_NE(hasher(hash_family::xxh3, {1})("key"), hasher(hash_family::xxh3, {2})("key"));
    EXPECT_NE(hasher(hash_family::siphash, {0, 1})("key"), hasher(hash_family::siphash, {0, 2})("key"));
    EXPECT_NE(hasher(hash_family::multiply_shift, {1})("key"),
              hasher(hash_family::multiply_shift, {2})("key"));
}

}  // namespace
}  // namespace posy
