// So many at once, and one more after each interval: a limit for what a stranger may make us do.
//
// Time is handed in, in milliseconds. Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>

namespace posy::overlay {

class allowance {
  public:
    allowance(double burst, std::uint64_t interval)
        : burst_(burst), interval_(static_cast<double>(std::max<std::uint64_t>(interval, 1))), left_(burst) {}

    bool any(std::uint64_t now) {
        if (now > last_) left_ = std::min(burst_, left_ + static_cast<double>(now - last_) / interval_);
        last_ = std::max(last_, now);
        return left_ >= 1;
    }
    // False, and nothing is taken, if none is left.
    bool take(std::uint64_t now) {
        const bool have = any(now);
        if (have) left_ -= 1;
        return have;
    }

  private:
    double burst_, interval_, left_;
    std::uint64_t last_ = 0;
};

}  // namespace posy::overlay
