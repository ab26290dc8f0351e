// What a flow is named by: the 5-tuple of a packet in one canonical form of 40 bytes, or those parts of it
// that a question is about.
//
//   0 source address   16 destination address   32 source port   34 destination port   36 protocol   37
//   version
//
// Numbers are big-endian, as in packets. An IPv4 address takes the first 4 of its 16 bytes. What is absent,
// or not asked for, is zero, and so are the last two bytes: equal keys have equal bytes. A part is masked by
// five ANDs of words, whichever parts and prefixes were asked for.
//
// Thread safety: values.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "posy/bytes.hpp"
#include "posy/result.hpp"

namespace posy::packets {

struct flow_key {
    static constexpr std::size_t size = 40;
    static constexpr std::size_t source = 0, destination = 16, source_port = 32, destination_port = 34,
                                 protocol = 36, version = 37;  // where they are

    std::array<std::uint64_t, size / 8> words{};

    std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
    const std::byte* data() const { return reinterpret_cast<const std::byte*>(words.data()); }
    byte_view bytes() const { return {data(), size}; }
    std::uint8_t byte(std::size_t at) const { return std::to_integer<std::uint8_t>(data()[at]); }
    // The number in two bytes: a port.
    std::uint16_t pair(std::size_t at) const {
        return static_cast<std::uint16_t>(byte(at) << 8 | byte(at + 1));
    }
    friend bool operator==(const flow_key&, const flow_key&) = default;
};

// "192.0.2.1", "2001:db8::1": the address at `at`, source or destination.
std::string address_text(const flow_key&, std::size_t at);
// Of an IP protocol: "tcp", "udp"; its number where there is no common name.
std::string protocol_text(std::uint8_t protocol);

}  // namespace posy::packets
