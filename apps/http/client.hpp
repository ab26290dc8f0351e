// Requests to other servers, over connections that are kept and used again.
//
// Every exchange has one deadline over all of it: resolving the name, trying its addresses, the handshake,
// the head of the answer. Kept connections are few, without buffers, and closed by the watch when their time
// is over.
//
// A client belongs to one thread. An exchange that fails on a kept connection before a byte of the answer
// came is tried once more on a new one: the server had closed it (RFC 9112, 9.3.1).
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "destinations.hpp"
#include "kept.hpp"
#include "message.hpp"
#include "resolver.hpp"
#include "transport.hpp"

namespace posy::http {

// An open connection to a server, with its reader.
struct channel {
    std::shared_ptr<transport> connection;  // shared with a body that is still being sent
    std::unique_ptr<http::reader> reader;
    std::string address;  // the name it is kept under
    bool used = false;    // it has carried an exchange before
    unsigned rules = 0;   // under which it was made: the client's number of them
};

using response_parser = parser<response_head>;

inline constexpr unsigned max_interim = 16;  // answers (1xx) before the one that counts

// Hears every interim answer, and says whether it is the one that counts: of those, only 101 can be.
using interim_hearer = std::function<task<bool>(response_head&)>;

// The head of the answer that counts; null when the connection ended before it began. Interim answers are
// passed over if nobody wants to hear them. `bare`: no body follows, whatever the head says. Throws
// refusal(502).
task<std::unique_ptr<response_parser>> final_head(reader&, limits, bool bare,
                                                  const interim_hearer* = nullptr);

struct answer {
    response_head head;
    std::string body;
    std::uint64_t sent = 0, received = 0;  // bytes on the connection, heads and all
};

// An exchange whose answer has begun: its head is here, its body is still to be read from the channel.
struct begun {
    channel on;
    std::unique_ptr<response_parser> parsing;
    std::uint64_t sent = 0, read_before = 0;  // bytes: of the request; that the connection had read before it
};

// Is the process or the system out of descriptors?
bool is_shortage(const boost::system::error_code&);

class client {
  public:
    // One client for each watch. Clients of several threads may share a resolver.
    client(watch&, std::shared_ptr<resolver>);
    client(const client&) = delete;
    client& operator=(const client&) = delete;
    ~client();

    using allowed = std::shared_ptr<const permit>;  // to what a client chose; null: confine() has said it

    // A kept connection to the server, or a new one; `time` is until the head of the answer.
    task<channel> open(const host_port&, bool secure, clock::duration time, chosen_by = chosen_by::us,
                       allowed = nullptr);
    // A new one. Throws refusal(403) when a client chose what it may not.
    task<channel> connect(const host_port&, bool secure, clock::duration time, chosen_by = chosen_by::us,
                          allowed = nullptr);
    // Where a name or an address leads; nothing is judged.
    task<resolver::addresses> look_up(std::string host, chosen_by, clock::time_point end);
    void keep(channel);
    std::size_t kept() const { return kept_.size(); }
    timekeeper& time() { return watch_.time(); }
    const resolver& names() const { return *names_; }

    // One whole exchange. `request.target` is what goes into the request line. Interim answers (1xx) are
    // passed over, a few of them. `time`: to the end of the answer's head, and between the bytes of its body;
    // `whole`: to the end of everything, by default the same.
    task<answer> ask(const host_port&, bool secure, const request_head&, std::string_view body, const limits&,
                     clock::duration time, clock::duration whole = clock::duration::zero());

    // The same up to the head of the answer, for bodies that are read as they come.
    task<begun> begin(const host_port&, bool secure, const request_head&, std::string_view body,
                      const limits&, clock::duration time, clock::duration whole);

    // How servers are verified; without it, only plain connections can be made.
    void trust(std::shared_ptr<asio::ssl::context> tls) {
        tls_ = std::move(tls);
        begin_rules();
    }
    // Of answers that are passed on to clients.
    void limit(const limits& most) { limits_ = most; }
    const limits& most() const { return limits_; }
    // Where clients may send us; before it is said, only into the Internet.
    void confine(destinations where) {
        for_clients_ = std::move(where);
        begin_rules();
    }

    // Called when there is no descriptor for a connection.
    std::function<void(const boost::system::error_code&)> on_shortage;

    static constexpr std::size_t max_kept = 64;       // per server
    static constexpr std::size_t max_kept_all = 256;  // to all of them; the oldest goes first
    static constexpr clock::duration keep_time = 30s;

  private:
    task<std::vector<tcp::endpoint>> addresses_of(const host_port&, chosen_by, allowed,
                                                  clock::time_point end);
    task<tcp_socket> connected(std::vector<tcp::endpoint>, const host_port&, clock::time_point end);
    void drop_old();
    // Connections that were made under other rules are not used again.
    void begin_rules();

    watch& watch_;
    limits limits_;
    std::shared_ptr<resolver> names_;
    std::shared_ptr<asio::ssl::context> tls_;
    destinations for_clients_{networks{}};
    unsigned rules_ = 0;  // how often trust() or confine() said something
    http::kept<channel> kept_{{max_kept, max_kept_all, keep_time}};  // by address
};

}  // namespace posy::http
