// Requests to other servers, over connections that are kept and used again.
//
// A client belongs to one thread. An exchange that fails on a kept connection before a byte of the answer
// came is tried once more on a new one: the server had closed it (RFC 9112, 9.3.1).
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "destinations.hpp"
#include "message.hpp"
#include "transport.hpp"

namespace posy::http {

// An open connection to a server, with its reader.
struct channel {
    std::unique_ptr<transport> connection;
    std::unique_ptr<http::reader> reader;
    std::string address;  // the name it is kept under
    bool used = false;    // it has carried an exchange before
};

struct answer {
    response_head head;
    std::string body;
    std::uint64_t sent = 0, received = 0;  // bytes on the connection, heads and all
};

// Who chose the server: our configuration, or a client, who may not send us everywhere. Neither gets a
// connection that was made for the other.
enum class chosen_by { us, client };

class client {
  public:
    explicit client(watch& w) : watch_(w) {}

    // A kept connection to the server, or a new one.
    task<channel> open(const host_port&, bool secure, clock::duration time, chosen_by = chosen_by::us);
    // A new one. Throws refusal(403) when a client chose what it may not.
    task<channel> connect(const host_port&, bool secure, clock::duration time, chosen_by = chosen_by::us);
    void keep(channel);

    // One whole exchange. `request.target` is what goes into the request line. Interim answers (1xx) are
    // passed over, a few of them. `time`: to the end of the answer's head, and between the bytes of its body;
    // `whole`: to the end of everything, by default the same.
    task<answer> ask(const host_port&, bool secure, const request_head&, std::string_view body, const limits&,
                     clock::duration time, clock::duration whole = clock::duration::zero());

    // How servers are verified; without it, only plain connections can be made.
    void trust(std::shared_ptr<asio::ssl::context> tls) { tls_ = std::move(tls); }
    // Where clients may send us; before it is said, only into the Internet.
    void confine(destinations where) { for_clients_ = std::move(where); }

    static constexpr std::size_t max_kept = 64;  // a server
    static constexpr auto keep_time = 30s;
    static constexpr unsigned max_interim = 16;  // answers before the one that counts

  private:
    // The head of the answer that counts, in the parser; false when the connection ended before it began.
    static task<bool> final_head(reader&, std::optional<parser<response_head>>&, const limits&, bool bare);

    watch& watch_;
    std::shared_ptr<asio::ssl::context> tls_;
    destinations for_clients_{networks{}};
    struct kept {
        http::channel channel;
        clock::time_point since;
    };
    std::map<std::string, std::vector<kept>> kept_;
    clock::time_point swept_ = clock::now();
};

}  // namespace posy::http
