// A filter that someone publishes at a URL, a node's summary or a file on any web server: fetched once, or
// followed.
//
// A follower holds the last version that it could put together and keeps it whatever comes. It asks as
// docs/node.md has it: with a condition, so that nothing new costs a head; for deltas, which a node sends and
// others do not; and patiently, so that a node answers when there is news. A server that knows nothing of
// this sends the whole whenever it was modified, or every time: a whole is compared with what is held, so
// that the same one again is no news.
//
// Thread safety: a follower asks on the thread of its worker; use() may be called from any.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "http/server.hpp"
#include "posy/subscriber.hpp"

namespace posy::node {

struct remote {
    http::url where;
    std::string token;                                 // sent as a bearer's, unless empty
    std::string tls_authority;                         // PEM file; empty: the system's authorities
    std::chrono::milliseconds timeout{30'000};         // without a byte
    std::chrono::milliseconds max_time{600'000};       // for the whole answer, if that is more
    std::uint64_t max_bytes = std::uint64_t{1} << 30;  // of the answer, and of the array in it
    read_limits limits{};                              // of the array, if that is less
};

// The body of the answer. Throws std::runtime_error, which says what to do.
std::string fetch(const remote&, http::timekeeper&);

class follower {
  public:
    follower(http::worker&, remote);

    // Goes on from a message that was kept. False if a follower cannot hold such a thing.
    bool resume(byte_view message);

    // One question, which the server may hold open for `wait` until there is something new. True if there
    // was. Throws std::runtime_error; what is held stays.
    http::task<bool> ask(std::chrono::seconds wait);

    // What is held, on the thread of the worker; null and 0 before the first answer.
    const bloom_filter* filter() const { return held_.filter(); }
    std::uint64_t generation() const { return held_.generation().value_or(0); }
    // The size of the last message, and whether it was a delta.
    std::size_t bytes() const { return bytes_; }
    bool by_delta() const { return by_delta_; }
    // Is it a node, which waits for news with its answer? Its tag then is the generation of its message.
    bool holds_requests() const;

    // Calls with what is held, which stays as it is meanwhile. Precondition: filter() is not null.
    void use(const std::function<void(const bloom_filter&)>&) const;

  private:
    http::request_head question(std::chrono::seconds wait) const;
    bool take_whole(byte_view message);
    bool take_delta(byte_view message);
    void remember_validators(const http::response_head&);
    void forget_validators();

    http::worker& here_;
    remote from_;
    mutable std::mutex mutex_;  // of held_, where it changes and where another thread reads
    subscriber held_;
    std::string tag_, modified_;  // of what is held, as the server said; empty: only the whole will do
    std::size_t bytes_ = 0;
    bool by_delta_ = false;
};

}  // namespace posy::node
