#include "posy/packet/headers.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "frames.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

headers read(const bytes& frame, link_type link = link_type::ethernet, tunnels which = tunnels::innermost) {
    return headers_of(frame, frame.size(), link, which);
}

// "17 192.0.2.1:1000 > 192.0.2.2:53", or the outcome.
std::string text(const headers& h) {
    if (h.outcome != outcome::found) return std::string(name_of(h.outcome));
    const auto end = [&](std::size_t address, std::size_t port) {
        return address_text(h.key, address) + (h.has_ports ? ":" + std::to_string(h.key.pair(port)) : "");
    };
    return std::to_string(h.protocol) + " " + end(flow_key::source, flow_key::source_port) + " > " +
           end(flow_key::destination, flow_key::destination_port);
}

const bytes small = ipv4({}, udp(1000, 53));
const bytes small6 = ipv6(6, tcp(1000, 80));
const std::string small_text = "17 192.0.2.1:1000 > 192.0.2.2:53";
const std::string small6_text = "6 2001:db8::1:1000 > 2001:db8::2:80";

TEST(headers, links) {
    EXPECT_EQ(text(read(ethernet(0x0800, small))), small_text);
    EXPECT_EQ(text(read(ethernet(0x86dd, small6))), small6_text);
    EXPECT_EQ(text(read(small, link_type::raw_ip)), small_text);
    EXPECT_EQ(text(read(small6, link_type::raw_ip)), small6_text);
    EXPECT_EQ(text(read(of({2, 0, 0, 0}) + small, link_type::null_loopback)), small_text);
    EXPECT_EQ(text(read(of({0, 0, 0, 2}) + small, link_type::null_loopback)), small_text);
    EXPECT_EQ(text(read(of({30, 0, 0, 0}) + small6, link_type::null_loopback)), small6_text);
    EXPECT_EQ(text(read(zeros(14) + pair_of(0x0800) + small, link_type::linux_cooked)), small_text);
    EXPECT_EQ(text(read(pair_of(0x86dd) + zeros(18) + small6, link_type::linux_cooked_2)), small6_text);
    EXPECT_EQ(text(read(ethernet(0x0806, zeros(28)))), "not IP");
    EXPECT_EQ(link_type_of(1), link_type::ethernet);
    EXPECT_EQ(link_type_of(0x14000001), link_type::ethernet);
    EXPECT_EQ(link_type_of(105), std::nullopt);  // 802.11
}

TEST(headers, offsets_and_lengths) {
    const auto h =
        read(ethernet(0x0800, ipv4({.protocol = 6, .options = 3}, tcp(1, 2, zeros(100), 5))) + zeros(4));
    EXPECT_EQ(h.network, 14U);
    EXPECT_EQ(h.transport, 14U + 32);
    EXPECT_EQ(h.payload, 14U + 32 + 40);
    EXPECT_EQ(h.ip_bytes, 32U + 40 + 100);  // not what follows the packet
    const auto h6 = read(small6, link_type::raw_ip);
    EXPECT_EQ(h6.ip_bytes, 40U + 20 + 10);
    EXPECT_EQ(h6.payload, 60U);
}

TEST(headers, tags_and_labels) {
    const auto tagged = [](unsigned outer) {
        return ethernet(outer, of({0, 7}) + pair_of(0x8100) + of({0, 9}) + pair_of(0x0800) + small);
    };
    EXPECT_EQ(text(read(tagged(0x88a8))), small_text);
    EXPECT_EQ(text(read(tagged(0x9100))), small_text);
    EXPECT_EQ(text(read(ethernet(0x8847, of({0, 1, 0, 64, 0, 2, 1, 64}) + small6))), small6_text);
    const bytes bridged = of({0, 2, 1, 64}) + zeros(4) + ethernet(0x0800, small);  // a pseudowire
    EXPECT_EQ(text(read(ethernet(0x8847, bridged))), small_text);
    EXPECT_EQ(text(read(ethernet(0x8864, of({0x11, 0, 0, 1, 0, 60, 0, 0x21}) + small))), small_text);
    bytes endless = ethernet(0x8100, {});
    for (int i = 0; i < 20; ++i) endless = endless + of({0, 1, 0x81, 0});
    EXPECT_EQ(text(read(endless)), "too deep");
}

TEST(headers, fragments) {
    const auto first = read(ipv4({.fragment = 0x2000}, udp(1, 2)), link_type::raw_ip);
    EXPECT_TRUE(first.fragment && first.has_ports);
    const auto later = read(ipv4({.fragment = 0x2000 + 185}, zeros(100)), link_type::raw_ip);
    EXPECT_EQ(later.fragment_offset, 1480);
    EXPECT_EQ(text(later), "17 192.0.2.1 > 192.0.2.2");
    const auto later6 = read(ipv6(44, of({17, 0, 0x05, 0xc9, 0, 0, 0, 1}) + zeros(8)), link_type::raw_ip);
    EXPECT_EQ(text(later6), "17 2001:db8::1 > 2001:db8::2");
    EXPECT_EQ(later6.fragment_offset, 1480);
    EXPECT_FALSE(
        read(ipv4({.fragment = 0x4000}, udp(1, 2)), link_type::raw_ip).fragment);  // "do not fragment"
}

TEST(headers, extension_headers) {
    const bytes options = of({60, 0}) + zeros(6), more = of({51, 1}) + zeros(14);
    const bytes authenticated = of({17, 4}) + zeros(22);
    const auto h = read(ipv6(0, options + more + authenticated + udp(7, 8)), link_type::raw_ip);
    EXPECT_EQ(text(h), "17 2001:db8::1:7 > 2001:db8::2:8");
    EXPECT_EQ(h.transport, 40U + 8 + 16 + 24);
    EXPECT_EQ(text(read(ipv6(59, zeros(4)), link_type::raw_ip)), "59 2001:db8::1 > 2001:db8::2");
    bytes endless;
    for (int i = 0; i < 40; ++i) endless = endless + zeros(8);
    EXPECT_EQ(text(read(ipv6(0, endless), link_type::raw_ip)), "too deep");
    EXPECT_EQ(text(read(ipv6(0, of({17, 200}) + zeros(6)), link_type::raw_ip)), "malformed");
}

TEST(headers, tunnels) {
    const bytes vxlan = of({8, 0, 0, 0, 0, 0, 1, 0}), geneve = of({1, 0, 0x65, 0x58, 0, 0, 1, 0}) + zeros(4);
    const struct {
        bytes packet;
        std::string inner;
        unsigned port;  // of the outer one, where it has ports
    } cases[] = {
        {ipv4({.protocol = 4}, small), small_text, 0},
        {ipv4({.protocol = 41}, small6), small6_text, 0},
        {ipv6(4, small), small_text, 0},
        {ipv4({.protocol = 47}, of({0, 0, 8, 0}) + small), small_text, 0},
        {ipv4({.protocol = 47}, of({0xb0, 0, 0x86, 0xdd}) + zeros(12) + small6), small6_text, 0},
        {ipv4({.protocol = 47}, of({0, 0, 0x65, 0x58}) + ethernet(0x0800, small)), small_text, 0},
        {ipv4({.protocol = 97}, of({0x30, 0}) + ethernet(0x0800, small)), small_text, 0},
        {ipv4({.protocol = 137}, of({0, 2, 1, 64}) + small6), small6_text, 0},
        {ipv4({}, udp(5, 4789, vxlan + ethernet(0x0800, small))), small_text, 4789},
        {ipv4({}, udp(5, 6081, geneve + ethernet(0x86dd, small6))), small6_text, 6081},
    };
    for (const auto& each : cases) {
        const auto inner = read(each.packet, link_type::raw_ip);
        EXPECT_EQ(text(inner), each.inner);
        EXPECT_EQ(inner.depth, 1);
        const auto outer = read(each.packet, link_type::raw_ip, tunnels::outermost);
        EXPECT_EQ(outer.outcome, outcome::found);
        EXPECT_EQ(outer.depth, 0);
        EXPECT_EQ(outer.ip_bytes, each.packet.size());
        EXPECT_EQ(outer.key.pair(flow_key::destination_port), each.port);
    }
}

TEST(headers, what_only_looks_like_a_tunnel) {
    EXPECT_EQ(text(read(ipv4({}, udp(5, 4789, of({8}) + zeros(40))), link_type::raw_ip)),
              "17 192.0.2.1:5 > 192.0.2.2:4789");
    EXPECT_EQ(text(read(ipv4({}, udp(5, 6081, zeros(3))), link_type::raw_ip)),
              "17 192.0.2.1:5 > 192.0.2.2:6081");
    // PPTP, and ARP in GRE.
    EXPECT_EQ(text(read(ipv4({.protocol = 47}, of({0x20, 1, 0x88, 0x0b}) + zeros(8)), link_type::raw_ip)),
              "47 192.0.2.1 > 192.0.2.2");
    EXPECT_EQ(text(read(ipv4({.protocol = 47}, of({0, 0, 8, 6}) + zeros(28)), link_type::raw_ip)),
              "47 192.0.2.1 > 192.0.2.2");
    bytes nested = small;
    for (int i = 0; i < 20; ++i) nested = ipv4({.protocol = 4}, nested);
    EXPECT_EQ(text(read(nested, link_type::raw_ip)), "too deep");
}

TEST(headers, a_short_capture_is_not_a_short_packet) {
    const bytes whole = ethernet(0x0800, ipv4({.protocol = 6}, tcp(1000, 80)));
    for (std::size_t captured = 0; captured < whole.size(); ++captured) {
        const bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(captured));
        const auto snapped = headers_of(part, whole.size(), link_type::ethernet);
        // 14 + 20 bytes and the ports.
        EXPECT_EQ(snapped.outcome, captured < 38 ? outcome::cut_short : outcome::found) << captured;
        EXPECT_EQ(snapped.version, captured < 34 ? 0 : 4) << captured;
        EXPECT_EQ(snapped.payload, captured < 54 ? 0 : 54) << captured;
        // The same bytes as all that was on the wire: the IP header promises more.
        EXPECT_EQ(headers_of(part, captured, link_type::ethernet).outcome, outcome::malformed) << captured;
    }
    // Its addresses are known even where its ports are not.
    const auto snapped = headers_of(byte_view(whole).first(36), whole.size(), link_type::ethernet);
    EXPECT_EQ(address_text(snapped.key, flow_key::source), "192.0.2.1");
    EXPECT_EQ(snapped.ip_bytes, whole.size() - 14);
}

TEST(headers, impossible_lengths) {
    bytes frame = small;
    frame[0] = std::byte{0x44};
    EXPECT_EQ(text(read(frame, link_type::raw_ip)), "malformed");
    frame[0] = std::byte{0x55};
    EXPECT_EQ(text(read(frame, link_type::raw_ip)), "malformed");
    frame = small;
    frame[3] = std::byte{19};
    EXPECT_EQ(text(read(frame, link_type::raw_ip)), "malformed");
    frame[3] = std::byte{0};  // left to the network card
    EXPECT_EQ(text(read(frame, link_type::raw_ip)), small_text);
    EXPECT_EQ(read(frame, link_type::raw_ip).ip_bytes, small.size());
    EXPECT_EQ(text(read(ipv4({.protocol = 6}, tcp(1, 2, {}, 0) + zeros(0)), link_type::raw_ip)),
              "6 192.0.2.1:1 > 192.0.2.2:2");
    bytes short_tcp = ipv4({.protocol = 6}, tcp(1, 2));
    short_tcp[20 + 12] = std::byte{0x40};
    EXPECT_EQ(text(read(short_tcp, link_type::raw_ip)), "malformed");
    EXPECT_EQ(text(read(zeros(40), link_type::raw_ip)), "malformed");
}

// Whatever the bytes: offsets in order and inside the frame, and what cannot be read is not reported.
TEST(headers, random_damage_stays_inside_the_frame) {
    const bytes seeds[] = {
        ethernet(0x88a8, of({0, 7}) + pair_of(0x8100) + of({0, 9}) + pair_of(0x0800) + small),
        ethernet(0x86dd,
                 ipv6(0, of({44, 0}) + zeros(6) + of({6, 0, 0, 0, 0, 0, 0, 1}) + tcp(1, 2, zeros(30), 3))),
        ethernet(0x0800, ipv4({}, udp(5, 4789, of({8, 0, 0, 0, 0, 0, 1, 0}) + ethernet(0x0800, small)))),
        ethernet(0x0800, ipv4({.protocol = 47}, of({0xb0, 0, 0x86, 0xdd}) + zeros(12) + small6)),
    };
    std::mt19937_64 random(7);
    at_least checked(30'000, "frames with an IP header");
    for (int i = 0; i < 100'000; ++i) {
        bytes frame = seeds[random() % 4];
        for (auto changes = random() % 4; changes > 0; --changes)
            frame[random() % frame.size()] = static_cast<std::byte>(random());
        const std::size_t length = frame.size();
        if (random() % 2) frame.resize(random() % (length + 1));
        const auto link = random() % 4 ? link_type::ethernet : static_cast<link_type>(random() % 5);
        const auto h = headers_of(frame, length, link);
        if (h.version == 0) continue;
        ++checked;
        ASSERT_LE(h.network + (h.version == 4 ? 20U : 40U), frame.size());
        ASSERT_LE(h.payload, frame.size());
        if (h.outcome != outcome::found) continue;
        ASSERT_LE(h.network + h.ip_bytes, length);
        ASSERT_GT(h.transport, h.network);
        ASSERT_TRUE(h.payload == 0 || h.payload > h.transport);
        ASSERT_TRUE(!h.has_ports || h.transport + 4 <= frame.size());
    }
}

}  // namespace
}  // namespace posy::packets
