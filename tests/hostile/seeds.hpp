// The messages that mutations begin with: small ones of every kind and coding, and those at the limits, each
// of them the most expensive of its kind that we could think of.
#pragma once

#include <filesystem>
#include <vector>

#include "mutation.hpp"
#include "posy/message.hpp"
#include "posy/reconcile/session.hpp"

namespace posy::hostile {

// What testdata holds, and more of the same kinds.
std::vector<byte_string> small_messages(const std::filesystem::path& testdata);
// A handful of each kind at the limits of the reader: tens of milliseconds each.
std::vector<byte_string> messages_at_the_limits();

// A conversation from the first message to the last, and the side that receives it.
struct conversation {
    reconcile::settings how;
    bool victim_asks = true;
    std::vector<byte_string> to_victim;  // in the order in which it received them
};
std::vector<conversation> conversations();
const reconcile::digest_set& set_of_victim();

byte_string squid_digest_bytes(const std::filesystem::path& testdata);

}  // namespace posy::hostile
