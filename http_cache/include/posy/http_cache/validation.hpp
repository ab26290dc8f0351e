// Validators: asking whether a stored response still holds, and answering clients that ask us (RFC 9111, 4.3;
// RFC 9110, 8.8 and 13).
#pragma once

#include <string_view>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

// Do two entity tags agree by weak comparison: the same but for W/ (RFC 9110, 8.8.3.2)?
bool weakly_equal(std::string_view a, std::string_view b);

// The request that validates: the client's, with the stored ETag in If-None-Match and Last-Modified in
// If-Modified-Since in place of its own conditions. Range and If-Range are left out: what comes, when not a
// 304, is whole and can be stored. Hop-by-hop fields are the caller's concern.
request_head conditional(const request_head&, const stored_response&);

// The stored response after a 304 (RFC 9111, 3.2 and 4.3.4): fields of the 304 take the place of those of the
// same name, but for Content-Length, Content-Encoding, Content-Range, Content-Type and hop-by-hop ones, which
// belong to the content that did not come, and Set-Cookie(2), which is the asking client's; body shared. Null
// when its ETag or (without one) its Last-Modified is another than the stored one: then it is about something
// else, and the caller forgets what it has and asks again without conditions. Ask storable(request,
// result->head, …) before storing it: a 304 may bring no-store.
stored freshened(const stored_response&, const request_head& request, const response_head& not_modified,
                 exchange_times times);

// A 304 with the fields that a 304 is for, and no others: what it says about the stored response, nothing
// about who asked.
response_head impersonal(response_head not_modified);

// Is the client's own condition met, so that 304 is the answer (RFC 9110, 13.2.2)? If-None-Match, compared
// weakly, decides alone when it is there; else If-Modified-Since against Last-Modified, or Date without one.
// Only for GET and HEAD and a stored 200.
bool not_modified(const request_head&, const stored_response&, seconds now);

// The head of that 304: the fields that RFC 9110, 15.4.5 wants (Cache-Control, Content-Location, Date, ETag,
// Expires, Vary), Last-Modified, and Via and Cache-Status of those before us.
response_head not_modified_head(const stored_response&);

}  // namespace posy::http_cache
