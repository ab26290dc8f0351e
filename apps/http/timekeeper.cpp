#include "timekeeper.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace posy::http {

std::chrono::milliseconds system_time::since_1970() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
}

task<void> system_time::wait(steady_timer& timer, clock::time_point then) {
    timer.expires_at(then);
    boost::system::error_code cancelled;
    co_await timer.async_wait(asio::redirect_error(use_awaitable, cancelled));
}

task<bool> alarm::until(clock::time_point then) {
    stopped_ = false;
    while (!stopped_ && time_.now() < then) co_await time_.wait(timer_, then);
    co_return !stopped_;
}

void alarm::stop() {
    stopped_ = true;
    timer_.cancel();
}

}  // namespace posy::http
