// Messages that are cut off, damaged or made by hand: each gets an error that says what and where.
#include <algorithm>
#include <random>

#include "hex.hpp"
#include "message/frame.hpp"
#include "posy/message.hpp"
#include "samples.hpp"
#include "statistics.hpp"
#include "support.hpp"

namespace posy {
namespace {

TEST(message_damage, every_prefix_is_refused) {
    for (const auto& bytes : all_kinds()) {
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            const auto read = from_bytes(byte_view(bytes).first(size));
            ASSERT_FALSE(read) << size;
            ASSERT_TRUE(read.error().offset.has_value()) << size;
            ASSERT_LE(*read.error().offset, size);
        }
    }
}

TEST(message_damage, every_flipped_bit_is_noticed) {
    for (auto bytes : all_kinds()) {
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            const auto mask = static_cast<std::byte>(1 << bit % 8);
            bytes[bit / 8] ^= mask;
            ASSERT_FALSE(from_bytes(bytes)) << "bit " << bit;
            bytes[bit / 8] ^= mask;
        }
        ASSERT_TRUE(from_bytes(bytes));
    }
}

// Headers made by hand, wrong in one way each.
TEST(message_damage, corrupt_headers_say_what_and_where) {
    const struct {
        const char* text;
        std::uint64_t offset;
        const char* message;
    } rows[] = {
        {"", 0, "cut off in its header"},
        {"504f", 2, "cut off in its header"},
        {"7f454c46", 0, "not a Posy message"},
        {"504f535902010040", 4, "version 2"},
        {"504f535901010003", 7, "header length of 3"},
        {"504f535901010020", 8, "cut off"},
        {"504f535901630010000000000000000000", 5, "unknown kind"},
        {"504f535901010910000000000000000000", 6, "unknown codec"},
        {"504f53590101000b010107", 11, "cut off"},
        // 2^60 bits
        {"504f5359010100200101078080808080808080100000000000000000000000000000000000000000", 11,
         "above the limit of 2^40"},
        {"504f535901010020010107ffffffffffffffffffff00000000000000000000000000000000000000", 11,
         "above 2^64"},
        {"504f535901010020630107e8070000000000000000000000000000000000000000000000000000", 8,
         "unknown layout 99"},
        {"504f535901010020010100e8070000000000000000000000000000000000000000000000000000", 8, "0 hashes"},
        {"504f535901020020010107e8070000010400000000000000000000000000000000000000000000", 15,
         "does not know its number of items"},
        {"504f535901020020010107e8070000020500000000000000000000000000000000000000000000", 16,
         "counters of 5 bits"},
        // planned for 5 items and a rate that is no number, or 2
        {"504f535901010020010107e807000000000005000000000000f87f00000000000000000000000000", 19,
         "planned rate that does not lie between 0 and 1"},
        {"504f535901010020010107e8070000000000050000000000000040000000000000000000000000", 19,
         "planned rate that does not lie between 0 and 1"},
        {"504f535901010020010107e8070000000000000100000000000000000000000000000000000000", 19,
         "payload of 1 bytes where the array has 128"},
        // a coded payload that is larger than the array by more than a padded header is
        {"504f535901010220010107e807000000000000c101000000000000000000000000000000000000", 19,
         "payload of 193 bytes where the array has 128"},
        // a counting filter with a codec of bits
        {"504f535901020220010107e8070000010400000000000000000000000000000000000000000000", 6,
         "codec of another kind"},
    };
    for (const auto& [text, offset, message] : rows) {
        const auto read = from_bytes(unhex(text));
        ASSERT_FALSE(read) << text;
        EXPECT_NE(read.error().message.find(message), std::string::npos)
            << text << ": " << read.error().text();
        EXPECT_EQ(read.error().offset, offset) << text << ": " << read.error().text();
    }
}

TEST(message_damage, a_header_has_one_form) {
    auto bytes = to_bytes(filter_sample({600, 3, layout_id::spread}));
    bytes[40] = std::byte{1};
    const auto read = from_bytes(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().offset, 40u);
    EXPECT_NE(read.error().message.find("other padding"), std::string::npos);
}

// Damage with a checksum that fits, so that the code behind it sees it: every kind, every codec.
TEST(message_damage, random_damage_never_crashes) {
    std::mt19937_64 random(11);
    at_least opened(10'000, "damaged messages that are read");
    for (const auto& good : all_kinds()) {
        for (int round = 0; round < 3000; ++round) {
            auto bytes = good;
            for (std::uint64_t i = 0; i <= random() % 6; ++i)
                bytes[random() % bytes.size()] = static_cast<std::byte>(random());
            if (round % 3 == 0) bytes.resize(std::max<std::size_t>(random() % (bytes.size() + 1), 4));
            frame::checksum sum;
            sum.add(byte_view(bytes).first(bytes.size() - 4));
            store_little(&bytes[bytes.size() - 4], sum.value());
            const auto read = from_bytes(bytes, {.max_bytes = 1 << 20});
            if (!read) continue;
            ++opened;
            (void)to_bytes(read->body);
            for (int key = 0; key < 100; ++key) {
                if (const auto* set = std::get_if<sealed_filter>(&read->body))
                    (void)set->may_contain(set->hash()(key));
                if (const auto* map = std::get_if<bloomier_map>(&read->body))
                    (void)map->find(map->hash()(key));
            }
        }
    }
}

TEST(message_damage, a_coded_array_above_the_limit_takes_no_memory) {
    const auto bytes = to_bytes(*bloom_filter::make({1 << 20, 3}), {.want = coding::smallest});
    EXPECT_LT(bytes.size(), 50u);
    EXPECT_TRUE(from_bytes(bytes, {.max_bytes = 1 << 17}));
    const auto refused = from_bytes(bytes, {.max_bytes = (1 << 17) - 1});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("above the limit of 131071"), std::string::npos);
}

}  // namespace
}  // namespace posy
