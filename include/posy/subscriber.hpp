// The receiving side: holds the last generation of someone else's filter that it could put together, and
// keeps answering from it whatever arrives.
//
// A message is believed or it is not: a full one replaces what is held if it is newer; a delta is applied if
// it starts from the very generation and the very bits that are held. Anything else changes nothing, and
// wants() says what to ask the publisher for: one question and one answer put things right. Messages of a
// generation that is not wanted are told by their header and cost only their checksum; a delta that is
// applied costs a few passes over what is held.
//
// A state machine: time is handed in, messages are bytes, nothing waits. Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>

#include "posy/message.hpp"

namespace posy {

struct opened_frame;

// What became of a message.
enum class reception {
    replaced,    // a full filter, now held
    updated,     // a delta, applied
    duplicate,   // of the generation held
    outdated,    // of an earlier generation: late, or sent twice
    gap,         // a delta from a generation that is not held: one was lost
    wrong_base,  // a delta from the generation held, but against other bits
    damaged,     // not a message, or not one that a publisher sends
};

class subscriber {
  public:
    explicit subscriber(const read_limits& limits = {}) : limits_(limits) {}

    reception receive(byte_view message, std::uint64_t now);

    // What is held: nothing until a full filter has come.
    const bloom_filter* filter() const { return filter_ ? &*filter_ : nullptr; }
    std::optional<std::uint64_t> generation() const {
        return filter_ ? std::optional(generation_) : std::nullopt;
    }
    // Since when: the time of the last message that was believed.
    std::uint64_t updated_at() const { return updated_at_; }

    // The publisher says that what have() names is the newest there is.
    void confirm(std::uint64_t now) { wants_ = false, updated_at_ = now; }

    // Does it need an answer from the publisher? If so, to publisher::answer(have()).
    bool wants() const { return wants_; }
    // The generation to name: nothing when only the whole filter will do.
    std::optional<std::uint64_t> have() const { return whole_ ? std::nullopt : generation(); }

  private:
    reception receive(const opened_frame&);

    read_limits limits_;
    std::optional<bloom_filter> filter_;
    std::uint64_t generation_ = 0;
    std::uint64_t updated_at_ = 0;
    bool wants_ = true;
    bool whole_ = true;  // what is wanted is the whole filter
};

}  // namespace posy
