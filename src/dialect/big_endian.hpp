// Numbers as Java and the network write them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "posy/bytes.hpp"

namespace posy::foreign {

template <class Unsigned>
Unsigned load_big(const std::byte* from) {
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value = static_cast<Unsigned>(value << 8 | std::to_integer<Unsigned>(from[i]));
    return value;
}

template <class Unsigned>
void append_big(std::vector<std::byte>& to, Unsigned value) {
    for (std::size_t i = sizeof value; i-- > 0;) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

template <class Unsigned>
void append_little(std::vector<std::byte>& to, Unsigned value) {
    to.resize(to.size() + sizeof value);
    store_little(to.data() + to.size() - sizeof value, value);
}

inline void append(std::vector<std::byte>& to, byte_view more) {
    to.insert(to.end(), more.begin(), more.end());
}

// Words of 64 bits in the other order; there are whole words.
inline std::vector<std::byte> with_words_turned(byte_view words) {
    std::vector<std::byte> turned(words.begin(), words.end());
    for (std::size_t at = 0; at + 8 <= turned.size(); at += 8)
        std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(at),
                     turned.begin() + static_cast<std::ptrdiff_t>(at + 8));
    return turned;
}

}  // namespace posy::foreign
