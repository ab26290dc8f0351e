// Which parts of the 5-tuple name a flow: "src,dst/24,dport" and the like. A mask for each version of IP.
//
// Cost: five ANDs per packet. Thread safety: a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "posy/packet/flow_key.hpp"
#include "posy/result.hpp"

namespace posy::packets {

class flow_parts {
  public:
    // A list of src, dst, sport, dport and proto, or "flow" for all five. Addresses may be cut to a prefix:
    // src/24 is 24 bits of an IPv4 address and twice as many of an IPv6 address; src/24/56 gives both.
    static result<flow_parts> parse(std::string_view text);

    // The key with everything else zero.
    flow_key of(const flow_key& whole) const {
        const flow_key& mask = whole.byte(flow_key::version) == 6 ? mask_6_ : mask_4_;
        flow_key key;
        for (std::size_t i = 0; i < key.words.size(); ++i) key.words[i] = whole.words[i] & mask.words[i];
        return key;
    }
    // Then a packet counts even if its ports were not captured.
    bool only_addresses() const;
    // Whether the part at this place of a key is asked for.
    bool asks_for(std::size_t at) const;
    // "src/24", "dport": in the order in which they were asked for; and what they are in a key.
    const std::vector<std::string>& names() const { return names_; }
    std::vector<std::string> texts(const flow_key&) const;

  private:
    struct part {
        std::size_t at = 0;  // in a key
        unsigned bits_4 = 0, bits_6 = 0;
    };
    result<void> add(std::string_view text);

    flow_key mask_4_, mask_6_;
    std::vector<part> parts_;
    std::vector<std::string> names_;
};

}  // namespace posy::packets
