// Packets in packets.
#include "walk.hpp"

namespace posy::packets {

namespace {
constexpr unsigned ip_in_ip = 4, ipv6_in_ip = 41, gre_protocol = 47, ether_ip = 97, mpls_in_ip = 137;
constexpr unsigned vxlan_port = 4789, old_vxlan_port = 8472, geneve_port = 6081;
}  // namespace

// Walks on into what the packet carries. If no IP packet is in there, the outer one is what was found; a
// failure on the way stays one.
template <class Next>
void walk::inside(Next next) {
    if (found_.depth == most_tunnels) {
        found_.outcome = outcome::too_deep;
        return;
    }
    headers outer = std::exchange(found_, {});
    found_.depth = static_cast<std::uint8_t>(outer.depth + 1);
    next();
    if (found_.version != 0) return;
    if (found_.outcome != outcome::not_ip) outer.outcome = found_.outcome;
    found_ = outer;
}

void walk::tunnel(unsigned protocol, std::uint64_t at) {
    switch (protocol) {
        case ip_in_ip:
            return inside([&] { ipv4(at); });
        case ipv6_in_ip:
            return inside([&] { ipv6(at); });
        case gre_protocol:
            return inside([&] { gre(at); });
        case ether_ip:
            return inside([&] { ethernet(at + 2); });
        case mpls_in_ip:
            return inside([&] { labels(at); });
        default:
            return;  // carries no packet that we can read
    }
}

// Checksum, key and sequence number are each there if their flag says so. Source routes (flag 0x4000) and
// version 1, which carries PPP, are not followed.
void walk::gre(std::uint64_t at) {
    if (!need(at, 4)) return;
    const unsigned flags = pair(at);
    if ((flags & 0x4007) != 0) return;
    const std::uint64_t header = 4 + 4 * ((flags >> 15 & 1) + (flags >> 13 & 1) + (flags >> 12 & 1));
    if (need(at, header)) ether_type(pair(at + 2), at + header);
}

// A port is not proof: if what is behind it makes no sense as a tunnel, it was plain UDP.
void walk::udp_tunnel(unsigned port, std::uint64_t at) {
    if (port != vxlan_port && port != old_vxlan_port && port != geneve_port) return;
    const headers plain = found_;
    inside([&] {
        if (!need(at, 8)) return;
        if (port == geneve_port) {
            const std::uint64_t header = 8 + 4 * (byte(at) & 0x3f);
            if (byte(at) >> 6 == 0 && need(at, header)) ether_type(pair(at + 2), at + header);
        } else if ((byte(at) & 0x08) != 0) {
            ethernet(at + 8);
        }
    });
    if (found_.outcome == outcome::malformed) found_ = plain;
}

}  // namespace posy::packets
