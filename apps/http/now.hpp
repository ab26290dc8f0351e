// What time it is, since the epoch, for heads, summaries and logs.
#pragma once

#include <chrono>
#include <cstdint>

#include "http/forward_clock.hpp"

namespace posy::http {

namespace detail {
template <class Clock>
std::int64_t milliseconds_of() {
    const auto since = Clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}
}  // namespace detail

// The time of day, as anyone else would tell it: for Date. It may be set back.
inline std::int64_t time_of_day() { return detail::milliseconds_of<std::chrono::system_clock>() / 1000; }

// The same, but never less than before: for ages, intervals and generations.
inline std::uint64_t milliseconds_now() {
    static forward_clock forward;
    return static_cast<std::uint64_t>(forward.at(detail::milliseconds_of<std::chrono::system_clock>(),
                                                 detail::milliseconds_of<std::chrono::steady_clock>()));
}

inline std::int64_t seconds_now() { return static_cast<std::int64_t>(milliseconds_now() / 1000); }

}  // namespace posy::http
