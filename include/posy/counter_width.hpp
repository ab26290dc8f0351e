// How large the counters of a sketch are. 32 bits hold 4,294,967,295 and are enough to count occurrences;
// sums of weights, such as bytes, take 64.
#pragma once

#include <cstdint>
#include <string_view>

namespace posy {

// In bytes.
enum class counter_width : std::uint8_t { bits_32 = 4, bits_64 = 8 };
constexpr std::string_view name_of(counter_width member) {
    switch (member) {
        case counter_width::bits_32:
            return "32 bits";
        case counter_width::bits_64:
            return "64 bits";
    }
    return {};
}

constexpr std::uint64_t bytes_of(counter_width width) { return static_cast<std::uint64_t>(width); }

// A counter stops at this value, which then means "at least this".
constexpr std::uint64_t largest_of(counter_width width) {
    return ~std::uint64_t{0} >> (64 - 8 * bytes_of(width));
}

}  // namespace posy
