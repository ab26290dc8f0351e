// Bytes in and out: the one place where byte order is spelled. Everything Posy writes is little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace posy {

using byte_view = std::span<const std::byte>;

inline byte_view as_byte_view(std::string_view text) { return std::as_bytes(std::span(text)); }

namespace detail {
// The value whose bytes in memory are `value`'s in little-endian order, and back (it is its own inverse).
template <class Unsigned>
constexpr Unsigned little_endian(Unsigned value) {
    if constexpr (std::endian::native == std::endian::big && sizeof(Unsigned) > 1) {
        Unsigned swapped = 0;
        for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
            swapped = static_cast<Unsigned>(swapped << 8 | (value & 0xff));
            value = static_cast<Unsigned>(value >> 8);
        }
        return swapped;
    }
    return value;
}
}  // namespace detail

template <class Unsigned>
Unsigned load_little(const std::byte* from) {
    Unsigned value;
    std::memcpy(&value, from, sizeof value);
    return detail::little_endian(value);
}

template <class Unsigned>
void store_little(std::byte* to, Unsigned value) {
    value = detail::little_endian(value);
    std::memcpy(to, &value, sizeof value);
}

}  // namespace posy
