// Names to addresses, by a deadline: what is known, else one question for all who wait for a name.
//
// Names of our configuration and names that clients wrote are kept apart, with questions, threads and memory
// of their own: a client that asks for dead names holds up no peer. Nor does it hold up other clients: a
// question waits for nothing but its answer, and a dead name is one of `under_way` until name servers are
// given up on (dns.hpp). Beyond that limit a name whose addresses were known is still answered, others get
// 503. What was learnt is kept by its lifetime (name_cache.hpp).
//
// Cost: of a known name a lock and a copy of its addresses. Thread safety: all calls from any thread.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dns.hpp"
#include "transport.hpp"

namespace posy::http {

// Who chose the server: our configuration, or a client, who may not send us everywhere. Neither gets a
// connection that was made for the other.
enum class chosen_by { us, client };

class resolver {
  public:
    using addresses = std::vector<asio::ip::address>;
    using done = dns::done;
    // Does not block; `done` is called once, from any thread.
    using question = std::function<void(const std::string& name, chosen_by, done)>;

    struct limits {
        std::size_t under_way = 4096;  // names that clients wrote: 503 beyond
        name_cache::limits known{};    // on either side
    };
    struct counts {
        std::atomic<std::uint64_t> known{0}, asked{0}, failed{0}, refused{0};
    };

    explicit resolver(timekeeper& time, dns::servers = {});
    resolver(timekeeper&, const limits&, question);
    resolver(const resolver&) = delete;
    resolver& operator=(const resolver&) = delete;
    ~resolver();

    // Throws system_error when the name has no address or it does not come in time, and refusal(503) when
    // too many wait already.
    task<addresses> resolve(asio::io_context& here, std::string name, chosen_by, clock::time_point end);

    const counts& counted() const { return *counts_; }
    std::size_t under_way() const;  // on both sides

  private:
    struct desk;  // one side
    std::shared_ptr<counts> counts_ = std::make_shared<counts>();
    std::array<std::shared_ptr<desk>, 2> desks_;
};

}  // namespace posy::http
