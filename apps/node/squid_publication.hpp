// The set as a cache digest for Squid, made once per generation and sent in the pieces that Squid can take.
//
// Cost: two passes over all keys for the first request of a generation, on the given pool.
// Thread safety: send() from any thread, if the pool has one thread: that is where the digest is made.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <vector>

#include "http/server.hpp"
#include "local_set.hpp"

namespace posy::node {

inline constexpr std::string_view squid_path = "/squid-internal-periodic/store_digest";

class squid_publication {
  public:
    squid_publication(const local_set& set, local_set::key_source keys, asio::thread_pool& one_thread)
        : set_(set), keys_(std::move(keys)), pool_(one_thread) {}

    struct sent {
        std::size_t head = 0, body = 0;  // bytes
    };
    http::task<sent> send(http::request&);

  private:
    using bytes = std::shared_ptr<const std::vector<std::byte>>;
    bytes make();

    const local_set& set_;
    local_set::key_source keys_;
    asio::thread_pool& pool_;
    std::uint64_t generation_ = 0;
    bytes digest_;
};

}  // namespace posy::node
