// Something done again and again while a command waits for its input: on a thread of its own, which ends with
// the object. The work takes whatever lock it needs. If it fails, the user is told, and it is tried again.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace posy::tool {

class periodically {
  public:
    // An interval of 0 is never.
    periodically(std::chrono::microseconds interval, std::function<void()> work) {
        if (interval.count() == 0) return;
        thread_ = std::jthread([this, interval, work = std::move(work)](const std::stop_token& end) {
            std::unique_lock lock(mutex_);
            while (!ended_.wait_for(lock, end, interval, [&] { return end.stop_requested(); })) attempt(work);
        });
    }

  private:
    static void attempt(const std::function<void()>& work) {
        try {
            work();
        } catch (const std::exception& e) {
            fmt::print(stderr, "posy: warning: {}\n", e.what());
        }
    }

    std::mutex mutex_;
    std::condition_variable_any ended_;
    std::jthread thread_;  // last: it ends before the others
};

}  // namespace posy::tool
