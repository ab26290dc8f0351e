#include "codec/nested.hpp"

#include <random>

#include "payload.hpp"

namespace posy::codec {
namespace {

bit_array array_of(std::uint64_t bits, double density) {
    auto array = *bit_array::make(bits);
    std::mt19937_64 random(bits);
    for (std::uint64_t i = 0; i < bits; ++i)
        if (static_cast<double>(random() >> 11) * 0x1p-53 < density) array.set(i);
    return array;
}

TEST(nested_bits, come_back_and_leave_the_rest) {
    for (const std::uint64_t bits : {1u, 63u, 64u, 65u, 1000u, 100'000u}) {
        for (const double density : {0.0, 0.003, 0.2, 0.5, 1.0}) {
            const auto array = array_of(bits, density);
            std::vector<std::byte> bytes;
            append_bits(array, bytes);
            EXPECT_LE(bytes.size(), bit_array::word_count(bits) * 8 + 4);
            bytes.push_back(std::byte{77});
            base::reader in(bytes);
            const auto back = take_bits(in, bits, bit_array::word_count(bits) * 8);
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(*back, array);
            EXPECT_EQ(in.left(), 1u);
        }
    }
}

TEST(nested_bits, bytes) {
    const auto code = [](const bit_array& array) {
        std::vector<std::byte> bytes;
        append_bits(array, bytes);
        return hex(bytes);
    };
    auto array = *bit_array::make(70);
    EXPECT_EQ(code(array), "020100");  // codec "range", one byte: no ones
    for (std::uint64_t i = 0; i < 70; i += 2) array.set(i);
    EXPECT_EQ(code(array), "020a23aaaaaaaa2aaaaaaaa8");
    EXPECT_EQ(code(array_of(64, 0.5)), "0008313d9df0e6841184");  // raw: coded, it would be larger
}

TEST(nested_bits, refusals) {
    const auto refusal = [](std::vector<unsigned> values, std::uint64_t bits, std::uint64_t limit = 1000) {
        std::vector<std::byte> bytes;
        for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
        base::reader in(bytes);
        const auto array = take_bits(in, bits, limit);
        EXPECT_EQ(array.ok(), !in.wrong());
        return array ? "" : array.error().text();
    };
    EXPECT_EQ(refusal({2, 1, 0}, 64), "");
    EXPECT_EQ(refusal({0, 8, 255, 0, 0, 0, 0, 0, 0, 0}, 8), "");
    EXPECT_EQ(refusal({0, 8, 255, 1, 0, 0, 0, 0, 0, 0}, 8),
              "at byte 9: bits are set past the end of the array; the bytes are damaged");
    EXPECT_EQ(refusal({0, 3, 1, 1, 1}, 64), "at byte 2: 3 bytes for 1 words; the bytes are damaged");
    EXPECT_NE(refusal({5, 1, 0}, 64).find("a codec that is not for parts"), std::string::npos);
    EXPECT_NE(refusal({2, 1, 0}, 64, 7).find("above the limit of 7"), std::string::npos);
    EXPECT_NE(refusal({2, 9, 0}, 64).find("the number 9, above the limit of 8"), std::string::npos);
    EXPECT_NE(refusal({2, 3, 0}, 64).find("3 bytes where 1 are left"), std::string::npos);
    EXPECT_NE(refusal({2, 2, 0, 0}, 64), "");
}

}  // namespace
}  // namespace posy::codec
