// Unsigned LEB128: seven bits per byte, least group first, the high bit on all bytes but the last.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::base {

inline void put_varint(std::vector<std::byte>& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
    to.push_back(static_cast<std::byte>(value));
}

// How many bytes it takes.
constexpr unsigned varint_size(std::uint64_t value) {
    unsigned bytes = 1;
    for (; value >= 0x80; value >>= 7) ++bytes;
    return bytes;
}

// Takes one from the front of `from`, or nothing if it is cut off, above 2^64 − 1 or not in its shortest
// form.
inline std::optional<std::uint64_t> take_varint(byte_view& from) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < from.size() && i < 10; ++i) {
        const auto group = std::to_integer<std::uint64_t>(from[i]);
        if (i == 9 && group > 1) return std::nullopt;
        value |= (group & 0x7f) << 7 * i;
        if (group < 0x80) {
            if (group == 0 && i > 0) return std::nullopt;
            from = from.subspan(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

}  // namespace posy::base
