// The receiving side: holds the last generation of someone else's filter that it could put together, and
// keeps answering from it whatever arrives.
//
// A message is believed or it is not: a full one replaces what is held if it is newer; a delta is applied if
// it starts from the very generation and the very bits that are held. Anything else changes nothing, and
// wants() says what to ask the publisher for: one question and one answer put things right.
//
// What a message is of no use for is told from its header, and nothing is decoded: a generation that is held
// already, a delta from another base, an array beyond the limits. What is held is never changed in place but
// replaced, so a copy of a subscriber is cheap and shares the filter: whoever must not wait receives into a
// copy, and swaps.
//
// A state machine: time is handed in, messages are bytes, nothing waits. Thread safety: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
    too_large,   // an array beyond the limits
    damaged,     // not a message, or not one that a publisher sends
};

// Which full filters are taken.
enum class sequence {
    ascending,  // of later generations: messages may come late, or twice
    any,        // of another generation: the answer to a question is what the publisher has now, and one that
                // was set up anew may have gone back
};

class subscriber {
  public:
    explicit subscriber(const read_limits& limits = {}) : limits_(limits) {}
    void set_limits(const read_limits& limits) { limits_ = limits; }

    reception receive(byte_view message, std::uint64_t now, sequence = sequence::ascending);
    // Why the last message was damaged or too large.
    const std::string& complaint() const { return complaint_; }
    // Complaints for which a caller may know better words.
    static constexpr std::string_view several_messages = "there is more than one message";
    static constexpr std::string_view another_kind = "a message, but neither a filter nor a delta";

    // What is held: nothing until a full filter has come.
    const bloom_filter* filter() const { return filter_.get(); }
    std::optional<std::uint64_t> generation() const {
        return filter_ ? std::optional(generation_) : std::nullopt;
    }
    // Since when: the time of the last message that was believed.
    std::uint64_t updated_at() const { return updated_at_; }

    // The publisher says that what have() names is the newest there is.
    void confirm(std::uint64_t now) { wants_ = false, updated_at_ = now; }
    // What is held may not be the publisher's: it stays in use, and the whole filter replaces it, whatever
    // its generation.
    void doubt() { wants_ = whole_ = true; }

    // Does it need an answer from the publisher? If so, to publisher::answer(edition()).
    bool wants() const { return wants_; }
    // The generation to name: nothing when only the whole filter will do.
    std::optional<std::uint64_t> have() const { return whole_ ? std::nullopt : generation(); }
    // The same, with its bits.
    std::optional<posy::edition> edition() const {
        return have() ? std::optional(posy::edition{generation_, checksum_}) : std::nullopt;
    }

  private:
    // What becomes of a message with this header; nothing: that shows when it is decoded.
    std::optional<reception> judge(const opened_frame&, sequence);
    std::optional<reception> judge_base(const opened_frame&);
    reception decode(const opened_frame&);
    // What is wanted may take as much memory as what is held, however few bytes there are of it.
    read_limits limits() const;
    reception refuse(reception, std::string why);
    void hold(bloom_filter filter, std::uint64_t generation);

    read_limits limits_;
    std::shared_ptr<const bloom_filter> filter_;
    std::uint64_t generation_ = 0;
    std::uint32_t checksum_ = 0;  // of its bits
    std::uint64_t updated_at_ = 0;
    bool wants_ = true;
    bool whole_ = true;  // what is wanted is the whole filter
    std::string complaint_;
};

}  // namespace posy
