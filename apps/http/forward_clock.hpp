// A clock that counts as the time of day does but never runs backwards: when that is set back, it goes on
// steadily from where it was. Set forward, it follows. What is dated by it never comes from the future.
//
// Invariant: successive values do not fall. Cost: an atomic read. Thread safety: every call from any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace posy::http {

class forward_clock {
  public:
    // Both in the same unit, read at the same moment; `steady` from a clock that is never set.
    std::int64_t at(std::int64_t time_of_day, std::int64_t steady) {
        auto lead = lead_.load(std::memory_order_relaxed);
        while (time_of_day - steady > lead &&
               !lead_.compare_exchange_weak(lead, time_of_day - steady, std::memory_order_relaxed)) {
        }
        return steady + (time_of_day - steady > lead ? time_of_day - steady : lead);
    }

  private:
    std::atomic<std::int64_t> lead_{INT64_MIN / 2};  // the most that the time of day was ever ahead of steady
};

}  // namespace posy::http
