// The headers of one captured frame: which addresses, protocol and ports, and where the parts begin.
//
// A walk from the link layer inwards, through VLAN tags, MPLS labels, PPPoE, IPv4 options, IPv6 extension
// headers and, if asked, tunnels (GRE, IP in IP, 6in4, EtherIP, VXLAN, GENEVE). No length in the frame is
// trusted: a read is inside both the captured bytes and the layer around it, and the numbers of tags,
// extension headers and tunnels are limited. Every frame has an outcome, and whoever counts packets counts
// outcomes too.
//
// Two lengths matter. A capture may keep only the first bytes of a frame (its snap length): what lies beyond
// is `cut_short`, a fault of the capture. What lies beyond the frame on the wire is `malformed`, a fault of
// the packet.
//
// Cost: 10 to 30 ns per frame; no memory is taken. Thread safety: a function of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "posy/bytes.hpp"
#include "posy/packet/flow_key.hpp"

namespace posy::packets {

enum class link_type : std::uint8_t {
    ethernet,
    raw_ip,
    null_loopback,  // four bytes of address family before the packet, in either byte order
    linux_cooked,   // what Linux captures on "any"
    linux_cooked_2,
};
// By its number in capture files (LINKTYPE_…); nothing if headers_of() cannot read it.
std::optional<link_type> link_type_of(std::uint32_t number);

enum class outcome : std::uint8_t {
    found,
    not_ip,     // ARP, LLDP …
    cut_short,  // the capture ends before the headers do
    malformed,  // a length that cannot be, or a header that ends beyond its packet
    too_deep,   // more tags, extension headers or tunnels than anyone sends
};
constexpr std::string_view name_of(outcome member) {
    switch (member) {
        case outcome::found:
            return "found";
        case outcome::not_ip:
            return "not IP";
        case outcome::cut_short:
            return "cut short";
        case outcome::malformed:
            return "malformed";
        case outcome::too_deep:
            return "too deep";
    }
    return {};
}

// Which packet, where one carries another.
enum class tunnels : std::uint8_t { outermost, innermost };

struct headers {
    posy::packets::outcome outcome = outcome::not_ip;
    // 4 or 6; 0: no IP header was found, and the fields below mean nothing. With another outcome than `found`
    // the addresses are right, and what follows them may be missing.
    std::uint8_t version = 0;
    std::uint8_t protocol = 0;  // behind the extension headers
    bool has_ports = false;     // false: another protocol, or a later fragment
    bool fragment = false;      // a part of a packet, the first one or a later one
    std::uint8_t depth = 0;     // tunnels that were unwrapped
    // Offsets in the frame.
    std::uint32_t network = 0;    // the IP header
    std::uint32_t transport = 0;  // what follows it and its options and extension headers
    // What follows the header of TCP, UDP, SCTP, DCCP or ICMP; 0 if that was not captured whole, or if there
    // is none.
    std::uint32_t payload = 0;
    std::uint32_t ip_bytes = 0;         // the whole IP packet, captured or not
    std::uint16_t fragment_offset = 0;  // in bytes
    flow_key key{};                     // the 5-tuple
};

// `frame` is what was captured of `original_length` bytes.
headers headers_of(byte_view frame, std::uint64_t original_length, link_type link,
                   tunnels which = tunnels::innermost);

}  // namespace posy::packets
