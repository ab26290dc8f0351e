// One request on its way through the proxy.
#pragma once

#include <string>

#include "posy/http_cache/cache_status.hpp"
#include "proxy.hpp"

namespace posy::proxy {

struct proxy::exchange {
    http::request& request;
    std::string url;
    http_cache::cache_status status;
    std::string via;      // what we add to Via
    bool flying = false;  // others wait for it (flights.hpp)
    std::string cookies;  // lines of the 304 that confirmed a stored answer: for this client alone
};

// A request as those beyond us saw it: what Connection names did not get there, and cannot have chosen a
// variant.
http_cache::request_head as_sent(http_cache::request_head);

// What the origin is asked: whether the stale answer still holds, if there is one, else for a new one.
http::request_head question_to_origin(http::request_head asked, const http_cache::stored& stale,
                                      const std::string& url, const std::string& via);
destination origin_of(const std::string& url);

bool server_error(unsigned status);

}  // namespace posy::proxy
