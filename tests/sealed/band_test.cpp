#include "sealed/band.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace posy::sealed {
namespace {

constexpr std::uint64_t blocks = 5, starts = 64 * (blocks - 1);

struct test_row {
    std::uint32_t start;
    std::uint64_t coefficients;
    right_side<2> right;
};

std::vector<test_row> random_rows(std::size_t count, std::mt19937_64& random) {
    std::vector<test_row> rows(count);
    for (test_row& r : rows) {
        r = {static_cast<std::uint32_t>(random() % starts), random() | 1, {random(), random()}};
    }
    return rows;
}

// The solution as words: [column][block], one more block of zeros.
std::vector<std::vector<std::uint64_t>> solution_of(const band<2>& equations) {
    std::vector<std::vector<std::uint64_t>> solution(128, std::vector<std::uint64_t>(blocks + 1));
    equations.solve(
        kernels::of(base::instruction_set::scalar), [](std::uint64_t) { return 128u; },
        [&](std::uint64_t b, const std::uint64_t* states) {
            for (std::size_t j = 0; j < 128; ++j) solution[j][b] = states[j];
        });
    return solution;
}

bool satisfied(const test_row& r, const std::vector<std::vector<std::uint64_t>>& solution) {
    for (std::size_t j = 0; j < 128; ++j) {
        const unsigned offset = r.start % 64;
        const std::uint64_t low = solution[j][r.start / 64] >> offset;
        const std::uint64_t high = offset == 0 ? 0 : solution[j][r.start / 64 + 1] << (64 - offset);
        const auto sum = static_cast<unsigned>(std::popcount((low | high) & r.coefficients)) % 2;
        if (sum != (r.right[j / 64] >> j % 64 & 1)) return false;
    }
    return true;
}

// Far more rows than unknowns: the ones taken hold, and those refused do not (a chance in 2^128 each).
TEST(band, solves_the_rows_it_took_and_no_others) {
    std::mt19937_64 random(5);
    band<2> equations;
    equations.reset(blocks);
    const auto rows = random_rows(600, random);
    std::vector<bool> taken;
    for (const test_row& r : rows) {
        taken.push_back(equations.insert(r.start, r.coefficients, r.right) != equations.contradiction);
    }
    const auto solution = solution_of(equations);
    std::size_t count = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(satisfied(rows[i], solution), taken[i]) << i;
        count += taken[i];
    }
    EXPECT_GT(count, 64 * blocks - 20);  // nearly as many as unknowns
    EXPECT_LE(count, 64 * blocks);
}

TEST(band, a_row_that_follows_from_others_needs_no_place) {
    band<2> equations;
    equations.reset(2);
    EXPECT_EQ(equations.insert(3, 0b101, {1, 0}), 3u);
    EXPECT_EQ(equations.insert(3, 0b111, {2, 0}), 4u);
    EXPECT_EQ(equations.insert(4, 1, {3, 0}), equations.no_slot);
    EXPECT_EQ(equations.insert(4, 1, {3, 1}), equations.contradiction);
    EXPECT_EQ(equations.insert(3, 0b101, {1, 0}), equations.no_slot);
}

TEST(band, forgets_what_is_taken_back) {
    std::mt19937_64 random(6);
    const auto rows = random_rows(150, random), others = random_rows(100, random);
    band<2> once, twice;
    once.reset(blocks);
    twice.reset(blocks);
    for (const test_row& r : rows) {
        ASSERT_EQ(once.insert(r.start, r.coefficients, r.right),
                  twice.insert(r.start, r.coefficients, r.right));
    }
    std::vector<std::uint32_t> slots;
    for (const test_row& r : others) {
        const std::uint32_t slot = twice.insert(r.start, r.coefficients, r.right);
        if (slot != twice.contradiction) slots.push_back(slot);
    }
    EXPECT_GT(slots.size(), 50u);
    for (; !slots.empty(); slots.pop_back()) twice.remove(slots.back());
    EXPECT_EQ(solution_of(once), solution_of(twice));
}

}  // namespace
}  // namespace posy::sealed
