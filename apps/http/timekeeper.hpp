// The time: read, and waited for. It is handed in: whoever starts a server or a client owns a timekeeper and
// passes it down by reference, so that a test moves a clock of its own and never sleeps.
//
// Cost: a virtual call for each reading, which no loop over bytes makes. Thread safety: a timekeeper may be
// used from any thread; an alarm belongs to the thread of its loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>

#include "forward_clock.hpp"

namespace posy::http {

namespace asio = boost::asio;
// All coroutines run on the loops of threads: Asio's types that take any executor cost a tenth of our own
// part of a hit.
using executor = asio::io_context::executor_type;
template <class T>
using task = asio::awaitable<T, executor>;
inline constexpr asio::use_awaitable_t<executor> use_awaitable{};
using clock = std::chrono::steady_clock;
using steady_timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, executor>;
using namespace std::chrono_literals;

class timekeeper {
  public:
    timekeeper() = default;
    timekeeper(const timekeeper&) = delete;
    timekeeper& operator=(const timekeeper&) = delete;
    virtual ~timekeeper() = default;

    // For deadlines and durations: it is never set.
    virtual clock::time_point now() const = 0;
    // In seconds since 1970, as anyone else would tell it: for Date. It may be set back.
    std::int64_t time_of_day() const { return since_1970().count() / 1000; }
    // The same to the millisecond: for logs.
    std::chrono::milliseconds wall_time() const { return since_1970(); }
    // In milliseconds since 1970, never less than before: for ages, intervals and generations.
    std::uint64_t milliseconds() {
        const auto steady = std::chrono::duration_cast<std::chrono::milliseconds>(now().time_since_epoch());
        return static_cast<std::uint64_t>(forward_.at(since_1970().count(), steady.count()));
    }
    std::int64_t seconds() { return static_cast<std::int64_t>(milliseconds() / 1000); }

  private:
    friend class alarm;
    virtual std::chrono::milliseconds since_1970() const = 0;
    // Until then, or until the timer is cancelled. It may end sooner.
    virtual task<void> wait(steady_timer&, clock::time_point then) = 0;

    forward_clock forward_;
};

// The clocks of the system.
class system_time final : public timekeeper {
  public:
    clock::time_point now() const override { return clock::now(); }

  private:
    std::chrono::milliseconds since_1970() const override;
    task<void> wait(steady_timer&, clock::time_point then) override;
};

// Waits for a moment, one wait at a time.
class alarm {
  public:
    alarm(timekeeper& time, asio::io_context& loop) : time_(time), timer_(loop) {}

    // True when the moment has come; false when stop() ended the wait before.
    task<bool> until(clock::time_point then);
    task<bool> pause(clock::duration length) { return until(time_.now() + length); }
    void stop();

  private:
    timekeeper& time_;
    steady_timer timer_;
    bool stopped_ = false;
};

}  // namespace posy::http
