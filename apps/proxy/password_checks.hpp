// Passwords, checked beside the threads that serve: a check takes tens of milliseconds of a core.
//
// What was right is remembered for an hour, as a keyed hash (posy/secret_hash.hpp) beside the line of the
// file that it was right for; so a client waits once, and again when its line changes. Checks are done by a
// thread of their own; few may wait for it, and of one address (IPv6: /64) fewer. An address with many wrong
// passwords has to pause. A guesser therefore costs others nothing but a short wait for their first check.
//
// Thread safety: all calls from any thread; check() on the thread of its worker.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "http/server.hpp"
#include "posy/secret_hash.hpp"
#include "users.hpp"

namespace posy::proxy {

// Shared with the requests that wait, which may end after the proxy.
class password_checks : public std::enable_shared_from_this<password_checks> {
  public:
    static constexpr std::size_t most_waiting = 64;         // checks under way, of all
    static constexpr std::uint64_t most_of_an_address = 8;  // of one address
    static constexpr std::uint64_t free_guesses = 10;       // wrong passwords of an address at once,
    static constexpr double guesses_per_second = 0.5;       // and then
    static constexpr auto memory = std::chrono::hours(1);

    enum class finding : std::uint8_t { right, wrong, too_many_here, too_many };

    ~password_checks();
    // Belongs that password to that user of those?
    http::task<finding> check(http::request&, std::shared_ptr<const users>, std::string name,
                              std::string password);

    std::uint64_t checked() const { return checked_; }
    std::uint64_t found_wrong() const { return wrong_; }
    std::uint64_t refused() const { return refused_; }

  private:
    struct proof {
        digest of;         // of name and password
        std::string hash;  // that it was right for
        http::clock::time_point until;
    };
    struct asking {  // of one address
        std::uint64_t under_way = 0;
        double guesses = free_guesses;
        http::clock::time_point at{};
    };
    class place;

    bool remembers(const users&, const std::string& name, const digest&, http::clock::time_point now);
    void remember(const users&, const std::string& name, const digest&, http::clock::time_point now);
    std::optional<finding> begin(const http::address&, http::clock::time_point now);
    void end(const http::address&, bool was_wrong, http::clock::time_point now);

    std::mutex mutex_;
    std::unordered_map<std::string, proof, hash::by_secret, std::equal_to<>> proofs_;  // one for each user
    std::map<http::address, asking> asking_;
    std::size_t waiting_ = 0;
    std::atomic<std::uint64_t> checked_{0}, wrong_{0}, refused_{0};
    boost::asio::thread_pool pool_{1};
};

}  // namespace posy::proxy
