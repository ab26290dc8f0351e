#include "sealed/sorted_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <ranges>
#include <vector>

namespace posy::sealed {
namespace {

template <class Row>
void expect_sorted(std::vector<Row> rows, const std::string& what) {
    const auto at = [&](std::size_t i) { return rows[i]; };
    const sorted_rows<Row> one(rows.size(), at, 1), three(rows.size(), at, 3);
    std::ranges::sort(rows);
    const auto repeated = std::ranges::unique(rows);
    rows.erase(repeated.begin(), repeated.end());
    EXPECT_TRUE(std::ranges::equal(one.rows(), rows)) << what;
    EXPECT_TRUE(std::ranges::equal(three.rows(), rows)) << what;
}

TEST(sorted_rows, are_what_sort_and_unique_give) {
    std::mt19937_64 random(3);
    for (const std::size_t count : {0, 1, 2, 3, 100, 8191, 8192, 50'000, 300'000}) {
        // Different keys; few keys many times; a place that all share; places in one partition.
        const std::string name = std::to_string(count) + " rows, ";
        std::vector<row> rows(count);
        for (row& r : rows) r = {random(), random()};
        expect_sorted(rows, name + "random");
        for (row& r : rows) r = {base::mix(random() % 50), 7};
        expect_sorted(rows, name + "repeated");
        for (row& r : rows) r = {42, random()};
        expect_sorted(rows, name + "one place");
        for (row& r : rows) r = {random() % 1000, random() % 3};
        expect_sorted(rows, name + "small places");
    }
}

// One key with two values stays two rows, next to each other.
TEST(sorted_rows, tell_values_apart) {
    std::mt19937_64 random(4);
    std::vector<valued_row> rows(40'000);
    for (valued_row& r : rows) r = {{base::mix(random() % 10'000), 0}, random() % 2};
    expect_sorted(rows, "valued");
}

}  // namespace
}  // namespace posy::sealed
