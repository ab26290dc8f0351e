// Where the nodes of an overlay are: from the number of a node to its address.
//
// The number is the beginning of the SHA-256 of the address. So nobody has to be believed about an address:
// a wrong one is the right one of another node, and to be taken for a given node somebody has to compute 2^64
// hashes. Addresses come with letters and from the options; those of the options stay, and of the others the
// least recently used is forgotten when there are too many. Cost: O(1). Thread safety: none.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "posy/overlay/mail.hpp"

namespace posy::node {

overlay::node_id node_at(std::string_view address);
// A URL as every node writes it: scheme, host in lower case, port, and nothing behind them. Nothing if the
// text is no such URL, or longer than an address may be.
std::optional<std::string> canonical_address(std::string_view url);

class address_book {
  public:
    explicit address_book(std::size_t most = 65'536) : most_(most) {}

    // Precondition: it is canonical.
    overlay::node_id keep(const std::string& address);
    // Text from a letter: nothing, and nothing changes, if it is not canonical.
    std::optional<overlay::node_id> learn(std::string_view address);
    // Null if it is not known.
    const std::string* find(overlay::node_id);
    std::size_t size() const { return kept_.size() + learnt_.size(); }

  private:
    struct entry {
        overlay::node_id number;
        std::string address;
    };
    std::size_t most_;
    std::unordered_map<overlay::node_id, std::string> kept_;
    std::list<entry> recent_;  // of those that were learnt, the last used first
    std::unordered_map<overlay::node_id, std::list<entry>::iterator> learnt_;
};

}  // namespace posy::node
