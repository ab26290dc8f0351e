// Every head that the proxy sends: questions to origins and siblings, and what it adds to answers.
//
// What is hop-by-hop stays on its hop, and Via names this proxy in every message that goes on (RFC 9110,
// 7.6). Thread safety: immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/destinations.hpp"
#include "http/message.hpp"
#include "posy/http_cache/cache_status.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::proxy {

// A URL that is asked for, parsed once.
struct target {
    std::string url;  // as the store knows it: normal
    http::url parts;
    std::optional<http::url>
        backend{};              // of a site that we stand in front of (sites.hpp): asked in its place
    bool backend_host = false;  // and by its own name
    std::shared_ptr<const http::permit> allowed{};  // addresses, by a rule; null: those that all may have
};
// Nothing if it is not an absolute URL of http or https.
std::optional<target> parse_target(std::string_view);

// A request as those beyond us saw it: what Connection names did not get there, and cannot have chosen a
// variant.
http_cache::request_head as_sent(http_cache::request_head);

// The protocols that a request asks to go on with, "" if none: WebSocket and the like. HTTP itself is not
// among them, which goes no further than its connection.
std::string upgrade_of(const http_cache::fields&);

class heads {
  public:
    // `name` is ours, in Via and Cache-Status.
    explicit heads(std::string name);

    // Does Via say that a request has been here before?
    bool seen(const http_cache::fields&) const;

    // Whether the stale answer still holds, if there is one; else for a new one, perhaps of another protocol.
    http::request_head to_origin(http::request_head asked, const http_cache::stored& stale,
                                 const target&) const;
    // For what it has. Of the client it is told only what variants are usually chosen by: the rest is the
    // client's alone (cookies, conditions, ranges), or could make the sibling refuse the question (Via, a
    // hundred fields).
    http::request_head to_sibling(const http::request_head& asked, const target&) const;
    // The head of a 101 to the client.
    std::string switching(http::response_head, const http_cache::cache_status&) const;
    // The last lines of a head to a client, and the empty line. The status needs no name: ours is known.
    void append_ending(std::string& to, const http_cache::cache_status&, bool keep_alive) const;
    std::string ending(const http_cache::cache_status&, bool keep_alive) const;

  private:
    std::string via() const { return "1.1 " + name_; }
    std::string name_;
    std::string opening_;  // of the ending, the same each time
};

}  // namespace posy::proxy
