#include <gtest/gtest.h>

#include "http/message.hpp"

namespace posy::http {
namespace {

TEST(authority, has_brackets_around_ipv6_only) {
    for (const auto* good : {"[::1]", "[::1]:80", "[2001:db8::1]", "[::ffff:10.0.0.1]:80"})
        EXPECT_TRUE(parse_authority(good, 80)) << good;
    for (const auto* bad :
         {"[www.example]", "[www.example]:80", "[10.0.0.1]", "[]", "[::1", "[::1]80", "[v1.a]"})
        EXPECT_FALSE(parse_authority(bad, 80)) << bad;
}

TEST(authority, has_no_characters_that_end_it_elsewhere) {
    for (const auto* good : {"a", "a.example.", "xn--a_b-c", "10.0.0.1:8080"})
        EXPECT_TRUE(parse_authority(good, 80)) << good;
    for (const auto* bad : {"a\"b", "a,b", "a;b", "a b", "a@b", "a<b", "a|b", "a{b}", "a^b", "a`b", "a%20b"})
        EXPECT_FALSE(parse_authority(bad, 80)) << bad;
}

}  // namespace
}  // namespace posy::http
