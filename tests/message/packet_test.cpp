#include "posy/packet.hpp"

#include <random>

#include "checked.hpp"
#include "posy/message.hpp"
#include "support.hpp"

namespace posy {
namespace {

// Sets of 10,000 random keys in packets of 10,000 bytes, the paper's example: never a byte more, and a rate
// that a plain filter of that size (0.0216) does not reach. The ten thousand sets of the long form take
// minutes.
void pack_many(int sets, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int set = 0; set < sets; ++set) {
        std::vector<std::uint64_t> keys(10'000);
        for (auto& key : keys) key = random();
        const auto fill = [&](bloom_filter& filter) {
            std::vector<digest> digests(keys.size());
            filter.hash()(keys, digests);
            filter.insert(digests);
        };
        const auto p = pack_set(keys.size(), fill, {.max_bytes = 10'000, .max_memory = 18'000});
        ASSERT_TRUE(p) << p.error().message;
        ASSERT_LE(p->message.size(), 10'000u);
        ASSERT_LE(p->false_positive_rate, 0.0185);
        auto back = from_bytes(p->message);
        ASSERT_TRUE(back) << back.error().text();
        auto& filter = std::get<bloom_filter>(back->body);
        ASSERT_EQ(filter.geometry(), p->geometry);
        std::vector<digest> digests(keys.size());
        filter.hash()(keys, digests);
        checked(std::move(filter), digests);
    }
}

TEST(packet, never_a_byte_over_the_budget) { pack_many(40, 1); }

TEST(packet, long_form) {
    if (!std::getenv("POSY_LONG_TESTS")) GTEST_SKIP() << "set POSY_LONG_TESTS=1 to pack ten thousand sets";
    pack_many(10'000, 2);
}

TEST(packet, every_size_of_set_and_packet) {
    for (const std::uint64_t items : {0u, 1u, 7u, 100u, 5000u}) {
        for (const std::uint64_t bytes : {130u, 200u, 576u, 1400u, 65'000u}) {
            const auto fill = [&](bloom_filter& filter) {
                for (std::uint64_t key = 0; key < items; ++key) filter.insert(filter.hash()(key));
            };
            const auto p = pack_set(items, fill, {.max_bytes = bytes, .max_memory = 1 << 20});
            ASSERT_TRUE(p) << items << " in " << bytes << ": " << p.error().message;
            EXPECT_LE(p->message.size(), bytes) << items;
            EXPECT_TRUE(from_bytes(p->message));
        }
    }
    const auto nothing = [](bloom_filter&) {};
    EXPECT_FALSE(pack_set(5, nothing, {.max_bytes = 20}));
}

// A set that sets more bits than expected: all attempts fail until the plain filter.
TEST(packet, a_set_larger_than_it_said_still_fits) {
    const auto fill = [&](bloom_filter& filter) {
        for (int key = 0; key < 20'000; ++key) filter.insert(filter.hash()(key));
    };
    const auto p = pack_set(10'000, fill, {.max_bytes = 10'000, .max_memory = 18'000});
    ASSERT_TRUE(p);
    EXPECT_LE(p->message.size(), 10'000u);
    EXPECT_GT(p->attempts, 4u);
}

}  // namespace
}  // namespace posy
