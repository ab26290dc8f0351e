// The peers of a node: follows the summary of each, one coroutine a peer, all on the first thread.
//
// A peer is asked with a request that it holds open until it has something new (long poll), or every so
// often. One that fails is asked again after half a second, one, two, … up to 16 seconds, each a bit
// shortened at random so that peers do not fall into step. What makes no sense is counted and dropped; the
// last summary that did make sense stays in use, and its age is known.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/server.hpp"
#include "metrics.hpp"
#include "options.hpp"
#include "posy/overlay/mesh_directory.hpp"

namespace posy::node {

// Bytes that were sent to keep summaries up to date, everything counted: messages by kind, and all that HTTP
// puts around them. Who adds up the nodes of a mesh has what went over its wires.
struct traffic {
    std::atomic<std::uint64_t> whole{0}, changes{0}, squid{0}, questions{0}, framing{0}, hints{0};
};

struct peer {
    peer_address address;
    std::atomic<bool> up{false}, gone{false};
    std::atomic<std::uint64_t> wholes{0}, changes{0}, unchanged{0}, failures{0}, dropped{0};
    std::atomic<std::uint64_t> hits{0}, false_hits{0};  // of requests that were sent there, by a proxy
    std::atomic<double> delay{0};                       // seconds to an answer, smoothed
    std::atomic<http::clock::time_point> rests_until{http::clock::time_point::min()};  // it failed a proxy
    std::unique_ptr<asio::steady_timer> timer;  // of the pause between two questions

    explicit peer(peer_address a) : address(std::move(a)) {}
    void took(std::chrono::duration<double> time) {
        const double before = delay;
        delay = before == 0 ? time.count() : 0.9 * before + 0.1 * time.count();
    }
};

class peers {
  public:
    peers(const options&, http::worker&, mesh_directory&, traffic&);

    // On the worker's thread: from now on these, and no others. They are followed, unless summaries are not
    // what is shared here.
    void know_only(const std::vector<peer_address>&);
    // From any thread: the peer has news.
    void wake(const std::string& name);

    std::vector<std::shared_ptr<peer>> all() const;
    std::shared_ptr<peer> find(const std::string& name) const;
    void describe(metrics&) const;

    // A request to a peer, with what all of them need.
    http::request_head request_to(const peer&, std::string method, std::string target) const;

  private:
    http::task<void> follow(std::shared_ptr<peer>);
    http::task<bool> ask(peer&);  // true: ask again at once
    http::task<void> ask_squid(peer&);
    void drop(peer&, const std::string& why);

    const options& how_;
    http::worker& here_;
    mesh_directory& directory_;
    traffic& traffic_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<peer>> peers_;
};

// "1a2b": the name of a generation in ETag and If-None-Match, with its quotes; and back.
std::string tag_of(std::uint64_t generation);
std::optional<std::uint64_t> generation_of(std::string_view tag);

}  // namespace posy::node
