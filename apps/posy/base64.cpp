#include "base64.hpp"

#include <array>

namespace posy::tool {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr unsigned char no_digit = 64;

constexpr auto values = [] {
    std::array<unsigned char, 256> all{};
    all.fill(no_digit);
    for (unsigned char i = 0; i < digits.size(); ++i) all[static_cast<unsigned char>(digits[i])] = i;
    return all;
}();

}  // namespace

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned group = 0;
        for (std::size_t j = 0; j < 3; ++j) {
            group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0);
        }
        for (unsigned j = 0; j < 4; ++j) {
            text += i + j <= bytes.size() ? digits[group >> (18 - 6 * j) & 63] : '=';
        }
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    std::size_t padding = 0;
    while (padding < 2 && text.size() > padding && text[text.size() - 1 - padding] == '=') ++padding;
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    const std::size_t used = text.size() - padding;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        unsigned group = 0;
        for (std::size_t j = i; j < i + 4; ++j) {
            const unsigned char value = j < used ? values[static_cast<unsigned char>(text[j])] : 0;
            if (value == no_digit) return std::nullopt;
            group = group << 6 | value;
        }
        for (unsigned j = 0; j < 3; ++j) bytes += static_cast<char>(group >> (16 - 8 * j) & 0xff);
    }
    // What the padding stands for is nothing.
    for (std::size_t i = 0; i < padding; ++i) {
        if (bytes.back() != 0) return std::nullopt;
        bytes.pop_back();
    }
    return bytes;
}

}  // namespace posy::tool
