#include "posy/sealed_block.hpp"

#include <cmath>

#include "hex.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

std::vector<std::byte> block_of(std::span<const digest> digests, std::size_t size) {
    std::vector<std::byte> block;
    sealed_block::append(digests, size, block);
    return block;
}

// Every number of keys up to 300, and some more, at 1 to 40 bits per key: no member is denied, and absent
// keys are taken for members at the stated rate. Over all blocks that is tested at 4.5 deviations: a false
// alarm in 10^5.
TEST(SealedBlock, MembersAndRates) {
    constexpr std::size_t others = 200;
    std::mt19937_64 random(3);
    bernoulli absent(60'000, "absent keys");
    std::vector<std::size_t> sizes{500, 1000, 5000, 20'000};
    for (std::size_t size = 1; size <= 300; ++size) sizes.push_back(size);
    for (const std::size_t size : sizes) {
        const auto digests = random_digests(size + others, random);
        const auto members = std::span(digests).first(size);
        const std::size_t bytes = size * (1 + random() % 40) / 8 + 4;
        const auto block = block_of(members, bytes);
        ASSERT_LE(block.size(), bytes);
        for (const digest d : members) ASSERT_TRUE(sealed_block::may_contain(block, d)) << size;
        const double rate = sealed_block::false_positive_rate(block);
        for (const digest d : std::span(digests).subspan(size))
            absent.add(sealed_block::may_contain(block, d), rate);
    }
    absent.expect(4.5);
}

// At 10 bits per key there are 9 fingerprint bits, in nearly all blocks of the sizes that stores have.
TEST(SealedBlock, NineBitsOfTen) {
    at_least blocks(200);
    double rates = 0;
    for (std::size_t size = 20; size < 220; ++size, ++blocks)
        rates += sealed_block::false_positive_rate(block_of(random_digests(size, size), size * 10 / 8 + 2));
    EXPECT_LT(rates / 200, 1.3 / 512);
    EXPECT_GE(rates / 200, 1.0 / 512);
}

TEST(SealedBlock, TheSetAloneDecides) {
    auto digests = random_digests(40, 5);
    const auto block = block_of(digests, 53);
    std::ranges::reverse(digests);
    EXPECT_EQ(hex(block_of(digests, 53)), hex(block));
    // Repeated keys only take room.
    digests.push_back(digests.front());
    for (const digest d : digests) EXPECT_TRUE(sealed_block::may_contain(block_of(digests, 53), d));
}

TEST(SealedBlock, NoRoomAndNoKeys) {
    const auto digests = random_digests(100, 6);
    for (std::size_t size = 0; size < 12; ++size) {
        const auto block = block_of(digests, size);
        EXPECT_EQ(block.size(), 3) << size;
        EXPECT_EQ(sealed_block::false_positive_rate(block), 1);
        EXPECT_TRUE(sealed_block::may_contain(block, digests[0]));
    }
    for (std::size_t size = 4; size < 40; ++size) {
        const auto empty = block_of({}, size);
        EXPECT_EQ(empty.size(), size);
        EXPECT_LT(sealed_block::false_positive_rate(empty), 1);
    }
}

// Blocks are stored: these bytes never change.
TEST(SealedBlock, GoldenBytes) {
    const hasher hash(hash_family::fold64);
    std::vector<digest> digests;
    for (int i = 0; i < 8; ++i) digests.push_back(hash("key" + std::to_string(i)));
    EXPECT_EQ(hex(block_of(digests, 13)), "7ba8d05d63499d8c1e95ef3e4a");
}

// A damaged block says yes to every key, but for those few whose 16-bit checksum happens to fit: of 40,000
// damages 0.6 are expected, and more than 7 in one run of 10^6.
TEST(SealedBlock, DamagedBlocksSayYes) {
    std::mt19937_64 random(7);
    at_least damaged(40'000);
    int denied = 0;
    for (int round = 0; round < 400; ++round) {
        const auto members = random_digests(1 + random() % 60, random);
        const auto whole = block_of(members, members.size() * 10 / 8 + 4);
        for (int change = 0; change < 100; ++change, ++damaged) {
            auto block = whole;
            if (change % 10 == 9)
                block.resize(random() % block.size());
            else
                for (int times = 0; times <= change % 3; ++times)
                    block[random() % block.size()] ^= static_cast<std::byte>(1 + random() % 255);
            denied +=
                !std::ranges::all_of(members, [&](digest d) { return sealed_block::may_contain(block, d); });
        }
    }
    EXPECT_LE(denied, 7);
}

}  // namespace
}  // namespace posy
