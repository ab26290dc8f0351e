// How the state machines of an overlay speak: a machine takes messages and time as arguments and puts what it
// sends into an outbox. It reads no clock, no socket and no random device, so the simulator, the node and a
// test run the same code.
//
// A machine of the overlay has
//
//   void receive(node_id from, byte_view message, std::uint64_t now, outbox&);
//   void tick(std::uint64_t now, outbox&);              // at next_tick() or later
//   std::optional<std::uint64_t> next_tick() const;     // nothing: it waits for messages only
//
// with time in milliseconds. A message may be lost, repeated or from a stranger: a bad one changes nothing
// and is counted. The first byte of a message is its kind.
#pragma once

#include <cstdint>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::overlay {

// A node of the overlay. Who it is, and how to reach it, is known to whoever carries the mail.
using node_id = std::uint64_t;

struct letter {
    node_id to;
    std::vector<std::byte> message;
};
using outbox = std::vector<letter>;

}  // namespace posy::overlay
