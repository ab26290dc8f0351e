#include "posy/packet/flow_key.hpp"

#include <arpa/inet.h>

namespace posy::packets {

std::string address_text(const flow_key& key, std::size_t at) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = key.byte(flow_key::version) == 6 ? AF_INET6 : AF_INET;
    return inet_ntop(family, key.data() + at, text.data(), text.size());
}

std::string protocol_text(std::uint8_t protocol) {
    switch (protocol) {
        case 1:
            return "icmp";
        case 6:
            return "tcp";
        case 17:
            return "udp";
        case 33:
            return "dccp";
        case 47:
            return "gre";
        case 50:
            return "esp";
        case 51:
            return "ah";
        case 58:
            return "icmpv6";
        case 89:
            return "ospf";
        case 132:
            return "sctp";
        case 136:
            return "udplite";
        default:
            return std::to_string(protocol);
    }
}

}  // namespace posy::packets
