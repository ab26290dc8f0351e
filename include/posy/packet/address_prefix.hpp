// Addresses in text, cut to a prefix: "192.0.2.77" to "192.0.2.0/24". The networks of a log, where keys are
// addresses.
//
// Cost: an address is parsed and written. Thread safety: a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "posy/packet/flow_parts.hpp"

namespace posy::packets {

// Reads an address into the key, as its source or destination. False if it is none, or not of the version
// that the key has already.
bool read_address(std::string_view text, flow_key&, std::size_t at);

class address_prefix {
  public:
    // "24": 24 bits of an IPv4 address and twice as many of an IPv6 address; "24/56" gives both.
    static result<address_prefix> parse(std::string_view lengths);

    // The network that an address is in, in one form for all of its addresses. Nothing if it is no address. A
    // network that this has written is its own.
    std::optional<std::string> of(std::string_view address) const;

  private:
    explicit address_prefix(flow_parts source) : source_(std::move(source)) {}
    flow_parts source_;
};

}  // namespace posy::packets
