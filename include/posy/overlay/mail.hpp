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
#include <initializer_list>
#include <memory>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::overlay {

// A node of the overlay. Who it is, and how to reach it, is known to whoever carries the mail.
using node_id = std::uint64_t;

// The bytes of a message. Copies share them, so that a summary sent to thousands is in memory once.
class message_bytes {
  public:
    message_bytes() = default;
    message_bytes(std::vector<std::byte> bytes)
        : bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
    message_bytes(std::initializer_list<std::byte> bytes) : message_bytes(std::vector<std::byte>(bytes)) {}

    operator byte_view() const { return bytes_ ? byte_view(*bytes_) : byte_view(); }
    std::size_t size() const { return bytes_ ? bytes_->size() : 0; }
    bool empty() const { return size() == 0; }
    std::byte operator[](std::size_t at) const { return (*bytes_)[at]; }

  private:
    std::shared_ptr<const std::vector<std::byte>> bytes_;
};

struct letter {
    node_id to;
    message_bytes message;
};
using outbox = std::vector<letter>;

}  // namespace posy::overlay
