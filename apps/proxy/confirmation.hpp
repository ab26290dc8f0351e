// What a 304 of the origin makes of a stored answer: for the client that asked, and for all others.
#pragma once

#include "posy/http_cache/stored_response.hpp"

namespace posy::proxy {

struct confirmation {
    http_cache::stored answer;   // for the client that asked; null: the 304 is about something else
    http_cache::stored for_all;  // to be stored; null: nothing
    bool forget = false;         // what is stored may not stay
};

// `sent` is the request as the origin saw it. With Authorization the 304 is for that client alone, unless it
// says otherwise (RFC 9111, 3.5), and what is stored stays as it was. With cookies it renews what is stored,
// but only by the fields that a 304 is for: any other may be about the owner of the cookies.
confirmation confirm(const http_cache::stored_response& stale, const http_cache::request_head& sent,
                     const http_cache::response_head& said, http_cache::exchange_times);

}  // namespace posy::proxy
