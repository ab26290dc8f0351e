#include "base/reader.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace posy::base {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

TEST(reader, reads_in_order) {
    const auto bytes = bytes_of({7, 0xac, 0x02, 1, 2, 3, 4, 9, 8});
    reader in(bytes);
    EXPECT_EQ(in.byte(), 7u);
    EXPECT_EQ(in.varint(), 300u);
    EXPECT_EQ(in.number<std::uint32_t>(), 0x04030201u);
    EXPECT_EQ(in.offset(), 7u);
    EXPECT_EQ(in.left(), 2u);
    EXPECT_EQ(in.take(1)[0], std::byte{9});
    EXPECT_EQ(in.rest().size(), 1u);
    EXPECT_FALSE(in.finish());
}

// The first error stays, and all that follows is zero.
TEST(reader, remembers_what_was_wrong_first) {
    const auto bytes = bytes_of({1, 0x80, 0x00, 5});
    reader in(bytes);
    in.byte();
    EXPECT_EQ(in.varint(), 0u);
    EXPECT_EQ(in.byte(), 0u);
    EXPECT_TRUE(in.take(1).empty());
    in.fail("something else");
    ASSERT_TRUE(in.finish());
    EXPECT_EQ(in.wrong()->offset, 1u);
    EXPECT_EQ(in.wrong()->message.find("a number that is cut off"), 0u);
}

TEST(reader, refusals) {
    const auto bytes = bytes_of({200, 1, 3});
    const auto message = [&](auto use) {
        reader in(bytes);
        use(in);
        return in.finish()->text();
    };
    const std::string end = "; the bytes are damaged or from another program";
    EXPECT_EQ(message([](reader& in) { in.varint(199); }),
              "at byte 0: the number 200, above the limit of 199" + end);
    EXPECT_EQ(message([](reader& in) { in.varint(200); }), "at byte 2: 1 bytes too many" + end);
    EXPECT_EQ(message([](reader& in) { in.take(4); }), "at byte 0: 4 bytes where 3 are left" + end);
    EXPECT_EQ(message([](reader& in) { in.byte(), in.take(2), in.fail("odd"); }), "at byte 1: odd" + end);
    EXPECT_EQ(message([](reader& in) { in.byte(), in.rest(), in.fail_inside(error::damaged("inner", 1)); }),
              "at byte 2: inner");
}

}  // namespace
}  // namespace posy::base
