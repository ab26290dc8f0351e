// The clock on the wall, as heads, summaries and logs count it: since the epoch.
#pragma once

#include <chrono>
#include <cstdint>

namespace posy::http {

inline std::uint64_t milliseconds_now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

inline std::int64_t seconds_now() { return static_cast<std::int64_t>(milliseconds_now() / 1000); }

}  // namespace posy::http
