// URLs, as far as a cache has to understand them: its primary key, and which URLs an unsafe request touches.
//
// RFC 3986 for the parts and for resolving references; RFC 9111, 4 and 4.4 for their use. Nothing is decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/http_cache/fields.hpp"

namespace posy::http_cache {

// The primary key of an absolute URL: scheme and host in lower case, the scheme's own port left out (http 80,
// https 443, or an empty one), an empty path as "/", the fragment gone; the rest as it stands, byte for byte.
// Nothing when it is not of the form scheme://host…
std::optional<std::string> normal_url(std::string_view url);

// Do two normal URLs agree in scheme, host and port?
bool same_origin(std::string_view a, std::string_view b);

// A reference (absolute, "//host/…", "/path", "path", "?query") seen from a normal URL, as a normal URL
// (RFC 3986, 5.2); nothing when it cannot be one.
std::optional<std::string> resolved_url(std::string_view base, std::string_view reference);

// What to drop from the cache after this exchange (RFC 9111, 4.4): nothing after a safe method (GET, HEAD,
// OPTIONS, TRACE) or a response that is neither 2xx nor 3xx; else the target itself, and what Location and
// Content-Location name on the same origin. `url` is the normal URL of the target. Each URL comes once.
std::vector<std::string> invalidated_urls(const request_head&, std::string_view url, const response_head&);

}  // namespace posy::http_cache
