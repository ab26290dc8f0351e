// What a value of an SQL type holds: one message (docs/format.md) of the type's kind, and nothing after it.
//
// A value is validated once, where it enters: value_of_text() and value_of_bytes() accept only what
// read_value() reads. The array of a filter is coded where that saves 3 % or more, so that equal filters are
// equal bytes however they were coded when they came. This file knows nothing of the server, so that it can
// be tested without one.
//
// Cost: a pass over the bytes, and decoding. Thread safety: functions are pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posy/message.hpp"

namespace posy::postgres {

// The most memory for the array of one value: 2^31 bits, over 200 million keys at a rate of 1 %. What is
// written has to be read again, from a dump for example, so writer and reader have the same limit.
inline constexpr std::uint64_t max_array_bytes = std::uint64_t{256} << 20;

using value_bytes = std::vector<std::byte>;

// The text of a value is that of bytea: \x and two hexadecimal digits per byte.
result<value_bytes> bytes_of_text(std::string_view text);
// Precondition: `to` has room for 2 + 2 * bytes.size() characters.
void write_text(byte_view bytes, char* to);

result<message> read_message(byte_view bytes, message_kind wanted);

template <class Body>
result<Body> read_value(byte_view bytes) {
    auto read = read_message(bytes, kind_of_body<Body>);
    if (!read) return read.error();
    return std::move(std::get<Body>(read->body));
}

value_bytes write_value(body_ref, std::uint64_t generation = 0);

// The bytes that are stored for a message that came from elsewhere.
result<value_bytes> value_of_bytes(byte_view message, message_kind wanted);
result<value_bytes> value_of_text(std::string_view text, message_kind wanted);

}  // namespace posy::postgres
