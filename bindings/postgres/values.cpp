#include "values.hpp"

#include <cmath>

namespace posy::postgres {
namespace {

constexpr int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Where from 40 % to 60 % of the bits are ones, coding would save less than 3 %, and take most of the time to
// read a value again.
bool worth_coding(body_ref body) {
    const auto pointer = body.get();
    const auto* const* filter = std::get_if<const bloom_filter*>(&pointer);
    return !filter || std::abs((*filter)->fill() - 0.5) > 0.1;
}

}  // namespace

result<value_bytes> bytes_of_text(std::string_view text) {
    if (!text.starts_with("\\x"))
        return error::invalid(
            R"(the text does not begin with \x; write the bytes of a message as bytea does)");
    if (text.size() % 2 != 0)
        return error::invalid("the number of hexadecimal digits is odd; the end of the text may be missing");
    value_bytes bytes;
    bytes.reserve(text.size() / 2 - 1);
    for (std::size_t i = 2; i < text.size(); i += 2) {
        const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
        if (high < 0 || low < 0)
            return error::invalid("character " + std::to_string(high < 0 ? i + 1 : i + 2) +
                                  " is not a hexadecimal digit");
        bytes.push_back(static_cast<std::byte>(high << 4 | low));
    }
    return bytes;
}

void write_text(byte_view bytes, char* to) {
    constexpr std::string_view digits = "0123456789abcdef";
    *to++ = '\\';
    *to++ = 'x';
    for (const std::byte b : bytes) {
        *to++ = digits[std::to_integer<unsigned>(b >> 4)];
        *to++ = digits[std::to_integer<unsigned>(b & std::byte{15})];
    }
}

result<message> read_message(byte_view bytes, message_kind wanted) {
    auto read = from_bytes(bytes, read_limits::exactly(max_array_bytes));
    if (!read) return read;
    if (kind_of(read->body) != wanted)
        return error::invalid("this is a message of kind " + std::string(name_of(kind_of(read->body))) +
                              ", and one of kind " + std::string(name_of(wanted)) + " is needed");
    if (read->size != bytes.size())
        return error::damaged("more bytes follow the message; a value holds one message", read->size);
    return read;
}

value_bytes write_value(body_ref body, std::uint64_t generation) {
    return to_bytes(body,
                    {.want = worth_coding(body) ? coding::fastest : coding::raw, .generation = generation});
}

result<value_bytes> value_of_bytes(byte_view message, message_kind wanted) {
    const auto read = read_message(message, wanted);
    if (!read) return read.error();
    return write_value(read->body, read->generation);
}

result<value_bytes> value_of_text(std::string_view text, message_kind wanted) {
    const auto bytes = bytes_of_text(text);
    if (!bytes) return bytes.error();
    return value_of_bytes(*bytes, wanted);
}

}  // namespace posy::postgres
