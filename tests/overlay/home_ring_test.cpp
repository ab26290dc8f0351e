#include "posy/overlay/home_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "statistics.hpp"

namespace posy::overlay {
namespace {

digest key(std::uint64_t i) { return hasher()(i); }

// The first node at or after the object's point.
node_id home_of(const std::vector<node_id>& members, const digest& d) {
    return *std::ranges::min_element(
        members, {}, [&](node_id n) { return home_ring::point_of(n) - home_ring::point_of(d); });
}

TEST(home_ring, every_way_ends_at_the_same_home) {
    for (const std::uint64_t nodes : {1, 2, 3, 10, 300}) {
        std::vector<node_id> members;
        std::map<node_id, home_ring> rings;
        for (node_id n = 0; n < nodes; ++n) members.push_back(n * 31 + 5);
        for (const node_id n : members) rings.try_emplace(n, n, 1).first->second.set_members(members);
        sample hops(200);
        for (std::uint64_t i = 0; i < 1000; ++i) {
            node_id at = members[i % nodes];
            unsigned steps = 0;
            while (const auto next = rings.at(at).next_hop(key(i))) {
                at = *next;
                ASSERT_LE(++steps, 64u);
            }
            ASSERT_EQ(at, home_of(members, key(i)));
            hops.add(steps);
        }
        EXPECT_LE(hops.highest(), 2 * std::log2(static_cast<double>(nodes)) + 2);
        EXPECT_LE(rings.at(members[0]).fingers(), 2 * std::log2(static_cast<double>(nodes)) + 2);
    }
}

TEST(home_ring, remembers_holders_within_its_limits) {
    home_ring ring(1, 2, 100);
    EXPECT_FALSE(ring.remove(key(1), 5));
    EXPECT_TRUE(ring.add(key(1), 5));
    EXPECT_TRUE(ring.add(key(1), 6));
    EXPECT_TRUE(ring.add(key(1), 5));  // again: the latest is first
    EXPECT_TRUE(std::ranges::equal(ring.holders(key(1)), std::vector<node_id>{5, 6}));
    EXPECT_TRUE(ring.remove(key(1), 5));
    EXPECT_TRUE(ring.remove(key(1), 6));
    EXPECT_TRUE(ring.holders(key(1)).empty());
    EXPECT_EQ(ring.pointers(), 0u);
    for (node_id n = 0; n < 1000; ++n) ring.add(key(2), n);
    EXPECT_EQ(ring.holders(key(2)).size(), home_ring::most_holders);
    for (std::uint64_t i = 10; i < 1000; ++i) ring.add(key(i), 1);
    EXPECT_EQ(ring.pointers(), 100u);
    EXPECT_FALSE(ring.add(key(5000), 1));
    EXPECT_TRUE(ring.holders(key(5000)).empty());
}

}  // namespace
}  // namespace posy::overlay
