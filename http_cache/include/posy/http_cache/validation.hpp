// Validators: asking whether a stored response still holds, and answering clients that ask us (RFC 9111, 4.3;
// RFC 9110, 8.8 and 13).
#pragma once

#include <optional>
#include <string_view>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

// Do two entity tags agree by weak comparison: the same but for W/ (RFC 9110, 8.8.3.2)?
bool weakly_equal(std::string_view a, std::string_view b);

// What is the same only if every byte is (RFC 9110, 8.8.1): an ETag that is not weak, or without any ETag a
// Last-Modified a minute before Date. Nothing if there is none. A view into the fields; `received` is when
// they came.
std::optional<std::string_view> strong_validator(const fields& response, seconds received);

// The request that validates: the client's, with the stored ETag in If-None-Match and Last-Modified in
// If-Modified-Since in place of its own conditions. Range and If-Range are left out: what comes, when not a
// 304, is whole and can be stored. They stay if only parts are stored: the whole may be large, and the
// condition is judged before the range (RFC 9110, 13.2.2). Hop-by-hop fields are the caller's concern.
request_head conditional(const request_head&, const stored_response&);

// A stored head after an answer that brought these end-to-end fields (RFC 9111, 3.2): they take the place of
// those of the same name, but for Content-Length, Content-Encoding, Content-Range and Content-Type, which
// belong to the content that did not come, and Set-Cookie(2), which is the asking client's.
response_head updated(response_head kept, fields update);

// The stored response after a 304 (RFC 9111, 4.3.4): its head updated, body or parts shared. Null
// when its ETag or (without one) its Last-Modified is another than the stored one: then it is about something
// else, and the caller forgets what it has and asks again without conditions. Ask storable(request,
// result->head, …) before storing it: a 304 may bring no-store.
stored freshened(const stored_response&, const request_head& request, const response_head& not_modified,
                 exchange_times times);

// Can an answer to HEAD be about what is stored (RFC 9111, 4.3.5)? The status, and what it says of ETag,
// Last-Modified and Content-Length must be the same. Then freshened() updates what is stored; if not, it
// counts as stale: aged() is it, as old as its lifetime.
bool head_fits(const stored_response&, const response_head& said);
stored aged(const stored_response&, exchange_times times);

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
