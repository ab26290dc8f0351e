// Arrays as PostgreSQL takes them in binary form (its array_recv): all numbers are 32 bits, high byte first.
//
//   dimensions = 1   has NULLs = 0   type of the elements   number of elements   lower bound = 1
//   then each element: its length and its bytes
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace posy::gates {

// Types of PostgreSQL, whose numbers never change (its pg_type.dat).
enum class postgres_type : std::uint32_t { int8 = 20, int2 = 21, int4 = 23, text = 25, varchar = 1043 };

template <class Unsigned>
void append_big(std::string& to, Unsigned value) {
    for (int shift = static_cast<int>(8 * sizeof value) - 8; shift >= 0; shift -= 8)
        to += static_cast<char>(value >> shift & 0xff);
}

inline void append_element(std::string& to, std::string_view bytes) {
    append_big(to, static_cast<std::uint32_t>(bytes.size()));
    to += bytes;
}

inline void append_element(std::string& to, std::int64_t value) {
    append_big(to, std::uint32_t{8});
    append_big(to, static_cast<std::uint64_t>(value));
}

inline std::string array_head(postgres_type type, std::size_t count) {
    std::string head;
    for (const auto number : {std::uint32_t{1}, std::uint32_t{0}, static_cast<std::uint32_t>(type),
                              static_cast<std::uint32_t>(count), std::uint32_t{1}})
        append_big(head, number);
    return head;
}

// Can a text of a database in UTF-8 be this? No NUL, no byte out of place, nothing encoded longer than it has
// to be, no surrogates, nothing above U+10FFFF (Unicode, table 3-7).
inline bool is_postgres_text(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
        const unsigned char first = byte(i);
        if (first == 0 || (first >= 0x80 && first < 0xc2) || first > 0xf4) return false;
        const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (text.size() - i < length) return false;
        for (std::size_t j = 1; j < length; ++j)
            if ((byte(i + j) & 0xc0) != 0x80) return false;
        if (length >= 3) {
            const unsigned char second = byte(i + 1);
            const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                               (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
            if (wrong) return false;
        }
        i += length;
    }
    return true;
}

}  // namespace posy::gates
