#include "networks.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <charconv>

namespace posy::http {

namespace {

using boost::asio::ip::address_v4;
using boost::asio::ip::address_v6;

struct block {
    network where;
    place kind;
};

// The first that fits counts. In IPv6 only 2000::/3 is given out for unicast, so the rest needs no list; what
// is in it and carries IPv4 is seen through before (destination_of).
const std::vector<block>& blocks() {
    static const std::vector<block> all = [] {
        using enum place;
        constexpr std::pair<std::string_view, place> texts[]{
            {"0.0.0.0/32", loopback},      {"0.0.0.0/8", reserved},
            {"10.0.0.0/8", intranet},      {"100.64.0.0/10", intranet},
            {"127.0.0.0/8", loopback},     {"169.254.0.0/16", link_local},
            {"172.16.0.0/12", intranet},   {"192.0.0.0/24", reserved},
            {"192.0.2.0/24", reserved},    {"192.88.99.0/24", reserved},
            {"192.168.0.0/16", intranet},  {"198.18.0.0/15", reserved},
            {"198.51.100.0/24", reserved}, {"203.0.113.0/24", reserved},
            {"224.0.0.0/3", reserved},     {"0.0.0.0/0", global},
            {"::/127", loopback},          {"fc00::/7", intranet},
            {"fe80::/10", link_local},     {"fec0::/10", intranet},
            {"64:ff9b:1::/48", intranet},  {"2001::/23", reserved},
            {"2001:db8::/32", reserved},   {"3fff::/20", reserved},
            {"2000::/3", global},          {"::/0", reserved}};
        std::vector<block> made;
        for (const auto& [text, kind] : texts) made.push_back({*parse_network(text), kind});
        return made;
    }();
    return all;
}

constexpr std::array<std::string_view, 5> names{"global", "loopback", "link-local", "private", "reserved"};

template <class Bytes>
bool same_prefix(const Bytes& a, const Bytes& b, unsigned bits) {
    for (unsigned i = 0; i < bits; i += 8) {
        const unsigned left = std::min(bits - i, 8U);
        const auto mask = static_cast<unsigned char>(0xff00U >> left);
        if ((a[i / 8] & mask) != (b[i / 8] & mask)) return false;
    }
    return true;
}

}  // namespace

bool network::contains(const address& who) const {
    if (at.is_v4() != who.is_v4()) return false;
    return at.is_v4() ? same_prefix(at.to_v4().to_bytes(), who.to_v4().to_bytes(), bits)
                      : same_prefix(at.to_v6().to_bytes(), who.to_v6().to_bytes(), bits);
}

namespace {

// An IPv4 network may be written in its mapped form. Addresses are compared without that form, so as it
// stands it would miss the addresses that it means.
network in_plain_form(const network& n) {
    if (!n.at.is_v6() || !n.at.to_v6().is_v4_mapped() || n.bits < 96) return n;
    return {unmapped(n.at), n.bits - 96};
}

// The system connects to this machine when it is given the unspecified address.
address connected_to(const address& where) {
    if (!where.is_unspecified()) return where;
    return where.is_v4() ? address(address_v4::loopback()) : address(address_v6::loopback());
}

}  // namespace

std::optional<network> parse_network(std::string_view text) {
    const auto slash = std::min(text.find('/'), text.size());
    boost::system::error_code failed;
    network n{boost::asio::ip::make_address(std::string(text.substr(0, slash)), failed)};
    if (failed) return std::nullopt;
    const unsigned all = n.at.is_v4() ? 32 : 128;
    n.bits = all;
    if (slash == text.size()) return in_plain_form(n);
    const auto count = text.substr(slash + 1);
    const auto [end, wrong] = std::from_chars(count.data(), count.data() + count.size(), n.bits);
    if (wrong != std::errc{} || end != count.data() + count.size() || n.bits > all) return std::nullopt;
    return in_plain_form(n);
}

namespace {

address first_of(const network& n) {
    if (n.at.is_v4())
        return boost::asio::ip::make_network_v4(n.at.to_v4(), static_cast<unsigned short>(n.bits)).network();
    return boost::asio::ip::make_network_v6(n.at.to_v6(), static_cast<unsigned short>(n.bits)).network();
}

}  // namespace

std::string plain_text(const network& n) { return first_of(n).to_string() + "/" + std::to_string(n.bits); }

bool has_host_bits(const network& n) { return first_of(n) != n.at; }

bool comes_from(const networks& list, const address& who) {
    return std::ranges::any_of(list, [&](const network& n) { return n.contains(unmapped(who)); });
}

bool leads_into(const networks& list, const address& where) {
    const auto leads_to = destination_of(where), reached = connected_to(leads_to);
    return std::ranges::any_of(list, [&](const network& n) {
        return n.contains(where) || n.contains(leads_to) || n.contains(reached);
    });
}

address unmapped(const address& a) {
    if (!a.is_v6() || !a.to_v6().is_v4_mapped()) return a;
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, a.to_v6());
}

place place_of(const address& where) {
    const auto leads_to = destination_of(where);
    return std::ranges::find_if(blocks(), [&](const block& b) { return b.where.contains(leads_to); })->kind;
}

std::string_view name_of(place p) { return names[static_cast<std::size_t>(p)]; }

std::optional<networks> parse_networks(std::string_view text) {
    for (const auto kind : {place::loopback, place::link_local, place::intranet}) {
        if (text != name_of(kind)) continue;
        networks all;
        for (const auto& [where, of] : blocks())
            if (of == kind) all.push_back(where);
        return all;
    }
    const auto one = parse_network(text);
    return one ? std::optional(networks{*one}) : std::nullopt;
}

address destination_of(const address& where) {
    if (where.is_v4() || where.to_v6().is_v4_mapped()) return unmapped(where);
    const auto bytes = where.to_v6().to_bytes();
    struct form {
        network prefix;
        std::size_t at;  // where the IPv4 address starts
    };
    static const std::array<form, 4> forms{{{*parse_network("::ffff:0:0:0/96"), 12},  // translated
                                            {*parse_network("64:ff9b::/96"), 12},     // NAT64
                                            {*parse_network("2002::/16"), 2},         // 6to4
                                            {*parse_network("::/96"), 12}}};          // compatible
    // :: and ::1 are in ::/96 and no IPv4 addresses.
    if (network{address_v6{}, 127}.contains(where)) return address_v6(bytes);
    for (const auto& [prefix, at] : forms) {
        if (!prefix.contains(where)) continue;
        address_v4::bytes_type inner{};
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), inner.size(), inner.begin());
        return address_v4(inner);
    }
    return address_v6(bytes);
}

}  // namespace posy::http
