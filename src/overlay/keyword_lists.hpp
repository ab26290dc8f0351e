// Small tools of keyword search: lists of documents in order, and their short names.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <tuple>
#include <vector>

#include "overlay/keyword_mail.hpp"

namespace posy::overlay {

inline bool before(const digest& a, const digest& b) {
    return std::tie(a.low, a.high) < std::tie(b.low, b.high);
}

inline std::vector<std::byte> begin(keyword_mail::kind k) { return {static_cast<std::byte>(k)}; }

// The lowest bytes of a digest.
inline std::uint64_t short_name(const digest& d, unsigned bytes) {
    return bytes >= 8 ? d.low : d.low & ((std::uint64_t{1} << 8 * bytes) - 1);
}

// Bytes per name, so that one of `here` documents is mistaken for one of `there` in a thousand queries.
inline unsigned name_bytes(std::uint64_t here, std::uint64_t there) {
    const auto bits = static_cast<unsigned>(std::bit_width(here) + std::bit_width(there)) + 10;
    return std::min(8U, (bits + 7) / 8);
}

// The sum of the digests: two lists with the same short names are equal if their sums are.
inline digest sum_of(const std::vector<digest>& documents) {
    digest sum;
    for (const digest& each : documents) sum = {sum.low + each.low, sum.high + each.high};
    return sum;
}

}  // namespace posy::overlay
