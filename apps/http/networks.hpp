// Networks of addresses: which ones a sender belongs to, and where an address leads.
//
// A list of networks is how all rules on addresses are written: who may be a peer, a client or an
// administrator, and which servers a client of the proxy may be sent to. The two are compared differently. A
// destination is what it leads to: an IPv6 form of an IPv4 address (translated, 6to4) is that IPv4 address,
// and the unspecified address (0.0.0.0, ::) is the loopback, which the system connects it to.
// Whoever connects to us is its address and nothing else: a stranger has 2002:7f00:1::/48 as rightfully as
// any other network, and does not become 127.0.0.1 by it. Looking one up costs a comparison per network.
// Thread safety: values.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace posy::http {

using boost::asio::ip::address;

// An address and how many of its leading bits count.
struct network {
    address at;
    unsigned bits = 0;
    bool contains(const address&) const;  // as it is written: no forms are seen through
};
// "10.0.0.0/8", or an address alone. A mapped one ("::ffff:10.0.0.0/104") is the IPv4 network that it means.
std::optional<network> parse_network(std::string_view);

// "10.0.0.0/8" of 10.0.0.1/8: without the bits that do not count.
std::string plain_text(const network&);
// Was it written with bits that do not count? Then one address may have been meant.
bool has_host_bits(const network&);

using networks = std::vector<network>;
// Does an address that connects to us belong to one of them?
bool comes_from(const networks&, const address& who);
// Is the address, or what it leads to, in one of them?
bool leads_into(const networks&, const address& where);

// A socket that listens for both has IPv4 clients by their mapped addresses (::ffff:0:0/96): these are the
// same, and only these. Others as they are.
address unmapped(const address&);

// What kind of place an address is (IANA's registries of special-purpose addresses).
enum class place {
    global,      // reachable by everyone: the Internet
    loopback,    // this machine; also the unspecified address, which leads there
    link_local,  // the wire
    intranet,    // private networks (RFC 1918, RFC 4193, RFC 6598)
    reserved,    // multicast, broadcast, documentation and whatever has no unicast use
};
place place_of(const address&);
std::string_view name_of(place);

// A network, or one of the words "loopback", "link-local" and "private" for all networks of that kind.
std::optional<networks> parse_networks(std::string_view);

// The IPv4 address that an IPv6 address stands for or is carried to; others as they are, without their scope.
address destination_of(const address&);

}  // namespace posy::http
