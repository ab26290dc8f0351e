// One request on its way through the proxy.
#pragma once

#include <chrono>
#include <string>

#include "heads.hpp"
#include "proxy.hpp"

namespace posy::proxy {

struct proxy::exchange {
    http::request& request;
    target to;
    http_cache::cache_status status;
    bool flying = false;  // others wait for it (flights.hpp)
    std::string cookies;  // lines of the 304 that confirmed a stored answer: for this client alone
};

bool server_error(unsigned status);

inline constexpr std::chrono::seconds idle_time(60);  // without a byte moving

}  // namespace posy::proxy
