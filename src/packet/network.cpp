// IP headers, what extends them, and the ports behind them.
#include <cstring>

#include "walk.hpp"

namespace posy::packets {

namespace {
constexpr unsigned tcp = 6, udp = 17, dccp = 33, sctp = 132, udp_lite = 136, icmp = 1, icmpv6 = 58;
constexpr unsigned hop_by_hop = 0, routing = 43, fragment_header = 44, authentication = 51,
                   destination_options = 60, mobility = 135, host_identity = 139, shim6 = 140;

// A header of which the second byte is its length in eights, not counting the first eight.
bool counts_in_eights(unsigned protocol) {
    return protocol == hop_by_hop || protocol == routing || protocol == destination_options ||
           protocol == mobility || protocol == host_identity || protocol == shim6;
}
}  // namespace

void walk::ip(std::uint64_t at) {
    if (!need(at, 1)) return;
    const unsigned version = byte(at) >> 4;
    if (version == 4) return ipv4(at);
    if (version == 6) return ipv6(at);
    found_.outcome = outcome::malformed;
}

// Notes a packet with a header of `header` bytes; 0 for `length` stands for all that there is.
bool walk::begin_packet(std::uint64_t at, unsigned version, std::uint64_t header, std::uint64_t length) {
    const std::uint64_t address = version == 4 ? 4 : 16, addresses = at + (version == 4 ? 12 : 8);
    found_.version = static_cast<std::uint8_t>(version);
    found_.network = static_cast<std::uint32_t>(at);
    std::byte* key = found_.key.data();
    std::memcpy(key + flow_key::source, &frame_[addresses], address);
    std::memcpy(key + flow_key::destination, &frame_[addresses + address], address);
    key[flow_key::version] = static_cast<std::byte>(version);
    if (length == 0) length = end_ - at;
    found_.ip_bytes = static_cast<std::uint32_t>(length);
    if (length < header || length > end_ - at) {
        found_.outcome = outcome::malformed;
        return false;
    }
    end_ = at + length;
    return true;
}

void walk::ipv4(std::uint64_t at) {
    if (!need(at, 20)) return;
    const std::uint64_t header = 4 * (byte(at) & 15);
    if (byte(at) >> 4 != 4 || header < 20) {
        found_.outcome = outcome::malformed;
        return;
    }
    // A length of zero: captured before the network card cut it into segments.
    if (!begin_packet(at, 4, header, pair(at + 2))) return;
    const unsigned flags = pair(at + 6);
    found_.fragment = (flags & 0x3fff) != 0;
    found_.fragment_offset = static_cast<std::uint16_t>(8 * (flags & 0x1fff));
    upper(byte(at + 9), at + header);
}

void walk::ipv6(std::uint64_t at) {
    if (!need(at, 40)) return;
    if (byte(at) >> 4 != 6) {
        found_.outcome = outcome::malformed;
        return;
    }
    const unsigned length = pair(at + 4);  // zero: a jumbogram, or not yet cut into segments
    if (begin_packet(at, 6, 40, length == 0 ? 0 : 40 + length)) upper(byte(at + 6), at + 40);
}

// What is behind the IP header.
void walk::upper(unsigned protocol, std::uint64_t at) {
    for (unsigned headers = 0;; ++headers) {
        found_.protocol = static_cast<std::uint8_t>(protocol);
        found_.key.data()[flow_key::protocol] = static_cast<std::byte>(protocol);
        found_.transport = static_cast<std::uint32_t>(at);
        if (found_.fragment_offset > 0) {
            found_.outcome = outcome::found;
            return;
        }
        const bool extends =
            protocol == authentication ||
            (found_.version == 6 && (counts_in_eights(protocol) || protocol == fragment_header));
        if (!extends) return transport(protocol, at);
        if (headers == most_extensions) {
            found_.outcome = outcome::too_deep;
            return;
        }
        const std::uint64_t length = extension(protocol, at);
        if (length == 0) return;
        at += length;
    }
}

// The length of an extension header; `protocol` becomes the next one. 0 if the walk has failed.
std::uint64_t walk::extension(unsigned& protocol, std::uint64_t at) {
    if (!need(at, 8)) return 0;
    std::uint64_t length = 8;
    if (protocol == fragment_header) {
        found_.fragment = true;
        found_.fragment_offset = static_cast<std::uint16_t>(pair(at + 2) & 0xfff8);
    } else if (protocol == authentication) {
        length = 4 * (byte(at + 1) + 2);
    } else {
        length = 8 * (byte(at + 1) + 1);
    }
    protocol = byte(at);
    return need(at, length) ? length : 0;
}

void walk::transport(unsigned protocol, std::uint64_t at) {
    switch (protocol) {
        case tcp:
        case udp:
        case udp_lite:
        case sctp:
        case dccp:
            return ports(protocol, at);
        case icmp:
        case icmpv6:
            if (at + 8 <= captured_end()) found_.payload = static_cast<std::uint32_t>(at + 8);
            found_.outcome = outcome::found;
            return;
        default:
            found_.outcome = outcome::found;
            if (which_ == tunnels::innermost && !found_.fragment) tunnel(protocol, at);
    }
}

void walk::ports(unsigned protocol, std::uint64_t at) {
    if (!need(at, 4)) return;
    std::memcpy(found_.key.data() + flow_key::source_port, &frame_[at], 4);
    found_.has_ports = true;
    found_.outcome = outcome::found;
    std::uint64_t length = protocol == sctp ? 12 : 8;
    if (protocol == tcp) {
        if (at + 13 > captured_end()) return;
        length = 4 * (byte(at + 12) >> 4);
    } else if (protocol == dccp) {
        if (at + 5 > captured_end()) return;
        length = 4 * byte(at + 4);
    }
    const std::uint64_t least = protocol == tcp ? 20 : protocol == dccp ? 12 : length;
    if (length < least || (at + length > end_ && !found_.fragment)) {
        found_.outcome = outcome::malformed;
        return;
    }
    if (at + length > captured_end()) return;
    found_.payload = static_cast<std::uint32_t>(at + length);
    if (protocol == udp && which_ == tunnels::innermost && !found_.fragment) udp_tunnel(pair(at + 2), at + 8);
}

}  // namespace posy::packets
