#include "http/networks.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "http/crowd.hpp"
#include "http/destinations.hpp"

namespace posy::http {
namespace {

address at(const std::string& text) { return boost::asio::ip::make_address(text); }

networks list(std::initializer_list<std::string_view> texts) {
    networks all;
    for (const auto text : texts) {
        const auto some = parse_networks(text);
        EXPECT_TRUE(some) << text;
        all.insert(all.end(), some->begin(), some->end());
    }
    return all;
}

TEST(Networks, PrefixesOfAnyLength) {
    const auto bits_of = [](const address& a, unsigned i) {
        const auto b = a.to_v4().to_bytes();
        return b[i / 8] >> (7 - i % 8) & 1;
    };
    // Every length against the definition, bit by bit, on addresses that differ in one bit.
    for (unsigned length = 0; length <= 32; ++length) {
        const network n{at("172.21.137.201"), length};
        for (unsigned flipped = 0; flipped < 32; ++flipped) {
            auto bytes = n.at.to_v4().to_bytes();
            bytes[flipped / 8] ^= static_cast<unsigned char>(0x80 >> flipped % 8);
            const address other = boost::asio::ip::address_v4(bytes);
            bool same = true;
            for (unsigned i = 0; i < length; ++i) same = same && bits_of(n.at, i) == bits_of(other, i);
            EXPECT_EQ(n.contains(other), same) << length << " " << flipped;
        }
        EXPECT_TRUE(n.contains(n.at));
    }
    EXPECT_TRUE(parse_network("2001:db8:8000::/33")->contains(at("2001:db8:ffff::1")));
    EXPECT_FALSE(parse_network("2001:db8:8000::/33")->contains(at("2001:db8:7fff::1")));
    EXPECT_FALSE(parse_network("0.0.0.0/0")->contains(at("::1")));
}

TEST(Networks, WhatIsNotOne) {
    for (const auto* text :
         {"", "/", "/8", "10", "10.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x",
          "10.0.0.0/8/8", "::/129", "localhost", "Loopback", "global", "reserved", "10.0.0.0 /8"})
        EXPECT_FALSE(parse_networks(text)) << text;
}

// Each of the addresses, separated by spaces, leads to that kind of place.
void are(place kind, const std::string& texts) {
    std::istringstream words(texts);
    for (std::string text; words >> text;) EXPECT_EQ(name_of(place_of(at(text))), name_of(kind)) << text;
}

TEST(Networks, PlacesOfAddresses) {
    are(place::global,
        "8.8.8.8 1.1.1.1 126.255.255.255 128.0.0.1 9.255.255.255 11.0.0.0 172.15.255.255 "
        "172.32.0.0 192.167.255.255 192.169.0.0 100.63.255.255 100.128.0.0 "
        "169.253.255.255 169.255.0.0 223.255.255.255 2606:4700::1111 2a00::1 3ffe:ffff::");
    are(place::loopback, "127.0.0.0 127.255.255.255 0.0.0.0 :: ::1");
    are(place::intranet,
        "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.255.255 100.64.0.0 "
        "100.127.255.255 fc00:: fdff::1 fec0::1 64:ff9b:1::1");
    are(place::link_local, "169.254.169.254 fe80::1 febf::1");
    are(place::reserved,
        "0.0.0.1 224.0.0.1 239.1.2.3 240.0.0.1 255.255.255.255 192.0.2.1 198.19.255.255 "
        "ff02::1 2001:db8::1 2001::1 100::1 4000::1 5f00::1");
    EXPECT_EQ(place_of(at("fe80::1%1")), place::link_local);  // whatever its scope
}

// Forms of IPv4: mapped, translated, compatible, NAT64, 6to4.
TEST(Networks, PlacesAreSeenThroughTheirForms) {
    are(place::global, "::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1");
    are(place::loopback,
        "::ffff:127.0.0.1 ::ffff:0:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::1 "
        "::ffff:0.0.0.0");
    are(place::intranet, "::ffff:10.0.0.1 64:ff9b::a00:1 2002:c0a8:101::1");
    are(place::link_local, "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe");
    are(place::reserved, "2002:e000:1::");
}

TEST(Networks, WordsAreLists) {
    const auto loopback = list({"loopback"}), both = list({"private", "link-local"});
    for (const auto* text : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(comes_from(loopback, at(text))) << text;
        EXPECT_TRUE(leads_into(loopback, at(text))) << text;
        EXPECT_FALSE(leads_into(both, at(text))) << text;
    }
    for (const auto* text :
         {"10.1.2.3", "192.168.0.1", "fd00::1", "169.254.0.1", "fe80::1", "64:ff9b::a00:1"}) {
        EXPECT_TRUE(leads_into(both, at(text))) << text;
        EXPECT_FALSE(leads_into(loopback, at(text))) << text;
    }
    EXPECT_FALSE(leads_into({}, at("127.0.0.1")));
}

// The system connects these to the loopback.
TEST(Networks, TheUnspecifiedAddressLeadsToTheLoopback) {
    for (const auto* text : {"0.0.0.0", "::ffff:0.0.0.0", "64:ff9b::", "2002::1"}) {
        EXPECT_TRUE(leads_into(list({"127.0.0.0/8"}), at(text))) << text;
        EXPECT_TRUE(leads_into(list({"127.0.0.1"}), at(text))) << text;
        EXPECT_TRUE(leads_into(list({"0.0.0.0"}), at(text))) << text;
        EXPECT_FALSE(leads_into(list({"127.0.0.2", "::1", "10.0.0.0/8"}), at(text))) << text;
    }
    EXPECT_TRUE(leads_into(list({"::1"}), at("::")));
    EXPECT_FALSE(leads_into(list({"127.0.0.0/8"}), at("::")));
    EXPECT_FALSE(leads_into(list({"127.0.0.0/8"}), at("0.0.0.1")));
    EXPECT_FALSE(comes_from(list({"127.0.0.0/8", "::1"}), at("0.0.0.0")));
}

TEST(Networks, MappedOnesAreThoseOfIPv4) {
    for (const auto* text :
         {"::ffff:127.0.0.1", "::ffff:127.0.0.0/104", "::ffff:7f00:1/128", "::ffff:0:0/96"})
        for (const auto* who : {"127.0.0.1", "::ffff:127.0.0.1"}) {
            EXPECT_TRUE(comes_from(list({text}), at(who))) << text << " " << who;
            EXPECT_TRUE(leads_into(list({text}), at(who))) << text << " " << who;
        }
    EXPECT_EQ(parse_network("::ffff:127.0.0.0/104")->bits, 8U);
    EXPECT_FALSE(comes_from(list({"::ffff:127.0.0.0/104"}), at("128.0.0.1")));
    EXPECT_FALSE(leads_into(list({"::ffff:127.0.0.1"}), at("127.0.0.2")));
    // A shorter prefix has more in it than IPv4.
    EXPECT_TRUE(parse_network("::ffff:0:0/95")->at.is_v6());
    EXPECT_TRUE(leads_into(list({"::ffff:0:0/95"}), at("::fffe:0:1")));
}

TEST(Networks, WhoConnectsIsTheAddressItself) {
    const auto trusted = list({"loopback", "private", "link-local"});
    for (const auto* text :
         {"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "::ffff:10.0.0.1", "fd00::1"})
        EXPECT_TRUE(comes_from(trusted, at(text))) << text;
    // Networks of strangers that look like ours inside.
    for (const auto* text : {"2002:7f00:1::5", "2002:a00:1::5", "64:ff9b::7f00:1", "64:ff9b::a00:1",
                             "::127.0.0.1", "::10.0.0.1", "::ffff:0:127.0.0.1", "2002:a9fe:1::1"}) {
        EXPECT_FALSE(comes_from(trusted, at(text))) << text;
        EXPECT_TRUE(leads_into(trusted, at(text))) << text;
    }
    EXPECT_TRUE(comes_from(list({"2002:7f00:1::/48"}), at("2002:7f00:1::5")));
}

TEST(Destinations, ThisMachineIsClosedByAnyOfItsAddresses) {
    const destinations none({}), intranet(list({"private"})),
        everything(list({"loopback", "0.0.0.0/0", "::/0"}));
    EXPECT_EQ(none.refuses(at("8.8.8.8")), "");
    EXPECT_EQ(none.refuses(at("2606:4700::1111")), "");
    EXPECT_EQ(intranet.refuses(at("10.254.253.252")), "");
    EXPECT_NE(none.refuses(at("10.254.253.252")), "");
    const auto own = own_addresses();
    ASSERT_FALSE(own.empty());
    for (const auto& each : own) {
        EXPECT_NE(none.refuses(each), "") << each;
        EXPECT_NE(intranet.refuses(each), "") << each;
        EXPECT_EQ(everything.refuses(each), "") << each;
        if (!each.is_v4()) continue;
        const auto mapped = boost::asio::ip::make_address_v6(boost::asio::ip::v4_mapped, each.to_v4());
        EXPECT_NE(intranet.refuses(mapped), "") << mapped;
    }
}

TEST(Crowd, CountsPartiesAndForgetsThem) {
    crowd some(2);
    EXPECT_TRUE(some.enter(at("10.0.0.1")));
    EXPECT_TRUE(some.enter(at("::ffff:10.0.0.1")));
    EXPECT_FALSE(some.enter(at("10.0.0.1")));
    EXPECT_TRUE(some.enter(at("10.0.0.2")));
    some.leave(at("10.0.0.1"));
    EXPECT_TRUE(some.enter(at("10.0.0.1")));
    // A host has all of its /64.
    EXPECT_TRUE(some.enter(at("2001:db8::1")));
    EXPECT_TRUE(some.enter(at("2001:db8::2")));
    EXPECT_FALSE(some.enter(at("2001:db8::ffff:ffff:ffff:ffff")));
    EXPECT_TRUE(some.enter(at("2001:db8:0:1::1")));
    crowd any(0);
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(any.enter(at("10.0.0.1")));
}

}  // namespace
}  // namespace posy::http
