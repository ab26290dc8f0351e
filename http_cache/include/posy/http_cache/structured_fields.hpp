// Structured fields (RFC 9651): items, lists and dictionaries, parsed exactly, or not at all.
//
// A field that does not parse to its last character is nothing: the caller ignores it. Of keys that are
// repeated the last value counts, in the place of the first. Integers have at most 15 digits, decimals 12 and
// 3; text is ASCII, but for display strings, which are UTF-8. Cost: linear in the text, and a text is a field
// of a message. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace posy::http_cache::structured {

struct decimal {
    std::int64_t thousandths = 0;
    friend bool operator==(const decimal&, const decimal&) = default;
};
struct token {
    std::string text;
    friend bool operator==(const token&, const token&) = default;
};
struct byte_sequence {
    std::string bytes;
    friend bool operator==(const byte_sequence&, const byte_sequence&) = default;
};
struct date {
    std::int64_t seconds = 0;  // since 1970
    friend bool operator==(const date&, const date&) = default;
};
struct display_string {
    std::string text;  // UTF-8
    friend bool operator==(const display_string&, const display_string&) = default;
};

// A std::string is a string of RFC 9651, 3.3.3.
using bare_item =
    std::variant<bool, std::int64_t, decimal, std::string, token, byte_sequence, date, display_string>;
using parameters = std::vector<std::pair<std::string, bare_item>>;

struct item {
    bare_item value;
    structured::parameters parameters{};
};
struct inner_list {
    std::vector<item> items;
    structured::parameters parameters{};
};
using member = std::variant<item, inner_list>;
using list = std::vector<member>;
using dictionary = std::vector<std::pair<std::string, member>>;

std::optional<item> parse_item(std::string_view);
std::optional<list> parse_list(std::string_view);
std::optional<dictionary> parse_dictionary(std::string_view);

}  // namespace posy::http_cache::structured
