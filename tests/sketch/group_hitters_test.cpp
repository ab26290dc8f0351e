#include "posy/group_hitters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace posy {
namespace {

using counts = std::map<std::string, std::map<std::string, std::uint64_t>>;

struct fed_hitters {
    group_hitters hitters;
    counts truth;

    void add(const std::string& group, const std::string& key, std::uint64_t weight) {
        hitters.add({group, hasher()(group), key, hasher()(group + "\n" + key)}, weight);
        truth[group][key] += weight;
    }
};

// Group g has g times as much as the first, and in each group key k comes in proportion to 1/k; one key is in
// all groups under the same name.
fed_hitters fed(group_hitters::rooms room, std::uint64_t width, std::uint64_t weight = 1) {
    fed_hitters f{
        *group_hitters::make(
            *count_min::make(hasher(), width, 4, update_rule::conservative, counter_width::bits_64), room),
        {}};
    std::mt19937_64 random(2);
    for (int step = 0; step < 60'000; ++step) {
        const auto group = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(random() % 2500)));
        const std::uint64_t key = 200 / (1 + random() % 200);
        f.add("g" + std::to_string(group), "k" + std::to_string(key), weight);
    }
    return f;
}

std::vector<heavy_hitter> top_of(const std::map<std::string, std::uint64_t>& keys, std::size_t most) {
    std::vector<heavy_hitter> all;
    for (const auto& [key, count] : keys) all.push_back({key, count});
    std::ranges::sort(all, before_in_list);
    all.resize(std::min(most, all.size()));
    return all;
}

// With room for all and a sketch without collisions: the exact top of every group.
TEST(group_hitters, the_top_of_each_group) {
    constexpr std::uint64_t large = std::uint64_t{1} << 40;
    for (const std::uint64_t weight : {std::uint64_t{1}, large}) {
        const fed_hitters f = fed({100, 20}, 100'000, weight);
        const auto groups = f.hitters.report(20, 3);
        ASSERT_EQ(groups.size(), 20u);
        for (const auto& each : groups) {
            EXPECT_EQ(each.keys, top_of(f.truth.at(each.name), 3)) << each.name;
            EXPECT_LE(each.complete_from, each.keys[1].count);
        }
        EXPECT_TRUE(std::ranges::is_sorted(groups, std::greater(), &group_hitters::group::count));
        EXPECT_EQ(f.hitters.groups_complete_from(), 1u);
    }
}

// With little room everywhere: no count is too low, and what a list says it has, it has.
TEST(group_hitters, lists_are_complete_from_where_they_say) {
    for (const auto& [groups, keys, width] :
         {std::tuple(3u, 2u, 100'000u), {10u, 5u, 100u}, {40u, 1u, 1000u}}) {
        const fed_hitters f = fed({groups, keys}, width);
        const auto report = f.hitters.report(1000, keys);
        std::map<std::string, std::uint64_t> listed;
        for (const auto& each : report) {
            const auto& truth = f.truth.at(each.name);
            std::uint64_t sum = 0;
            std::map<std::string, std::uint64_t> found;
            for (const auto& [key, count] : each.keys) {
                found[key] = count;
                EXPECT_GE(count, truth.at(key));
            }
            for (const auto& [key, count] : truth) {
                sum += count;
                EXPECT_TRUE(count < each.complete_from || found.contains(key)) << each.name << " " << key;
            }
            EXPECT_GE(each.count, sum);
            listed[each.name] = sum;
        }
        for (const auto& [group, keys_of] : f.truth) {
            std::uint64_t sum = 0;
            for (const auto& [key, count] : keys_of) sum += count;
            EXPECT_TRUE(sum < f.hitters.groups_complete_from() || listed.contains(group)) << group;
        }
    }
}

TEST(group_hitters, refusals) {
    const auto sketch = [] { return *count_min::make(hasher(), 10, 2); };
    EXPECT_FALSE(group_hitters::make(sketch(), {0, 5}));
    EXPECT_FALSE(group_hitters::make(sketch(), {5, 0}));
    auto used = sketch();
    used.add(hasher()(1));
    EXPECT_FALSE(group_hitters::make(std::move(used), {5, 5}));
}

}  // namespace
}  // namespace posy
