// The receiving side: holds the last complete generation of a publisher's filter, and keeps answering from it
// whatever arrives.
//
// A full filter replaces what is held if it is newer. A delta is applied if its base is exactly the
// generation and the bits that are held. Any other message changes nothing, and wants() says whether to ask
// the publisher: one question and one answer restore the state.
//
// Useless messages are recognised by their header and not decoded: a generation that is already held, a delta
// from another base, an array beyond the limits. The filter is never changed in place but replaced, so a copy
// of a subscriber is cheap and shares the filter: a caller that must not wait receives into a copy and swaps.
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

class shared_filters;
struct opened_frame;

// What became of a message.
enum class reception {
    replaced,    // a full filter, now held
    updated,     // a delta, applied
    duplicate,   // of the generation held
    outdated,    // of an earlier generation: late, or sent twice
    gap,         // a delta from a generation that is not held: one was lost
    wrong_base,  // a delta from the generation that is held, but against other bits
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
    // Decodes no message that another subscriber of this pool has decoded. The pool must outlive its use.
    void share(shared_filters* pool) { pool_ = pool; }

    reception receive(byte_view message, std::uint64_t now, sequence = sequence::ascending);
    // Why the last message was damaged or too large.
    const std::string& complaint() const { return complaint_; }
    // Complaints that a caller may want to phrase differently.
    static constexpr std::string_view several_messages = "there is more than one message";
    static constexpr std::string_view another_kind = "a message, but neither a filter nor a delta";

    // The filter that is held; null until a full filter has arrived.
    const bloom_filter* filter() const { return filter_.get(); }
    const std::shared_ptr<const bloom_filter>& shared_filter() const { return filter_; }
    std::optional<std::uint64_t> generation() const {
        return filter_ ? std::optional(generation_) : std::nullopt;
    }
    // The time of the last message that was accepted.
    std::uint64_t updated_at() const { return updated_at_; }

    // The publisher says that what have() names is the newest there is.
    void confirm(std::uint64_t now) { wants_ = false, updated_at_ = now; }
    // The filter that is held may not be the publisher's. It stays in use until a whole filter of any
    // generation replaces it.
    void doubt() { wants_ = whole_ = true; }

    // Does it need an answer from the publisher? If so, ask for publisher::answer(edition()).
    bool wants() const { return wants_; }
    // The generation to name: nothing when only the whole filter will do.
    std::optional<std::uint64_t> have() const { return whole_ ? std::nullopt : generation(); }
    // The same, with its bits.
    std::optional<posy::edition> edition() const {
        return have() ? std::optional(posy::edition{generation_, checksum_}) : std::nullopt;
    }

  private:
    // What will become of a message with this header; nothing if it must be decoded to find out.
    std::optional<reception> judge(const opened_frame&, sequence);
    std::optional<reception> judge_base(const opened_frame&);
    reception decode(const opened_frame&, byte_view message);
    result<std::shared_ptr<const bloom_filter>> decoded(const opened_frame&) const;
    // The answer may take as much memory as the filter that is held, however short it is.
    read_limits limits() const;
    reception refuse(reception, std::string why);
    void hold(std::shared_ptr<const bloom_filter>, std::uint64_t generation);

    read_limits limits_;
    shared_filters* pool_ = nullptr;
    std::shared_ptr<const bloom_filter> filter_;
    std::uint64_t generation_ = 0;
    std::uint32_t checksum_ = 0;  // of its bits
    std::uint64_t updated_at_ = 0;
    bool wants_ = true;
    bool whole_ = true;  // only a whole filter will do
    std::string complaint_;
};

}  // namespace posy
