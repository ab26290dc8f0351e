#include "race.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace posy::http {

std::vector<tcp::endpoint> in_turns(std::vector<tcp::endpoint> all) {
    if (all.empty()) return all;
    const auto family = all.front().protocol();
    const auto second = std::ranges::stable_partition(
        all, [&](const tcp::endpoint& each) { return each.protocol() == family; });
    std::vector<tcp::endpoint> turns;
    auto one = all.begin();
    auto other = second.begin();
    while (one != second.begin() || other != all.end()) {
        if (one != second.begin()) turns.push_back(*one++);
        if (other != all.end()) turns.push_back(*other++);
    }
    return turns;
}

race::race(asio::io_context& here, timekeeper& time, std::vector<tcp::endpoint> endpoints,
           clock::time_point end)
    : here_(here), time_(time), endpoints_(std::move(endpoints)), end_(end), next_(time, here) {
    if (endpoints_.size() > max_attempts) endpoints_.resize(max_attempts);
}

task<void> race::attempt(std::shared_ptr<race> self, std::size_t number) { co_await self->connect(number); }

task<void> race::connect(std::size_t number) {
    const auto socket = sockets_[number];
    boost::system::error_code failed;
    co_await socket->async_connect(endpoints_[number], asio::redirect_error(use_awaitable, failed));
    --open_;
    if (over_ || winner_) co_return;
    if (failed) {
        failed_ = failed;
        sockets_[number] = nullptr;
    } else {
        winner_ = number;
    }
    next_.stop();
}

// Those that were not the first; what they wait for ends.
void race::close() {
    over_ = true;
    for (const auto& each : sockets_) {
        boost::system::error_code ignored;
        if (each) each->close(ignored);
    }
}

task<tcp_socket> race::run(const std::string& name) {
    struct closing {  // however the coroutine ends; also when its loop is shut down
        race& of;
        ~closing() { of.close(); }
    };
    const closing after{*this};
    while (!winner_ && time_.now() < end_) {
        const bool more = sockets_.size() < endpoints_.size();
        if (!more && open_ == 0) break;
        if (more) {
            sockets_.push_back(std::make_shared<tcp_socket>(here_));
            ++open_;
            asio::co_spawn(here_, attempt(shared_from_this(), sockets_.size() - 1), asio::detached);
        }
        const bool last = sockets_.size() == endpoints_.size();
        co_await next_.until(last ? end_ : std::min(end_, time_.now() + head_start));
    }
    if (winner_) co_return std::move(*std::exchange(sockets_[*winner_], nullptr));
    if (open_ > 0) failed_ = asio::error::timed_out;
    throw boost::system::system_error(failed_, "cannot connect to " + name);
}

}  // namespace posy::http
