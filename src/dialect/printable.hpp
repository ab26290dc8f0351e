// A name out of a file, for an error: a terminal obeys what is not text. Letters of UTF-8 stay, everything
// else becomes \x1b, and a long name is cut off.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace posy::foreign {

// The bytes of the character at the front, if it is one of UTF-8 and no control character, else 0.
inline std::size_t printable_at_front(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= ' ' && first != 0x7f && first != '\\' ? 1 : 0;
    const std::size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (size == 0 || size > text.size()) return 0;
    unsigned character = first & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        character = character << 6 | (byte(i) & 0x3fU);
    }
    constexpr unsigned first_letter = 0xa0;  // behind the second set of control characters
    const bool turns_text = (character >= 0x202a && character <= 0x202e) || character == 0x2028 ||
                            character == 0x2029 || (character >= 0x2066 && character <= 0x2069);
    return character < first_letter || turns_text ? 0 : size;
}

inline std::string printable(std::string_view name) {
    constexpr std::size_t most = 100;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::size_t at = 0; at < name.size();) {
        if (text.size() >= most) return text + "...";
        if (const auto size = printable_at_front(name.substr(at)); size != 0) {
            text += name.substr(at, size);
            at += size;
            continue;
        }
        const auto value = static_cast<unsigned char>(name[at++]);
        text += {'\\', 'x', digits[value >> 4], digits[value & 15]};
    }
    return text;
}

}  // namespace posy::foreign
