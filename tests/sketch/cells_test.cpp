#include "sketch/cells.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace posy::sketch {
namespace {

constexpr auto in_order = [](unsigned i) { return i; };

// Cells with their memory.
struct owned {
    explicit owned(const std::vector<std::uint32_t>& values) : memory(*make_cells(values.size())) {
        for (std::size_t i = 0; i < values.size(); ++i) view().set(i, values[i]);
    }
    cells view() { return cells(memory); }
    std::vector<std::uint32_t> values() const {
        std::vector<std::uint32_t> all;
        for (std::uint64_t i = 0; i < const_cells(memory).size(); ++i) all.push_back(const_cells(memory)[i]);
        return all;
    }
    bit_array memory;
};
using list = std::vector<std::uint32_t>;

TEST(cells, counts_at_the_cells_of_a_key_alone) {
    owned some({5, 3, 9, 7});
    const auto odd = [](unsigned i) { return 2 * i + 1; };
    EXPECT_EQ(some.view().least(4, in_order), 3u);
    EXPECT_EQ(some.view().least(2, odd), 3u);
    EXPECT_EQ(some.view().add(2, odd, 10), 13u);
    EXPECT_EQ(some.values(), list({5, 13, 9, 17}));
    EXPECT_EQ(some.view().raise(2, odd, 1), 14u);
    EXPECT_EQ(some.values(), list({5, 14, 9, 17}));
}

// Broder and Mitzenmacher 2004, figure 2: a flow whose least counter is 2 brings 4 bytes more. Counters
// should increase only to 6, and those above that not at all.
TEST(cells, conservative_update_as_in_figure_2) {
    owned conservative({2, 3, 8});
    EXPECT_EQ(conservative.view().count(update_rule::conservative, 3, in_order, 4), 6u);
    EXPECT_EQ(conservative.values(), list({6, 6, 8}));
    owned plain({2, 3, 8});
    EXPECT_EQ(plain.view().count(update_rule::plain, 3, in_order, 4), 6u);
    EXPECT_EQ(plain.values(), list({6, 7, 12}));
}

TEST(cells, nothing_wraps) {
    constexpr std::uint32_t top = cells::largest;
    owned some({top - 1, top, top - 7});
    EXPECT_EQ(some.view().add(3, in_order, 5), top - 2);
    EXPECT_EQ(some.values(), list({top, top, top - 2}));
    EXPECT_EQ(some.view().raise(3, in_order, 7), top);
    EXPECT_EQ(some.values(), list({top, top, top}));
    EXPECT_EQ(owned({0, 1}).view().add(2, in_order, std::uint64_t{1} << 40), top);
}

TEST(cells, sums_become_wide_where_they_must) {
    constexpr std::uint32_t top = cells::largest;
    counter_width width = counter_width::bits_32;
    owned sum({top - 8, 7, 0});
    ASSERT_TRUE(add_cells(sum.memory, width, owned({7, top - 8, 0}).memory, counter_width::bits_32));
    EXPECT_EQ(width, counter_width::bits_32);
    EXPECT_EQ(sum.values(), list({top - 1, top - 1, 0}));
    // What is stuck has no sum, whatever is added.
    EXPECT_FALSE(add_cells(sum.memory, width, owned({0, 0, top}).memory, counter_width::bits_32));
    EXPECT_EQ(sum.values(), list({top - 1, top - 1, 0}));
    // The largest number means stuck: a sum that reaches it becomes wide.
    owned more({5, top - 1, 0});
    ASSERT_TRUE(add_cells(more.memory, width, owned({1, 1, 2}).memory, counter_width::bits_32));
    EXPECT_EQ(width, counter_width::bits_64);
    std::vector<std::uint64_t> wide;
    with_cells(more.memory, width, [&](const auto& values) {
        for (std::uint64_t i = 0; i < values.size(); ++i) wide.push_back(values[i]);
    });
    EXPECT_EQ(wide, std::vector<std::uint64_t>({6, top, 2}));
}

TEST(cells, sizes) {
    EXPECT_EQ(owned({1, 2, 3}).view().size(), 3u);
    EXPECT_FALSE(make_cells(0));
    EXPECT_FALSE(make_cells(max_cells + 1));
}

}  // namespace
}  // namespace posy::sketch
