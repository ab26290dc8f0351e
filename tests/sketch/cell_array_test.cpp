#include "posy/cell_array.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace posy {
namespace {

cell_array cells_of(const std::vector<std::uint32_t>& values) {
    auto cells = *cell_array::make(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) cells.set(i, values[i]);
    return cells;
}

constexpr auto in_order = [](unsigned i) { return i; };

TEST(cell_array, counts_at_the_cells_of_a_key_alone) {
    auto cells = cells_of({5, 3, 9, 7});
    const auto odd = [](unsigned i) { return 2 * i + 1; };
    EXPECT_EQ(cells.least(4, in_order), 3u);
    EXPECT_EQ(cells.least(2, odd), 3u);
    EXPECT_EQ(cells.add(2, odd, 10), 13u);
    EXPECT_EQ(cells, cells_of({5, 13, 9, 17}));
    EXPECT_EQ(cells.raise(2, odd, 1), 14u);
    EXPECT_EQ(cells, cells_of({5, 14, 9, 17}));
}

// Broder and Mitzenmacher 2004, figure 2: a flow whose least counter is 2 brings 4 bytes more. Counters
// should increase only to 6, and those above that not at all.
TEST(cell_array, conservative_update_as_in_figure_2) {
    auto cells = cells_of({2, 3, 8});
    EXPECT_EQ(cells.count(update_rule::conservative, 3, in_order, 4), 6u);
    EXPECT_EQ(cells, cells_of({6, 6, 8}));
    auto plain = cells_of({2, 3, 8});
    EXPECT_EQ(plain.count(update_rule::plain, 3, in_order, 4), 6u);
    EXPECT_EQ(plain, cells_of({6, 7, 12}));
}

TEST(cell_array, nothing_wraps) {
    constexpr std::uint32_t top = cell_array::largest;
    auto cells = cells_of({top - 1, top, top - 7});
    EXPECT_EQ(cells.add(3, in_order, 5), top - 2);
    EXPECT_EQ(cells, cells_of({top, top, top - 2}));
    EXPECT_EQ(cells.raise(3, in_order, 7), top);
    EXPECT_EQ(cells, cells_of({top, top, top}));
    auto sum = cells_of({top, 7, 0});
    sum.merge(cells_of({1, top - 7, 0}));
    EXPECT_EQ(sum, cells_of({top, top, 0}));
}

TEST(cell_array, clones_clears_and_refuses) {
    auto cells = cells_of({1, 2, 3});
    const auto copy = *cells.clone();
    cells.clear();
    EXPECT_EQ(cells, cells_of({0, 0, 0}));
    EXPECT_EQ(copy, cells_of({1, 2, 3}));
    EXPECT_EQ(copy.bytes(), 12u);
    EXPECT_FALSE(cell_array::make(0));
    EXPECT_FALSE(cell_array::make(cell_array::max_size + 1));
}

}  // namespace
}  // namespace posy
