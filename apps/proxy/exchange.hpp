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

}  // namespace posy::proxy
