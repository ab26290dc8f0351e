// Fields that are meant for the next hop only, which a proxy neither forwards nor stores (RFC 9110, 7.6.1).
#pragma once

#include "posy/http_cache/fields.hpp"

namespace posy::http_cache {

// Removes Connection and the fields it names, Keep-Alive, Proxy-Connection, Proxy-Authenticate,
// Proxy-Authentication-Info, Proxy-Authorization, TE, Trailer, Transfer-Encoding and Upgrade; for requests
// and responses alike. A caller that needs their content (framing, keep-alive, authentication) reads it
// before. Host, Content-Length and Cache-Control stay even when Connection names them: they are for everyone,
// and dropping them on a stranger's word would change what the message means.
void remove_hop_by_hop(fields&);

}  // namespace posy::http_cache
