#include "http/failures.hpp"

#include <gtest/gtest.h>

namespace posy::http {
namespace {

using namespace std::chrono_literals;

TEST(failures, are_remembered_for_a_moment) {
    failures failed(10, 5s);
    const failures::clock::time_point start{};
    EXPECT_FALSE(failed.remembers("a", start));
    failed.add("a", start);
    EXPECT_TRUE(failed.remembers("a", start));
    EXPECT_TRUE(failed.remembers("a", start + 4999ms));
    EXPECT_FALSE(failed.remembers("b", start));
    EXPECT_FALSE(failed.remembers("a", start + 5s));
    failed.add("a", start + 7s);
    EXPECT_TRUE(failed.remembers("a", start + 11s));
}

TEST(failures, are_few) {
    failures failed(3, 5s);
    const failures::clock::time_point start{};
    for (int i = 0; i < 4; ++i) failed.add(std::to_string(i), start + i * 1s);
    EXPECT_EQ(failed.size(), 3U);
    EXPECT_FALSE(failed.remembers("3", start + 3s));  // there was no room
    failed.add("4", start + 5s);                      // there is, where the first was
    EXPECT_EQ(failed.size(), 3U);
    EXPECT_FALSE(failed.remembers("0", start + 5s));
    for (const auto* name : {"1", "2", "4"}) EXPECT_TRUE(failed.remembers(name, start + 5s)) << name;
}

}  // namespace
}  // namespace posy::http
