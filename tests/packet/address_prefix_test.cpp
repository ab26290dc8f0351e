#include "posy/packet/address_prefix.hpp"

#include <gtest/gtest.h>

namespace posy::packets {
namespace {

TEST(address_prefix, addresses_of_one_network_are_one_key) {
    const auto both = *address_prefix::parse("24/56");
    EXPECT_EQ(both.of("192.0.2.77"), "192.0.2.0/24");
    EXPECT_EQ(both.of("192.0.2.1"), "192.0.2.0/24");
    EXPECT_EQ(both.of("192.0.3.1"), "192.0.3.0/24");
    EXPECT_EQ(both.of("2001:db8:0:1234::1"), "2001:db8:0:1200::/56");
    EXPECT_EQ(both.of("2001:DB8:0000:12ff:0::0"), "2001:db8:0:1200::/56");
    EXPECT_EQ(both.of("192.0.2.0/24"), "192.0.2.0/24");
    const auto one = *address_prefix::parse("20");
    EXPECT_EQ(one.of("192.0.31.1"), "192.0.16.0/20");
    EXPECT_EQ(one.of("2001:db8:ffff::1"), "2001:db8:ff00::/40");
    EXPECT_EQ(address_prefix::parse("32/128")->of("192.0.2.77"), "192.0.2.77");
    EXPECT_EQ(address_prefix::parse("0")->of("192.0.2.77"), "0.0.0.0/0");
}

TEST(address_prefix, an_address_of_ipv4_in_ipv6_is_that_of_ipv4) {
    const auto both = *address_prefix::parse("24/56");
    EXPECT_EQ(both.of("::ffff:10.0.0.3"), "10.0.0.0/24");
    EXPECT_EQ(both.of("::FFFF:a00:3"), "10.0.0.0/24");
    EXPECT_EQ(both.of("::fffe:10.0.0.3"), "::/56");
    EXPECT_EQ(both.of("1::ffff:10.0.0.3"), "1::/56");
}

TEST(address_prefix, what_is_no_address) {
    const auto prefix = *address_prefix::parse("24/56");
    for (const std::string text : {"", "192.0.2", "192.0.2.256", "host.example", "2001:db8", "192.0.2.1 ",
                                   "192.0.2.1/24", "192.0.2.0/25", "192.0.2.0/"})
        EXPECT_EQ(prefix.of(text), std::nullopt) << text;
    EXPECT_EQ(prefix.of(std::string_view("192.0.2.1\0x", 11)), std::nullopt);
}

TEST(address_prefix, lengths_that_are_none) {
    for (const char* lengths : {"", "33", "24/129", "-1", "24/", "/56", "24/56/1", "x", "24,dst", "24,dst/8"})
        EXPECT_FALSE(address_prefix::parse(lengths)) << lengths;
}

}  // namespace
}  // namespace posy::packets
