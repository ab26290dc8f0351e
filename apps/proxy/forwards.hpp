// Max-Forwards (RFC 9110, 7.6.2): how many more proxies a TRACE or OPTIONS may pass.
//
// At 0 we are the last one and answer ourselves; otherwise the number that goes on is one less. Other methods
// do not have it. `OPTIONS *` asks about this proxy, wherever it came from. A pure function of the request's
// head, which it changes.
#pragma once

#include <optional>

#include "http/server.hpp"

namespace posy::proxy {

// The answer, when the request ends here. Throws refusal(400) for a number that is none.
std::optional<http::response> last_answer(http::request_head&);

}  // namespace posy::proxy
