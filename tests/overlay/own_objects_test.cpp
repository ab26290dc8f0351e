#include "posy/overlay/own_objects.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace posy::overlay {
namespace {

// Objects come and go; the ones are those of the objects that are there, and a flip is told when a bit
// changes and only then. Few bits, so that objects share them.
TEST(own_objects, keeps_the_bits_of_what_is_there) {
    const posy::geometry filter{.bits = 512, .hashes = 4, .layout = layout_id::spread};
    own_objects objects(filter, 7);
    std::set<std::uint64_t> truth;
    std::set<position> told;
    const auto flip = [&](position p) {
        if (!told.erase(p)) told.insert(p);
    };
    std::mt19937_64 random(1);
    for (int step = 0; step < 3000; ++step) {
        const std::uint64_t object = random() % 60;
        const bool there = truth.contains(object);
        const bool inserts = random() % 2;
        if (inserts) {
            EXPECT_EQ(objects.insert(hasher()(object), flip), !there);
            truth.insert(object);
        } else {
            EXPECT_EQ(objects.remove(hasher()(object), flip), there);
            truth.erase(object);
        }
        std::set<position> ones;
        for (const std::uint64_t each : truth) {
            for (const std::uint64_t p : positions_of(filter, hasher()(each)))
                ones.insert(static_cast<position>(p));
        }
        ASSERT_EQ(objects.ones(), std::vector<position>(ones.begin(), ones.end()));
        ASSERT_EQ(told, ones);
        ASSERT_EQ(objects.size(), truth.size());
        ASSERT_EQ(objects.contains(hasher()(object)), inserts);
        ASSERT_EQ(objects.empty(), truth.empty());
    }
    for (position p = 0; p < 512; ++p) EXPECT_EQ(objects.test(p), told.contains(p));
    std::size_t listed = 0;
    for (const digest& each : objects) listed += objects.contains(each);
    EXPECT_EQ(listed, truth.size());
    EXPECT_GT(objects.memory(), listed * sizeof(digest));
}

}  // namespace
}  // namespace posy::overlay
