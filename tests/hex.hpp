// Bytes as text, to compare and to write down.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "posy/bytes.hpp"

namespace posy {

inline std::string hex(byte_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte b : bytes) {
        text += digits[std::to_integer<unsigned>(b) >> 4];
        text += digits[std::to_integer<unsigned>(b) & 15];
    }
    return text;
}

inline std::vector<std::byte> unhex(std::string_view text) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2)
        bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    return bytes;
}

}  // namespace posy
