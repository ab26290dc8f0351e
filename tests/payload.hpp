// What every type with append_to() and parse() has to keep: one way to write it, no way to break it.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "hex.hpp"
#include "posy/bytes.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy {

template <class T>
std::vector<std::byte> payload_of(const T& value) {
    std::vector<std::byte> bytes;
    value.append_to(bytes);
    return bytes;
}

constexpr auto plenty = read_limits::exactly(std::uint64_t{1} << 30);

// The bytes come back as they were; every prefix, and bytes behind them, are refused with an offset inside; a
// mutation is refused or parses into something that can be written and read again (and, with `canonical`,
// whose bytes are those very ones).
template <class T>
void expect_robust(const T& value, bool canonical = true) {
    const auto bytes = payload_of(value);
    const hasher hash = value.hash();
    const auto again = T::parse(hash, bytes, plenty);
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(hex(payload_of(*again)), hex(bytes));

    const auto refused = [&](byte_view changed) {
        const auto parsed = T::parse(hash, changed, plenty);
        EXPECT_FALSE(parsed) << hex(changed);
        if (parsed || !parsed.error().offset) return;
        EXPECT_LE(*parsed.error().offset, changed.size()) << parsed.error().message;
    };
    const std::size_t step = bytes.size() / 2000 + 1;
    for (std::size_t size = 0; size < bytes.size(); size += step) refused(byte_view(bytes).first(size));
    auto longer = bytes;
    longer.push_back({});
    refused(longer);

    std::mt19937_64 random(1);
    for (int round = 0; round < 3000; ++round) {
        auto changed = bytes;
        // The parameters come first and matter most.
        const std::size_t at = random() % std::min<std::size_t>(changed.size(), round % 2 ? 24 : ~0u);
        changed[at] = static_cast<std::byte>(random());
        const auto parsed = T::parse(hash, changed, read_limits::exactly(1 << 20));
        if (!parsed) continue;
        const auto written = payload_of(*parsed);
        if (canonical) {
            ASSERT_EQ(hex(written), hex(changed));
        }
        ASSERT_TRUE(T::parse(hash, written, plenty)) << hex(changed);
    }
}

}  // namespace posy
