#include "posy/typed/window.hpp"

#include <algorithm>

namespace posy::typed {

std::uint64_t ticks(std::chrono::microseconds time) {
    return static_cast<std::uint64_t>(std::max<std::chrono::microseconds::rep>(time.count(), 0));
}

result<window_filter> make_window(std::uint64_t items, double rate, std::chrono::microseconds length,
                                  unsigned generations, const std::optional<hasher>& hash) {
    const auto chosen = hasher_for(hash, static_cast<double>(items), rate);
    if (!chosen) return chosen.error();
    return window_filter::with_rate(items, rate, ticks(length), generations, layout_id::blocked, *chosen);
}

}  // namespace posy::typed
