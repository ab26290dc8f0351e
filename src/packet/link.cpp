// The link layer: up to the first IP header.
#include "walk.hpp"

namespace posy::packets {

namespace {
constexpr unsigned type_ipv4 = 0x0800, type_ipv6 = 0x86dd, type_vlan = 0x8100, type_service_vlan = 0x88a8,
                   type_old_qinq = 0x9100, type_mpls = 0x8847, type_mpls_multicast = 0x8848,
                   type_pppoe = 0x8864, type_bridged = 0x6558;
constexpr unsigned ppp_ipv4 = 0x0021, ppp_ipv6 = 0x0057;
}  // namespace

std::optional<link_type> link_type_of(std::uint32_t number) {
    switch (number & 0xffff) {  // the bits above it describe check sequences behind the frame
        case 0:                 // NULL
        case 108:               // LOOP, of OpenBSD
            return link_type::null_loopback;
        case 1:
            return link_type::ethernet;
        case 12:   // RAW as Linux and others number it
        case 14:   // and OpenBSD
        case 101:  // and in files
        case 228:  // IPV4
        case 229:  // IPV6
            return link_type::raw_ip;
        case 113:
            return link_type::linux_cooked;
        case 276:
            return link_type::linux_cooked_2;
        default:
            return std::nullopt;
    }
}

headers headers_of(byte_view frame, std::uint64_t original_length, link_type link, tunnels which) {
    return walk(frame, original_length, which).from(link);
}

headers walk::from(link_type link) && {
    switch (link) {
        case link_type::ethernet:
            ethernet(0);
            break;
        case link_type::raw_ip:
            ip(0);
            break;
        case link_type::null_loopback:
            address_family(0);
            break;
        case link_type::linux_cooked:
            if (need(0, 16)) ether_type(pair(14), 16);
            break;
        case link_type::linux_cooked_2:
            if (need(0, 20)) ether_type(pair(0), 20);
            break;
    }
    return found_;
}

void walk::ethernet(std::uint64_t at) {
    if (need(at, 14)) ether_type(pair(at + 12), at + 14);
}

// `at` is behind the type.
void walk::ether_type(unsigned type, std::uint64_t at) {
    while (type == type_vlan || type == type_service_vlan || type == type_old_qinq) {
        if (++tags_ > most_tags) {
            found_.outcome = outcome::too_deep;
            return;
        }
        if (!need(at, 4)) return;
        type = pair(at + 2);
        at += 4;
    }
    switch (type) {
        case type_ipv4:
            return ipv4(at);
        case type_ipv6:
            return ipv6(at);
        case type_mpls:
        case type_mpls_multicast:
            return labels(at);
        case type_bridged:
            return ethernet(at);
        case type_pppoe:
            if (!need(at, 8)) return;
            if (pair(at + 6) == ppp_ipv4) return ipv4(at + 8);
            if (pair(at + 6) == ppp_ipv6) return ipv6(at + 8);
            return;
        default:
            return;  // not IP
    }
}

// Labels do not say what they carry: behind the last one the first four bits are those of an IP packet, or
// zero for the control word before an Ethernet frame.
void walk::labels(std::uint64_t at) {
    for (;; at += 4) {
        if (++tags_ > most_tags) {
            found_.outcome = outcome::too_deep;
            return;
        }
        if (!need(at, 4)) return;
        if (byte(at + 2) & 1) break;
    }
    at += 4;
    if (!need(at, 1)) return;
    if (byte(at) >> 4 == 0) return ethernet(at + 4);
    const unsigned version = byte(at) >> 4;
    if (version == 4 || version == 6) ip(at);
}

// Linux calls IPv6 10, the BSDs 24, 28 and 30.
void walk::address_family(std::uint64_t at) {
    if (!need(at, 4)) return;
    const unsigned family = pair(at) == 0 ? byte(at + 3) : byte(at);
    if (family == 2) return ipv4(at + 4);
    if (family == 10 || family == 24 || family == 28 || family == 30) ipv6(at + 4);
}

}  // namespace posy::packets
