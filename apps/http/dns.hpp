// Questions to name servers, by c-ares: sockets that never block, on a loop and a thread of their own.
//
// The hosts file comes first, then the servers that were named or those of /etc/resolv.conf, which is read
// again when it changes. IPv4 and IPv6 addresses are asked for at the same time. When one kind is there, the
// other has 50 ms left (RFC 8305, 3): a server that is silent about one kind delays nobody. A name with a dot
// is asked for as it is; the search list is for those without. An answer that is too long for a datagram
// comes by TCP.
//
// A question that nobody answers ends after `patience`, 2 and 4 times that, for each server: 7 seconds with
// one server. Cost: two datagrams per name, and about 1 KB while it waits. Thread safety: ask() from any
// thread; answers come on the thread of this object, or from its destructor.
#pragma once

#include <boost/asio/ip/udp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "name_cache.hpp"
#include "timekeeper.hpp"

namespace posy::http {

class dns {
  public:
    using servers = std::vector<asio::ip::udp::endpoint>;
    using done = std::function<void(name_answer)>;

    static constexpr auto patience = 1s;
    static constexpr int tries = 3;
    static constexpr auto resolution_delay = 50ms;

    // No servers: those of the system.
    dns(timekeeper&, servers);
    dns(const dns&) = delete;
    dns& operator=(const dns&) = delete;
    // Ends what is open: it is answered as by silent servers.
    ~dns();

    void ask(std::string name, done);

  private:
    struct desk;
    std::unique_ptr<desk> desk_;
};

}  // namespace posy::http
