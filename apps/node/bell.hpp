// A bell that coroutines of any thread can wait for, and any thread can ring: what a long poll waits for.
#pragma once

#include <boost/asio/post.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "http/server.hpp"

namespace posy::node {

class bell {
  public:
    // How often it has rung.
    std::uint64_t rings() const {
        const std::lock_guard lock(mutex_);
        return rings_;
    }

    // Until it rings, or until `end`; not at all if it has rung more than `heard` times already.
    http::task<void> wait(http::worker& here, http::clock::time_point end, std::uint64_t heard) {
        auto alarm = std::make_shared<http::alarm>(here.time, here.context);
        {
            const std::lock_guard lock(mutex_);
            if (rings_ != heard) co_return;
            waiting_.push_back({&here, alarm});
        }
        co_await alarm->until(end);
        const std::lock_guard lock(mutex_);
        waiting_.remove_if([&](const waiter& w) { return w.alarm == alarm; });
    }

    void ring() {
        const std::lock_guard lock(mutex_);
        ++rings_;
        for (const auto& [here, alarm] : waiting_)
            http::asio::post(here->context, [held = alarm] { held->stop(); });
        waiting_.clear();
    }

  private:
    struct waiter {
        http::worker* here;
        std::shared_ptr<http::alarm> alarm;
    };
    mutable std::mutex mutex_;
    std::uint64_t rings_ = 0;
    std::list<waiter> waiting_;
};

}  // namespace posy::node
