// What a service manager hands to a daemon, and what it wants to hear from it: systemd's protocols, which
// others speak, too. They are a few variables of the environment and short datagrams, so no library is
// needed.
//
// Sockets: $LISTEN_FDS of them, from descriptor 3 on, for the process $LISTEN_PID, with the names in
// $LISTEN_FDNAMES. News: a datagram of KEY=VALUE lines to $NOTIFY_SOCKET. Thread safety: inherited_sockets()
// changes the environment, before there are threads; telling, from any thread.
#pragma once

#include <string>
#include <vector>

#include "http/message.hpp"

namespace posy::tool {

// A TCP socket that listens already.
struct inherited_socket {
    int descriptor;
    http::host_port at;
    bool tls;  // its name is "tls"
};

// Those that were meant for this process. Their variables are removed, so that no child takes them for its
// own. Throws failure where the variables make no sense or a descriptor is no socket that can be used.
std::vector<inherited_socket> inherited_sockets();

class service_news {
  public:
    // To $NOTIFY_SOCKET; without it, to nobody.
    service_news();

    void ready(const std::string& status) const;
    void reloading() const;
    void stopping() const;

  private:
    void tell(const std::string& lines) const;
    std::string to_;
};

}  // namespace posy::tool
