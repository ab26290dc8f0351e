// Where a client may send us: which addresses we connect to because a client named them.
//
// The Internet is open. This machine (the loopback, every address of its interfaces and every network that is
// routed to itself), the wire, private
// networks and reserved addresses are closed unless a network of the list says otherwise: what runs there
// trusts its neighbours, and a proxy would lend its place to all of its clients. The judgement is on
// addresses, after names were resolved; the caller must then connect to the address that was judged. Thread
// safety: immutable.
#pragma once

#include <functional>
#include <string>

#include "networks.hpp"

namespace posy::http {

class destinations {
  public:
    explicit destinations(networks allowed) : allowed_(std::move(allowed)) {}
    // Why we do not go there; empty: we do. Asks the system for this machine's addresses, which come and go.
    std::string refuses(const address&) const;

  private:
    networks allowed_;
};

// The same for one request in place of all clients: why it is not connected to that address; empty: it may
// be.
using permit = std::function<std::string(const address&)>;

// Of all interfaces of this machine, now.
std::vector<address> own_addresses();
// Does the kernel take what is sent there for its own? A machine can have whole networks that no interface
// lists (ip route add local 11.0.0.0/24 dev lo).
bool routed_here(const address&);

}  // namespace posy::http
