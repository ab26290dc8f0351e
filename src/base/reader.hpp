// Reads the fields of a payload one after the other. The first error is recorded with its offset, and
// everything read after it is zero or empty. So a parser checks for errors only before it allocates memory
// and at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "posy/bytes.hpp"
#include "posy/result.hpp"
#include "varint.hpp"

namespace posy::base {

class reader {
  public:
    explicit reader(byte_view bytes) : rest_(bytes), size_(bytes.size()) {}

    std::uint8_t byte() { return number<std::uint8_t>(); }
    // A number of as many bytes as its type has, little-endian.
    template <class Unsigned>
    Unsigned number() {
        const byte_view bytes = take(sizeof(Unsigned));
        return bytes.empty() ? Unsigned{0} : load_little<Unsigned>(bytes.data());
    }
    std::uint64_t varint(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
        start_ = offset();
        if (wrong_) return 0;
        const auto value = take_varint(rest_);
        if (!value) fail("a number that is cut off, above 2^64 or not in its shortest form");
        if (value && *value > most)
            fail("the number " + std::to_string(*value) + ", above the limit of " + std::to_string(most));
        return wrong_ ? 0 : *value;
    }
    byte_view take(std::uint64_t count) {
        start_ = offset();
        if (!wrong_ && count > rest_.size()) {
            fail(std::to_string(count) + " bytes where " + std::to_string(rest_.size()) + " are left");
        }
        if (wrong_) return {};
        const byte_view taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    byte_view rest() { return take(rest_.size()); }

    std::uint64_t offset() const { return size_ - rest_.size(); }
    std::size_t left() const { return rest_.size(); }

    // The error is about the field read last, or the one at `offset`.
    void fail(const std::string& message, std::optional<std::uint64_t> offset = {}) {
        if (!wrong_)
            wrong_ = error::damaged(message + "; the bytes are damaged or from another program",
                                    offset.value_or(start_));
    }
    // The field read last may be for a reader that knows more.
    void fail_unsupported(const std::string& message) {
        if (!wrong_)
            wrong_ = error::unsupported(message + "; the bytes are damaged, or need a newer Posy", start_);
    }
    // What the fields read so far stand for cannot be: an argument that is wrong is damage here.
    void fail_as(const error& why, std::optional<std::uint64_t> offset = {}) {
        if (why.kind == error_kind::invalid) return fail(why.message, offset);
        if (!wrong_) wrong_ = error{why.kind, why.message, offset.value_or(start_), why.limit};
    }
    // The field read last may be right, but asks for more memory than the reader was allowed.
    void fail_above_limit(const std::string& what, std::uint64_t bytes, std::uint64_t max_bytes);
    // An error in a part of the bytes that starts with the field read last.
    void fail_inside(const error& why) {
        if (!wrong_) wrong_ = why.in_part_at(start_);
    }
    const std::optional<error>& wrong() const { return wrong_; }
    // The first error; leftover bytes are one.
    const std::optional<error>& finish() {
        start_ = offset();
        if (!rest_.empty()) fail(std::to_string(rest_.size()) + " bytes too many");
        return wrong_;
    }

  private:
    byte_view rest_;
    std::size_t size_;
    std::uint64_t start_ = 0;
    std::optional<error> wrong_;
};

// The error for content that needs `bytes` of memory where the reader may use less: "`what` … bytes of
// memory". A program adds which of its options raises the limit.
inline error above_limit(const std::string& what, std::uint64_t bytes, std::uint64_t max_bytes,
                         error::place at = {}) {
    return {error_kind::too_large,
            what + " " + std::to_string(bytes) + " bytes of memory, above the limit of " +
                std::to_string(max_bytes) + "; raise it if you trust the sender",
            at, max_bytes};
}

inline void reader::fail_above_limit(const std::string& what, std::uint64_t bytes, std::uint64_t max_bytes) {
    if (!wrong_) wrong_ = above_limit(what + " of", bytes, max_bytes, start_);
}

}  // namespace posy::base
