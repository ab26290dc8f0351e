#include "destinations.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "posy/base/file.hpp"

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

// One question to the kernel, by netlink, for the route that a packet would take; nothing is sent.
bool routed_here(const address& where) {
    const base::descriptor kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (kernel.get() < 0) return false;
    struct {
        nlmsghdr head;
        rtmsg route;
        rtattr destination;
        unsigned char bytes[16];
    } question{};
    const auto put = [&](const auto& bytes) { std::memcpy(question.bytes, bytes.data(), bytes.size()); };
    where.is_v4() ? put(where.to_v4().to_bytes()) : put(where.to_v6().to_bytes());
    const unsigned length = where.is_v4() ? 4 : 16;
    question.destination.rta_type = RTA_DST;
    question.destination.rta_len = static_cast<unsigned short>(RTA_LENGTH(length));
    question.route.rtm_family = where.is_v4() ? AF_INET : AF_INET6;
    question.route.rtm_dst_len = static_cast<unsigned char>(8 * length);
    question.head.nlmsg_type = RTM_GETROUTE;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.head.nlmsg_len = static_cast<unsigned>(NLMSG_LENGTH(sizeof(rtmsg)) + RTA_LENGTH(length));
    if (send(kernel.get(), &question, question.head.nlmsg_len, 0) < 0) return false;
    alignas(nlmsghdr) std::array<char, 4096> answer;
    const auto got = recv(kernel.get(), answer.data(), answer.size(), 0);
    nlmsghdr head;
    rtmsg route;
    if (got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof route))) return false;
    std::memcpy(&head, answer.data(), sizeof head);
    std::memcpy(&route, answer.data() + NLMSG_HDRLEN, sizeof route);
    return head.nlmsg_type == RTM_NEWROUTE && route.rtm_type == RTN_LOCAL;
}

std::string destinations::refuses(const address& where) const {
    const auto leads_to = destination_of(where);
    const auto own = own_addresses();
    const auto ours = [&](const address& a) {
        return std::ranges::find(own, a) != own.end() || routed_here(a);
    };
    // An address of this machine is this machine, whatever network it is on.
    if (place_of(where) != place::loopback && (ours(leads_to) || ours(where))) {
        if (leads_into(allowed_, address_v4::loopback())) return {};
        return fmt::format("{} is an address of this machine; --allow-destination loopback allows it",
                           where.to_string());
    }
    const auto kind = place_of(where);
    if (kind == place::global || leads_into(allowed_, where)) return {};
    if (kind == place::reserved)
        return fmt::format("{} is a reserved address; --allow-destination {} allows it", where.to_string(),
                           where.to_string());
    return fmt::format("{} is a {} address; --allow-destination {} allows it", where.to_string(),
                       name_of(kind), name_of(kind));
}

}  // namespace posy::http
