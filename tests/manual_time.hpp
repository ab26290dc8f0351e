// A clock that a test moves by hand. Who waits for a moment is woken when the clock passes it, on the thread
// of its loop; nobody sleeps.
//
// A test knows by sleepers() that what was woken is done: it waits again. Thread safety: all calls from any
// thread. The clock outlives the loops whose alarms use it.
#pragma once

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <mutex>

#include "http/timekeeper.hpp"

namespace posy {

class manual_time final : public http::timekeeper {
  public:
    using clock = http::clock;
    static constexpr std::chrono::milliseconds start{1'700'000'000'000};  // since 1970

    clock::time_point now() const override {
        const std::lock_guard lock(mutex_);
        return now_;
    }
    void advance(clock::duration time) {
        const std::lock_guard lock(mutex_);
        now_ += time;
        for (const auto& [number, each] : waiting_) {
            if (each.until > now_) continue;
            http::asio::post(each.timer->get_executor(), [this, number = number] { wake(number); });
        }
    }
    // The next moment that someone waits for, if it has not come.
    clock::time_point next() const {
        const std::lock_guard lock(mutex_);
        auto first = clock::time_point::max();
        for (const auto& [number, each] : waiting_) {
            if (each.until > now_) first = std::min(first, each.until);
        }
        return first;
    }
    // How many wait for a moment that has not come.
    std::size_t sleepers() const {
        const std::lock_guard lock(mutex_);
        std::size_t count = 0;
        for (const auto& [number, each] : waiting_) count += each.until > now_;
        return count;
    }

  private:
    struct sleeper {
        clock::time_point until;
        http::steady_timer* timer;
    };

    std::chrono::milliseconds since_1970() const override {
        return start + std::chrono::duration_cast<std::chrono::milliseconds>(now() - clock::time_point());
    }
    http::task<void> wait(http::steady_timer& timer, clock::time_point then) override {
        struct place {  // left however the wait ends; also when its loop is shut down
            manual_time& of;
            std::uint64_t number;
            ~place() {
                const std::lock_guard lock(of.mutex_);
                of.waiting_.erase(number);
            }
        };
        const place p{*this, enter({then, &timer})};
        if (now() >= then) co_return;
        timer.expires_at(clock::time_point::max());
        boost::system::error_code woken;
        co_await timer.async_wait(http::asio::redirect_error(http::use_awaitable, woken));
    }
    std::uint64_t enter(const sleeper& who) {
        const std::lock_guard lock(mutex_);
        waiting_[next_] = who;
        return next_++;
    }
    void wake(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        if (const auto found = waiting_.find(number); found != waiting_.end()) found->second.timer->cancel();
    }

    mutable std::mutex mutex_;
    clock::time_point now_{};
    std::map<std::uint64_t, sleeper> waiting_;
    std::uint64_t next_ = 0;
};

}  // namespace posy
