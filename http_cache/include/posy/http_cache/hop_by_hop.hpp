// Fields that are meant for the next hop only, which a proxy neither forwards nor stores (RFC 9110, 7.6.1).
#pragma once

#include "posy/http_cache/fields.hpp"

namespace posy::http_cache {

// Removes Connection and the fields it names, Keep-Alive, Proxy-Connection, Proxy-Authenticate,
// Proxy-Authentication-Info, Proxy-Authorization, TE, Trailer, Transfer-Encoding and Upgrade; for requests
// and responses alike. Callers that need their content (framing, keep-alive, authentication) read it first.
// Host, Content-Length and Cache-Control stay even when Connection names them: they are end-to-end, and
// dropping them at a sender's request would change the meaning of the message.
void remove_hop_by_hop(fields&);

}  // namespace posy::http_cache
