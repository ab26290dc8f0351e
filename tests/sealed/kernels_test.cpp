#include "sealed/kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <vector>

namespace posy::sealed {
namespace {

std::vector<base::instruction_set> sets_of_this_machine() {
    using enum base::instruction_set;
    std::vector<base::instruction_set> sets;
    for (const auto set : {scalar, avx2, avx512})
        if (base::has(set)) sets.push_back(set);
    return sets;
}

class every_sealed_kernel : public testing::TestWithParam<base::instruction_set> {};
INSTANTIATE_TEST_SUITE_P(kernels, every_sealed_kernel, testing::ValuesIn(sets_of_this_machine()),
                         [](const auto& row) { return std::string(base::name_of(row.param)); });

TEST_P(every_sealed_kernel, adds_up_the_masked_bits_of_each_column) {
    const kernels k = kernels::of(GetParam());
    std::mt19937_64 random(1);
    for (unsigned columns = 0; columns <= 64; ++columns) {
        // At an odd address, and with nothing behind: a sanitizer sees a load too far.
        std::vector<std::byte> bytes(3 + 16 * columns);
        for (std::byte& b : bytes) b = static_cast<std::byte>(random());
        const std::byte *first = bytes.data() + 3, *second = first + 8 * columns;
        const std::uint64_t low = random(), high = random();
        std::uint64_t expected = 0;
        for (unsigned j = 0; j < columns; ++j) {
            const int ones = std::popcount(load_little<std::uint64_t>(first + 8 * j) & low) +
                             std::popcount(load_little<std::uint64_t>(second + 8 * j) & high);
            expected |= static_cast<std::uint64_t>(ones % 2) << j;
        }
        EXPECT_EQ(k.add(first, second, low, high, columns), expected) << columns;
    }
}

// Each row that starts in the block adds up to its right side; the unknown of an empty row is zero; columns
// past the last are left alone.
TEST_P(every_sealed_kernel, solves_the_rows_of_a_block) {
    const kernels k = kernels::of(GetParam());
    std::mt19937_64 random(2);
    for (const unsigned words : {1u, 2u}) {
        for (unsigned columns = 0; columns <= 64 * words; columns += 1 + columns / 9) {
            std::array<std::uint64_t, 64> coefficients{};
            std::vector<std::uint64_t> right(std::size_t{64} * words), before(128), after;
            for (std::size_t i = 0; i < 64; ++i) {
                if (random() % 8 == 0) continue;
                coefficients[i] = random() | 1;
                for (unsigned w = 0; w < words; ++w) right[i * words + w] = random();
            }
            for (std::uint64_t& word : before) word = random();
            after = before;
            k.substitute(coefficients.data(), right.data(), words, columns, after.data());
            for (unsigned j = 0; j < 128; ++j) {
                if (j >= columns) {
                    EXPECT_EQ(after[j], before[j]);
                    continue;
                }
                for (unsigned i = 0; i < 64; ++i) {
                    const std::uint64_t window = i == 0 ? after[j] : after[j] >> i | before[j] << (64 - i);
                    const auto sum = static_cast<unsigned>(std::popcount(window & coefficients[i])) % 2;
                    if (coefficients[i] == 0) {
                        EXPECT_EQ(window & 1, 0u);
                    } else {
                        EXPECT_EQ(sum, right[i * words + j / 64] >> j % 64 & 1) << "row " << i;
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace posy::sealed
