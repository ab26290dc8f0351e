// What stays the same of an IP packet from router to router, in a few bytes (SPIE: Snoeren et al. 2001).
//
//   IPv4   4, total length, identification, flags and fragment offset, protocol, addresses    16 bytes
//   IPv6   6, flow label, payload length, next header, addresses                              39 bytes
//   both   the first 8 bytes behind the header, or all if there are fewer
//
// Left out is what routers change: TOS or traffic class, TTL or hop limit, the checksum, IPv4 options and the
// hop-by-hop options of IPv6. All that is in it is as on the wire. In a tunnel it is the packet that carries
// the other, because that is the one routed. Address translation, fragmentation and tunnels make new packets.
//
// Every router must make the same imprint of a packet, so one that cannot be made whole is not made: a
// capture has to keep 8 bytes behind the IP header. With Ethernet and no options that is a snap length of 42
// for IPv4 and 62 for IPv6; 128 is enough for most.
//
// Thread safety: a function of its arguments.
#pragma once

#include <array>
#include <cstdint>

#include "posy/bytes.hpp"
#include "posy/packet/headers.hpp"

namespace posy::packets {

class imprint {
  public:
    static constexpr std::size_t max_size = 47, payload_bytes = 8;

    byte_view bytes() const { return byte_view(bytes_).first(size_); }
    friend bool operator==(const imprint&, const imprint&) = default;

    // `frame` is what was captured of `original_length` bytes. Only with the outcome `found` is there an
    // imprint in `into`; headers behind the 8 bytes do not matter for it.
    static outcome of(byte_view frame, std::uint64_t original_length, link_type, imprint& into);

  private:
    void append(byte_view more);

    std::array<std::byte, max_size> bytes_{};
    std::uint8_t size_ = 0;
};

}  // namespace posy::packets
