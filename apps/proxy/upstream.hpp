// A request on its way to another server, and the head of the answer.
//
// The body of the request is passed on as it arrives, while the answer is read (upload.hpp); the body of the
// answer is left to the caller. A kept connection that turns out to be closed is replaced by another, if the
// request may come twice (RFC 9110, 9.2.2).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/client.hpp"
#include "http/server.hpp"
#include "posy/http_cache/stored_response.hpp"
#include "upload.hpp"

namespace posy::proxy {

struct upstream {
    http::channel channel;
    std::unique_ptr<http::response_parser> parsing;  // its head is complete
    http_cache::exchange_times times;
    std::shared_ptr<upload> body;  // of the request, if it has one
    bool of_one_user = false;      // the server takes this connection for somebody who logged in on it

    // The exchange is over, and the connection is good for another.
    bool reusable() const {
        return parsing->is_done() && parsing->keep_alive() && (!body || body->whole()) && !of_one_user;
    }
    std::optional<std::uint64_t> length() const {
        const auto said = parsing->content_length();
        return said ? std::optional<std::uint64_t>(*said) : std::nullopt;
    }
    // The next piece of the body, in parsing->piece; false at its end.
    http::task<bool> more() { co_return co_await channel.reader->more(*parsing); }
};

// Name one before it is handed to a coroutine: GCC 12 destroys a braced temporary in a co_await expression
// twice.
struct destination {
    http::host_port where;
    bool secure = false;
    http::chosen_by who =
        http::chosen_by::client;      // siblings are configured; origins are what a client wrote
    http::client::allowed allowed{};  // of the addresses of an origin
};

// May a request come twice (RFC 9110, 9.2.2)?
bool idempotent(std::string_view method);

// Forgets a text and gives its memory back, which assigning an empty one does not.
inline void release(std::string& text) { std::string().swap(text); }

// The client's own request is at fault: its body does not parse, or does not come.
struct client_fault : http::refusal {
    using refusal::refusal;
};

// Sends `head` with the body of `from`, if it is given and has one.
// `time`: to the head of the answer, and then between its bytes; all of it ends by `end`. Interim answers
// (1xx), a few of them, go to the client of `from` at once, if it knows what they are. An answer may come
// before the whole body is sent; if it is an error, no more of the body is. Throws client_fault, or
// http::refusal for the server's faults.
http::task<upstream> send(http::client&, const destination&, http::request_head head, http::request* from,
                          http::clock::duration time,
                          http::clock::time_point end = http::clock::time_point::max());

// Connects the two until both have ended: what CONNECT asks for, and an upgrade. `answer` goes to the client
// first; `early` came with the request. `time`: without a byte in either direction.
http::task<void> tunnel(http::request& from, http::channel to, std::string answer, std::string early,
                        http::clock::duration time);

}  // namespace posy::proxy
