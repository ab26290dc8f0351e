#include "posy/packet/address_prefix.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace posy::packets {
namespace {

// How an IPv6 socket writes the address of an IPv4 peer, ::ffff:192.0.2.1: the address that it stands for.
flow_key unmapped(const flow_key& key) {
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    for (std::size_t i = 0; i < mapped.size(); ++i)
        if (key.byte(flow_key::source + i) != mapped[i]) return key;
    flow_key four;
    four.data()[flow_key::version] = std::byte{4};
    std::copy_n(key.data() + flow_key::source + mapped.size(), 4, four.data() + flow_key::source);
    return four;
}

}  // namespace

bool read_address(std::string_view text, flow_key& key, std::size_t at) {
    const bool six = text.find(':') != text.npos;
    const unsigned version = six ? 6 : 4, other = key.byte(flow_key::version);
    if (other != 0 && other != version) return false;
    key.data()[flow_key::version] = static_cast<std::byte>(version);
    return inet_pton(six ? AF_INET6 : AF_INET, std::string(text).c_str(), key.data() + at) == 1;
}

result<address_prefix> address_prefix::parse(std::string_view lengths) {
    auto source = flow_parts::parse("src/" + std::string(lengths));
    if (!source || source->names().size() != 1)
        return error::invalid(
            "'" + std::string(lengths) +
            "' is no length of a prefix; give at most 32 bits of IPv4, and after a / at most "
            "128 of IPv6, e.g. 24 or 24/56");
    return address_prefix(std::move(*source));
}

std::optional<std::string> address_prefix::of(std::string_view address) const {
    flow_key key;
    // inet_pton() takes text that ends with NUL.
    if (address.find('\0') != address.npos) return std::nullopt;
    const auto slash = address.find('/');
    if (!read_address(address.substr(0, slash), key, flow_key::source)) return std::nullopt;
    if (key.byte(flow_key::version) == 6) key = unmapped(key);
    std::string network = source_.texts(source_.of(key)).front();
    if (slash != address.npos && network != address) return std::nullopt;
    return network;
}

}  // namespace posy::packets
