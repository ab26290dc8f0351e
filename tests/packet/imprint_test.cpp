#include "posy/packet/imprint.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "hex.hpp"
#include "imprints.hpp"
#include "statistics.hpp"

namespace posy::packets {
namespace {

outcome outcome_of(const std::vector<std::byte>& captured, std::uint64_t original) {
    imprint made;
    return imprint::of(captured, original, link_type::raw_ip, made);
}

TEST(imprint, has_these_bytes) {
    EXPECT_EQ(hex(imprint_of(ipv4_packet(0xc0000201, 7)).bytes()),
              "04"
              "0028"
              "0007"
              "0000"
              "fd"
              "c0000201"
              "0a000001"
              "0102030405060708");
    EXPECT_EQ(hex(imprint_of(ipv6_packet(0xfe80)).bytes()),
              "06"
              "012345"
              "0014"
              "fd"
              "000000000000fe800000000000000000"
              "20010db8000000000000000000000000"
              "0102030405060708");
}

// Which bytes of a packet matter, found by changing each of them.
std::set<std::size_t> bytes_that_matter(const std::vector<std::byte>& packet) {
    std::set<std::size_t> matter;
    const imprint before = imprint_of(packet);
    for (std::size_t i = 0; i < packet.size(); ++i) {
        auto changed = packet;
        changed[i] ^= std::byte{1};
        imprint after;
        if (imprint::of(changed, changed.size(), link_type::raw_ip, after) != outcome::found ||
            after != before)
            matter.insert(i);
    }
    return matter;
}

std::set<std::size_t> ranges(std::initializer_list<std::pair<std::size_t, std::size_t>> all) {
    std::set<std::size_t> numbers;
    for (const auto& [from, to] : all)
        for (std::size_t i = from; i <= to; ++i) numbers.insert(i);
    return numbers;
}

TEST(imprint, ignores_what_routers_change_and_nothing_else) {
    // Without TOS (1), TTL (8), checksum (10, 11); with the length of the header (0), which says where the
    // payload is.
    EXPECT_EQ(bytes_that_matter(ipv4_packet(1, 2)), ranges({{0, 0}, {2, 7}, {9, 9}, {12, 27}}));
    // Options are 20 … 27.
    EXPECT_EQ(bytes_that_matter(ipv4_packet(1, 2, 20, 2)),
              ranges({{0, 0}, {2, 7}, {9, 9}, {12, 19}, {28, 35}}));
    // The traffic class is the low half of byte 0 and the high half of 1; here the low bit of each is
    // changed.
    EXPECT_EQ(bytes_that_matter(ipv6_packet(1)), ranges({{1, 6}, {8, 47}}));
}

TEST(imprint, ignores_the_high_half_of_the_traffic_class_too) {
    auto packet = ipv6_packet(1);
    const imprint before = imprint_of(packet);
    packet[0] ^= std::byte{0x0f};
    packet[1] ^= std::byte{0xf0};
    EXPECT_EQ(imprint_of(packet), before);
}

TEST(imprint, skips_hop_by_hop_options) {
    auto packet = ipv6_packet(1, 40);
    put(packet, 6, 0, 1);
    put(packet, 40, 0xfd01, 2);  // 16 bytes of options
    const imprint before = imprint_of(packet);
    put(packet, 44, 0xffff, 2);  // a router changed one
    EXPECT_EQ(imprint_of(packet), before);
    put(packet, 56, 0xffff, 2);
    EXPECT_NE(imprint_of(packet), before);
    put(packet, 41, 4, 1);  // exactly all that is there
    EXPECT_EQ(imprint_of(packet).bytes().size(), 39u);
    put(packet, 41, 5, 1);
    EXPECT_EQ(outcome_of(packet, packet.size()), outcome::malformed);
}

TEST(imprint, takes_a_short_payload_whole) {
    for (std::size_t payload = 0; payload <= 8; ++payload) {
        EXPECT_EQ(imprint_of(ipv4_packet(1, 2, payload)).bytes().size(), 16 + payload);
        EXPECT_EQ(imprint_of(ipv6_packet(1, std::max<std::size_t>(payload, 1))).bytes().size(),
                  39 + std::max<std::size_t>(payload, 1));
    }
    // The padding of a short Ethernet frame is no payload.
    auto packet = ipv4_packet(1, 2, 3);
    const imprint before = imprint_of(packet);
    packet.resize(46, std::byte{0xaa});
    EXPECT_EQ(imprint_of(packet), before);
}

TEST(imprint, is_not_made_of_a_packet_that_was_cut_short) {
    for (const auto& whole : {ipv4_packet(1, 2), ipv4_packet(1, 2, 20, 3), ipv6_packet(1)}) {
        const std::size_t needed = whole[0] == std::byte{0x45} ? 28 : whole[0] == std::byte{0x48} ? 40 : 48;
        at_least lengths(whole.size());
        for (std::size_t kept = 0; kept <= whole.size(); ++kept, ++lengths) {
            const std::vector<std::byte> captured(whole.begin(),
                                                  whole.begin() + static_cast<std::ptrdiff_t>(kept));
            EXPECT_EQ(outcome_of(captured, whole.size()), kept < needed ? outcome::cut_short : outcome::found)
                << kept << " bytes of " << whole.size();
            // On the wire it was no longer than this.
            EXPECT_EQ(outcome_of(captured, kept), kept < whole.size() ? outcome::malformed : outcome::found);
        }
    }
}

TEST(imprint, does_not_mind_what_is_wrong_above_ip) {
    auto packet = ipv4_packet(1, 2, 6);
    put(packet, 9, 17, 1);  // UDP, with 6 bytes of its 8
    imprint_of(packet);
    put(packet, 9, 6, 1);
    imprint_of(packet);
}

TEST(imprint, survives_any_bytes) {
    std::mt19937_64 random(1);
    at_least made(1000);
    for (int i = 0; i < 200'000; ++i) {
        auto packet =
            i % 2 == 0 ? ipv4_packet(1, 2, random() % 30, random() % 4) : ipv6_packet(1, random() % 60);
        for (int changes = static_cast<int>(random() % 4); changes > 0; --changes)
            packet[random() % packet.size()] = static_cast<std::byte>(random());
        const std::uint64_t original = random() % 3 == 0 ? packet.size() : random() % 200;
        packet.resize(random() % (packet.size() + 1));
        imprint into;
        if (imprint::of(packet, original, link_type::raw_ip, into) == outcome::found) {
            ++made;
            ASSERT_LE(into.bytes().size(), imprint::max_size);
        }
    }
}

}  // namespace
}  // namespace posy::packets
