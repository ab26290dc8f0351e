#include "sketch/cell_code.hpp"

#include <random>

#include "payload.hpp"
#include "sketch/cells.hpp"

namespace posy::sketch {
namespace {

bit_array cells_of(const std::vector<std::uint32_t>& values) {
    auto memory = *make_cells(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) cells(memory).set(i, values[i]);
    return memory;
}

std::string code(const std::vector<std::uint32_t>& values) {
    std::vector<std::byte> bytes;
    append_cells(cells_of(values), counter_width::bits_32, bytes);
    return hex(bytes);
}

TEST(cell_code, pinned) {
    EXPECT_EQ(code({1, 127, 128, 300}), "017f8001ac02");
    EXPECT_EQ(code({0xffffffff}), "ffffffff0f");
    EXPECT_EQ(code({0}), "0000");
    EXPECT_EQ(code({0, 0, 0, 5, 0}), "0002050000");
    EXPECT_EQ(code(std::vector<std::uint32_t>(1000)), "00e707");
}

TEST(cell_code, round_trips) {
    std::mt19937_64 random(8);
    for (const unsigned size : {1u, 2u, 3u, 10u, 500u}) {
        for (int round = 0; round < 200; ++round) {
            std::vector<std::uint32_t> values(size);
            const unsigned shift = random() % 32;
            for (std::uint32_t& value : values)
                value = random() % 3 ? static_cast<std::uint32_t>(random()) >> shift : 0;
            const auto cells = cells_of(values);
            std::vector<std::byte> bytes;
            append_cells(cells, counter_width::bits_32, bytes);
            base::reader in(bytes);
            const auto back = take_cells(in, size, counter_width::bits_32, 4 * size);
            ASSERT_TRUE(back);
            EXPECT_EQ(*back, cells);
            EXPECT_EQ(in.left(), 0u);
        }
    }
}

std::string refusal(std::vector<std::uint8_t> bytes, std::uint64_t size,
                    counter_width width = counter_width::bits_32) {
    base::reader in(std::as_bytes(std::span(bytes)));
    const auto cells = take_cells(in, size, width, 1000);
    return cells ? "" : cells.error().text();
}

TEST(cell_code, refusals) {
    const std::string damaged = "; the bytes are damaged or from another program";
    EXPECT_EQ(refusal({1, 2}, 2), "");
    EXPECT_EQ(refusal({1}, 2),
              "at byte 1: a number that is cut off, above 2^64 or not in its shortest form" + damaged);
    EXPECT_EQ(refusal({0, 0, 0, 0}, 2), "at byte 2: a run of zeros in two pieces" + damaged);
    EXPECT_EQ(refusal({0, 2}, 2), "at byte 1: the number 2, above the limit of 1" + damaged);
    EXPECT_EQ(refusal({0x80, 0x80, 0x80, 0x80, 0x10}, 1),
              "at byte 0: the number 4294967296, above the limit of 4294967295" + damaged);
    EXPECT_EQ(refusal({0x80, 0x80, 0x80, 0x80, 0x10}, 1, counter_width::bits_64), "");
    // No memory is taken for a table beyond the limit.
    EXPECT_EQ(
        refusal({0, 0}, 251),
        "at byte 0: a table of 1004 bytes of memory, above the limit of 1000; raise it if you trust the "
        "sender");
    EXPECT_NE(refusal({0, 0}, 126, counter_width::bits_64).find("a table of 1008 bytes"), std::string::npos);
}

}  // namespace
}  // namespace posy::sketch
