// The fields of the payloads of a reconciliation, written and read.
#pragma once

#include <string>
#include <vector>

#include "base/reader.hpp"
#include "base/varint.hpp"
#include "posy/reconcile/digest_set.hpp"

namespace posy::reconcile {

// 0, −1, 1, −2, … as 0, 1, 2, 3, …: small numbers of either sign take few bytes.
inline void put_signed_varint(std::vector<std::byte>& out, std::int64_t value) {
    base::put_varint(out, static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

inline void put_digest(std::vector<std::byte>& out, const digest& d, digest_width width) {
    base::put_little(out, d.low);
    if (width == digest_width::full) base::put_little(out, d.high);
}

class payload_reader : public base::reader {
  public:
    using reader::reader;

    std::int64_t signed_varint() {
        const std::uint64_t value = varint();
        return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    digest_width width() {
        const auto width = static_cast<digest_width>(byte());
        if (width == digest_width::half || width == digest_width::full) return width;
        fail("digests of " + std::to_string(bytes_of(width)) + " bytes");
        return digest_width::half;
    }
    digest element(digest_width width) {
        const byte_view taken = take(bytes_of(width));
        if (taken.empty()) return {};
        return {load_little<std::uint64_t>(taken.data()),
                width == digest_width::full ? load_little<std::uint64_t>(taken.data() + 8) : 0};
    }
    // The size of a set.
    std::uint64_t items() {
        const std::uint64_t items = varint();
        if (items >> 62 != 0) fail("a set of 2^62 items or more");
        return wrong() ? 0 : items;
    }
    // A count of things that take at least `each` bytes of what follows and `memory` bytes when read.
    std::uint64_t count(std::uint64_t each, std::uint64_t memory, const read_limits& limits) {
        const std::uint64_t number = varint();
        if (number > left() / each) {
            fail(std::to_string(number) + " entries in the " + std::to_string(left()) + " bytes that follow");
        } else if (const std::uint64_t most = limits.most(offset() + left()); number > most / memory) {
            fail_above_limit(std::to_string(number) + " entries", number * memory, most);
        }
        return wrong() ? 0 : number;
    }
};

}  // namespace posy::reconcile
