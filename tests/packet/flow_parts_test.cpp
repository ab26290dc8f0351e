#include "posy/packet/flow_parts.hpp"

#include <gtest/gtest.h>

#include "posy/packet/headers.hpp"

#include "frames.hpp"

namespace posy::packets {
namespace {

using texts = std::vector<std::string>;

flow_key key_of(const bytes& packet) { return headers_of(packet, packet.size(), link_type::raw_ip).key; }
texts seen(std::string_view by, const flow_key& key) {
    const auto parts = *flow_parts::parse(by);
    return parts.texts(parts.of(key));
}

const flow_key four = key_of(ipv4({.source = 130, .destination = 9}, udp(1000, 53)));
const flow_key six = key_of(ipv6(6, tcp(40'000, 443), 0xff, 2));

TEST(flow_parts, any_part_in_any_order) {
    EXPECT_EQ(seen("flow", four), (texts{"192.0.2.130", "192.0.2.9", "1000", "53", "udp"}));
    EXPECT_EQ(seen("flow", six), (texts{"2001:db8::ff", "2001:db8::2", "40000", "443", "tcp"}));
    EXPECT_EQ(seen("dport,src", four), (texts{"53", "192.0.2.130"}));
    EXPECT_EQ(seen("proto", six), (texts{"tcp"}));
}

TEST(flow_parts, prefixes) {
    EXPECT_EQ(seen("src/25,dst/8", four), (texts{"192.0.2.128/25", "192.0.0.0/8"}));
    EXPECT_EQ(seen("src/0", four), (texts{"0.0.0.0/0"}));
    EXPECT_EQ(seen("src/32", four), (texts{"192.0.2.130"}));
    EXPECT_EQ(seen("src/16", six), (texts{"2001:db8::/32"}));
    EXPECT_EQ(seen("src/24/127", six), (texts{"2001:db8::fe/127"}));
    EXPECT_EQ(seen("src/24/127", four), (texts{"192.0.2.0/24"}));
}

// Equal parts are equal keys, whatever else differs; and a port is one port in both versions of IP.
TEST(flow_parts, what_was_not_asked_for_does_not_count) {
    const auto source = *flow_parts::parse("src");
    EXPECT_EQ(source.of(four), source.of(key_of(ipv4({.protocol = 6, .source = 130}, tcp(7, 8)))));
    const auto port = *flow_parts::parse("dport");
    EXPECT_EQ(port.of(key_of(ipv6(17, udp(1, 53)))), port.of(four));
    EXPECT_NE(source.of(four), source.of(six));
}

TEST(flow_parts, what_makes_no_sense_is_refused) {
    for (const char* text : {"", ",", "src,", "host", "src/33", "src/24/129", "src/x", "src/24/", "src/-1",
                             "src,src/24", "sport/8", "src/", "src,,dst"})
        EXPECT_FALSE(flow_parts::parse(text).ok()) << text;
}

}  // namespace
}  // namespace posy::packets
