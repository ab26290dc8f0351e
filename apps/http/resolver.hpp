// Names to addresses, off the threads that serve, by a deadline.
//
// The system's resolver blocks, for ten seconds and more where no server answers for a name, and cannot be
// told to stop. So it is asked on threads of its own, which are started when they are needed and end when
// they are not. Names of our configuration and names that clients wrote have separate threads and queues: a
// client that asks for dead names holds up the names of other clients at most, and no peer. One lookup is
// made for all who wait for a name; one without waiters leaves the queue. A failure is remembered for a
// moment.
//
// Cost: a thread per lookup under way, at most `threads` on each side. Thread safety: all calls from any
// thread. A thread that still waits for the system when the resolver is gone ends by itself: it is not
// joined, and uses nothing that was handed in.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport.hpp"

namespace posy::http {

// Who chose the server: our configuration, or a client, who may not send us everywhere. Neither gets a
// connection that was made for the other.
enum class chosen_by { us, client };

class resolver {
  public:
    using addresses = std::vector<asio::ip::address>;
    // Blocks. Nothing: the name has no address, or no server answers.
    using question = std::function<addresses(const std::string& name)>;

    struct limits {
        std::size_t threads = 64;      // on either side
        std::size_t queued = 256;      // names that clients wrote, beside those being looked up: 503 beyond
        std::size_t addresses = 16;    // of one name; a client chooses it, and each is judged
        clock::duration forget = 5s;   // a failure
        std::size_t failures = 1024;   // that are remembered
        clock::duration linger = 10s;  // a thread without work
    };

    explicit resolver(timekeeper& time) : resolver(time, limits{}, ask_system) {}
    resolver(timekeeper&, const limits&, question);
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;
    ~resolver();

    // Throws system_error when the name has no address or it does not come in time, and refusal(503) when
    // too many wait already.
    task<addresses> resolve(asio::io_context& here, std::string name, chosen_by, clock::time_point end);

    static addresses ask_system(const std::string& name);

  private:
    struct desk;  // one side
    std::array<std::shared_ptr<desk>, 2> desks_;
};

}  // namespace posy::http
