// A bell that coroutines of any thread can wait for, and any thread can ring: what a long poll waits for.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "http/transport.hpp"

namespace posy::node {

class bell {
  public:
    // How often it has rung.
    std::uint64_t rings() const {
        const std::lock_guard lock(mutex_);
        return rings_;
    }

    // Until it rings, or for `time` at most; not at all if it has rung more than `heard` times already.
    http::task<void> wait(http::asio::io_context& here, http::clock::duration time, std::uint64_t heard) {
        auto timer = std::make_shared<http::asio::steady_timer>(here, time);
        {
            const std::lock_guard lock(mutex_);
            if (rings_ != heard) co_return;
            waiting_.push_back({&here, timer});
        }
        boost::system::error_code rung;
        co_await timer->async_wait(http::asio::redirect_error(http::asio::use_awaitable, rung));
        const std::lock_guard lock(mutex_);
        waiting_.remove_if([&](const waiter& w) { return w.timer == timer; });
    }

    void ring() {
        const std::lock_guard lock(mutex_);
        ++rings_;
        for (const auto& [context, timer] : waiting_)
            http::asio::post(*context, [held = timer] { held->cancel(); });
        waiting_.clear();
    }

  private:
    struct waiter {
        http::asio::io_context* context;
        std::shared_ptr<http::asio::steady_timer> timer;
    };
    mutable std::mutex mutex_;
    std::uint64_t rings_ = 0;
    std::list<waiter> waiting_;
};

}  // namespace posy::node
