// A part of an answer that is kept while it goes to a client.
#pragma once

#include <string>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/partial.hpp"
#include "posy/http_cache/room.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::proxy {

struct arriving_part {
    http_cache::carried_range range;
    std::string url;
    http_cache::request_head request;  // as the origin saw it
    http_cache::response_head head;
    http_cache::exchange_times times;
    http_cache::incoming_body body;
};

}  // namespace posy::proxy
