// Packets and imprints for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "posy/packet/imprint.hpp"

namespace posy::packets {

inline void put(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(value >> 8 * (size - 1 - i));
}

// An IPv4 packet without a link header, of a flow and with an identification, whose payload is numbered
// bytes.
inline std::vector<std::byte> ipv4_packet(std::uint32_t source, std::uint16_t identification,
                                          std::size_t payload = 20, unsigned option_words = 0) {
    const std::size_t header = 20 + 4 * std::size_t{option_words};
    std::vector<std::byte> packet(header + payload);
    put(packet, 0, 0x40 | (5 + option_words), 1);
    put(packet, 2, packet.size(), 2);
    put(packet, 4, identification, 2);
    put(packet, 8, 64, 1);
    put(packet, 9, 253, 1);  // a protocol for experiments
    put(packet, 12, source, 4);
    put(packet, 16, 0x0a000001, 4);
    for (std::size_t i = 0; i < payload; ++i) packet[header + i] = static_cast<std::byte>(i + 1);
    return packet;
}

inline std::vector<std::byte> ipv6_packet(std::uint64_t source, std::size_t payload = 20) {
    std::vector<std::byte> packet(40 + payload);
    put(packet, 0, 6u << 28 | 5u << 20 | 0x12345, 4);
    put(packet, 4, payload, 2);
    put(packet, 6, 253, 1);
    put(packet, 7, 64, 1);
    put(packet, 8, source, 8);
    put(packet, 24, 0x20010db800000000, 8);
    for (std::size_t i = 0; i < payload; ++i) packet[40 + i] = static_cast<std::byte>(i + 1);
    return packet;
}

inline imprint imprint_of(const std::vector<std::byte>& packet) {
    imprint made;
    EXPECT_EQ(imprint::of(packet, packet.size(), link_type::raw_ip, made), outcome::found);
    return made;
}

// The imprint of a packet that no other number has.
inline imprint numbered(std::uint64_t number) {
    return imprint_of(
        ipv4_packet(static_cast<std::uint32_t>(number >> 16), static_cast<std::uint16_t>(number)));
}

}  // namespace posy::packets
