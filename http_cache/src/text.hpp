// Small things about text that every part of the cache needs: HTTP is ASCII, whatever the locale says.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "posy/http_cache/fields.hpp"

namespace posy::http_cache {

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

inline void append_lower_case(std::string& to, std::string_view text) {
    const auto before = to.size();
    to += text;
    for (std::size_t i = before; i < to.size(); ++i) to[i] = lower(to[i]);
}

inline std::string lower_case(std::string_view text) {
    std::string result;
    append_lower_case(result, text);
    return result;
}

// Without the white space of HTTP at its ends.
inline std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Is it one of the names?
template <class Names>
bool among(const Names& names, std::string_view name) {
    return std::ranges::any_of(names, [&](std::string_view each) { return same_name(each, name); });
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number of decimal digits and nothing else; what is above `most` becomes `most`.
inline std::optional<std::int64_t> decimal(std::string_view digits, std::int64_t most) {
    if (digits.empty()) return std::nullopt;
    for (const char c : digits) {
        if (!is_digit(c)) return std::nullopt;
    }
    std::int64_t value = 0;
    const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return wrong != std::errc{} || value > most ? most : value;
}

}  // namespace posy::http_cache
