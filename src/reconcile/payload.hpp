// The fields of a payload, one after the other, written and read. Reading trusts nothing: the first error is
// recorded with its offset, and later fields read as zero.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/reader.hpp"
#include "base/varint.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

template <class Unsigned>
void put_little(std::vector<std::byte>& out, Unsigned value) {
    out.resize(out.size() + sizeof value);
    store_little(&out[out.size() - sizeof value], value);
}

// 0, −1, 1, −2, … as 0, 1, 2, 3, …: small numbers of either sign take few bytes.
inline void put_signed_varint(std::vector<std::byte>& out, std::int64_t value) {
    base::put_varint(out, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

inline void put_digest(std::vector<std::byte>& out, const digest& d, digest_width width) {
    put_little(out, d.low);
    if (width == digest_width::full) put_little(out, d.high);
}

class payload_reader {
  public:
    explicit payload_reader(byte_view bytes) : all_(bytes), rest_(bytes) {}

    byte_view bytes(std::uint64_t count) {
        start_ = offset();
        if (count > rest_.size()) return fail("the payload is cut off"), byte_view();
        const byte_view taken = rest_.first(static_cast<std::size_t>(count));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    template <class Unsigned>
    Unsigned little() {
        const byte_view taken = bytes(sizeof(Unsigned));
        return taken.empty() ? Unsigned{0} : load_little<Unsigned>(taken.data());
    }
    std::uint64_t varint() {
        start_ = offset();
        const auto value = base::take_varint(rest_);
        if (!value)
            fail("the payload is cut off, or a number in it is above 2^64 or not in its shortest form");
        return value.value_or(0);
    }
    std::int64_t signed_varint() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    digest_width width() {
        const auto width = static_cast<digest_width>(little<std::uint8_t>());
        if (width != digest_width::half && width != digest_width::full) {
            fail("digests of " + std::to_string(bytes_of(width)) + " bytes");
            return digest_width::half;
        }
        return width;
    }
    digest element(digest_width width) {
        const byte_view taken = bytes(bytes_of(width));
        if (taken.empty()) return {};
        return {load_little<std::uint64_t>(taken.data()),
                width == digest_width::full ? load_little<std::uint64_t>(taken.data() + 8) : 0};
    }
    // The size of a set.
    std::uint64_t items() {
        const std::uint64_t items = varint();
        if (items >> 62 != 0) fail("a set of 2^62 items or more");
        return wrong_ ? 0 : items;
    }
    // A count of things that take at least `each` bytes of what follows and `memory` bytes when read.
    std::uint64_t count(std::uint64_t each, std::uint64_t memory, const read_limits& limits) {
        const std::uint64_t number = varint();
        if (number > rest_.size() / each) {
            fail(std::to_string(number) + " entries in the " + std::to_string(rest_.size()) +
                 " bytes that follow");
        } else if (const std::uint64_t most = limits.most(all_.size()); number > most / memory) {
            fail(std::to_string(number) + " entries of " + base::above_limit(number * memory, most));
        }
        return wrong_ ? 0 : number;
    }

    byte_view rest() const { return rest_; }
    std::uint64_t offset() const { return all_.size() - rest_.size(); }
    // What is wrong with the field read last.
    void fail(std::string message) {
        if (!wrong_) wrong_ = error{std::move(message), start_};
        rest_ = {};
    }
    bool ok() const { return !wrong_; }
    // The first thing that was wrong, or that bytes are left over.
    std::optional<error> finish() {
        if (!wrong_ && !rest_.empty()) {
            start_ = offset();
            fail(std::to_string(rest_.size()) + " bytes too many at the end of the payload");
        }
        return wrong_;
    }

  private:
    byte_view all_, rest_;
    std::uint64_t start_ = 0;
    std::optional<error> wrong_;
};

}  // namespace posy::reconcile
