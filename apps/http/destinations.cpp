#include "destinations.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace posy::http {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

std::vector<address> own_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
    std::vector<address> found;
    for (const ifaddrs* each = first; each; each = each->ifa_next) {
        if (!each->ifa_addr) continue;
        if (each->ifa_addr->sa_family == AF_INET) {
            sockaddr_in at{};
            std::memcpy(&at, each->ifa_addr, sizeof at);
            found.emplace_back(address_v4(ntohl(at.sin_addr.s_addr)));
        } else if (each->ifa_addr->sa_family == AF_INET6) {
            sockaddr_in6 at{};
            std::memcpy(&at, each->ifa_addr, sizeof at);
            address_v6::bytes_type bytes{};
            std::memcpy(bytes.data(), at.sin6_addr.s6_addr, bytes.size());
            found.emplace_back(address_v6(bytes));
        }
    }
    return found;
}

std::string destinations::refuses(const address& where) const {
    const auto leads_to = destination_of(where);
    const auto own = own_addresses();
    // An address of this machine is this machine, whatever network it is on.
    if (std::ranges::find(own, leads_to) != own.end() && place_of(where) != place::loopback) {
        if (contains(allowed_, address_v4::loopback())) return {};
        return fmt::format("{} is an address of this machine; --allow-destination loopback allows it",
                           where.to_string());
    }
    const auto kind = place_of(where);
    if (kind == place::global || contains(allowed_, where)) return {};
    if (kind == place::reserved)
        return fmt::format("{} is a reserved address; --allow-destination {} allows it", where.to_string(),
                           where.to_string());
    return fmt::format("{} is a {} address; --allow-destination {} allows it", where.to_string(),
                       name_of(kind), name_of(kind));
}

}  // namespace posy::http
