// A request on its way to another server, and the head of the answer.
//
// The body of the request is passed on as it arrives; that of the answer is left to the caller. A kept
// connection that turns out to be closed is replaced by another.
#pragma once

#include <functional>
#include <memory>

#include "http/client.hpp"
#include "http/server.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::proxy {

struct upstream {
    http::channel channel;
    std::unique_ptr<http::parser<http::response_head>> parsing;  // its head is complete
    http_cache::exchange_times times;

    // The next piece of the body, in parsing->piece; false at its end.
    http::task<bool> more() { co_return co_await channel.reader->more(*parsing); }
};

// Name one before it is handed to a coroutine: GCC 12 destroys a braced temporary in a co_await expression
// twice.
struct destination {
    http::host_port where;
    bool secure = false;
    bool as_proxy = false;  // it is asked for absolute URLs
};

// Sends `head` (whose target is the absolute URL) with the body of `from`, if it is given and has one.
http::task<upstream> send(http::client&, const destination&, const http::request_head& head,
                          http::request* from, http::clock::duration time);

// Connects the two until one of them has had enough: what CONNECT asks for. `early` came with the request.
http::task<void> tunnel(http::request& from, http::channel to, std::string early);

}  // namespace posy::proxy
