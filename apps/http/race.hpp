// One connection to the first of several addresses that can be reached: Happy Eyeballs (RFC 8305, 5).
//
// Addresses are tried in the order given, a further one when the last has failed, or has not answered for 250
// ms: a dead address costs that long, and a dead family as well, because families take turns. The first
// connection wins; the others are closed. No more than eight addresses are tried, and all of it has one
// deadline.
//
// Cost: a coroutine and a socket per attempt. Thread safety: belongs to the thread of its loop.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "timekeeper.hpp"

namespace posy::http {

using asio::ip::tcp;

// The same endpoints, families in turn (RFC 8305, 4), beginning with the family of the first.
std::vector<tcp::endpoint> in_turns(std::vector<tcp::endpoint>);

// Shared with its attempts, which may end after it.
class race : public std::enable_shared_from_this<race> {
  public:
    static constexpr std::size_t max_attempts = 8;
    static constexpr auto head_start = 250ms;

    race(asio::io_context& here, timekeeper&, std::vector<tcp::endpoint>, clock::time_point end);

    // Throws system_error, with the name in its text: the last failure, or that time is over.
    task<tcp_socket> run(const std::string& name);

  private:
    static task<void> attempt(std::shared_ptr<race> self, std::size_t number);
    task<void> connect(std::size_t number);
    void close();

    asio::io_context& here_;
    timekeeper& time_;
    std::vector<tcp::endpoint> endpoints_;
    clock::time_point end_;
    alarm next_;
    std::vector<std::shared_ptr<tcp_socket>> sockets_;  // by attempt; null: it has failed
    std::size_t open_ = 0;
    std::optional<std::size_t> winner_;
    bool over_ = false;
    boost::system::error_code failed_;
};

}  // namespace posy::http
