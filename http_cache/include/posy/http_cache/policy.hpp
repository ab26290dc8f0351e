// What a shared cache may store, and what it may answer a request with (RFC 9111, 3 and 4; RFC 5861).
//
// Pure functions of heads and moments. The order of things at a proxy:
//   decide() → serve | serve and revalidate behind | validate | forward | 504
//   a response came: storable() → make_stored() → store; 304 to a validation: freshened()
//   none came, or a 5xx: may_serve_on_error()
// and in front of serving: not_modified(), for the client's own conditions.
#pragma once

#include "posy/http_cache/cache_status.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/stored_response.hpp"

namespace posy::http_cache {

// May the cache be asked at all? GET and HEAD, without content, and without If-Match or If-Unmodified-Since,
// which are for the origin alone (RFC 9111, 4.3.2). A Range does not matter: a full response is a correct
// answer. Needs the head as received (Transfer-Encoding shows that there is content).
bool may_look_up(const request_head&);

// Can the status be the answer to a GET without conditions, ranges and credentials for a proxy? Not 206, 304,
// 407, 412, 416, nor anything that is not final.
bool answers_plain_get(unsigned status);

// May, and should, the response be kept (RFC 9111, 3 and 3.5)? Only what answers GET, complete (no 206, no
// 304) and final; no-store, private, Authorization, must-understand and Vary: * as the RFC says. Stricter
// than the RFC: with Set-Cookie only if the origin says to leave it out (no-cache="Set-Cookie"), or states a
// lifetime, and says public, or the lifetime is above zero and the request had no cookies and no
// Authorization. A response that would be stale at once and has no validator is not stored. `received` is
// when its head came.
bool storable(const request_head&, const response_head&, seconds received);

// May the answer to a POST be stored as one to GET (RFC 9110, 9.3.3)? A 200 that states a lifetime, whose
// Content-Location is the URL itself, and that sets no cookie unless it says public. Ask storable() about it,
// too, with the method GET.
bool stands_for_get(const request_head&, std::string_view url, const response_head&);

// RFC 9111, 3.5: what answers a request with Authorization is for that client alone, unless it says public,
// must-revalidate or s-maxage itself. This holds for a 304, too: it does not update the stored response.
bool for_everyone(const request_head&, const response_head&);

enum class verdict {
    serve,                 // the stored response answers, fresh or stale as the client allows
    serve_and_revalidate,  // it answers; validate it in the background (stale-while-revalidate)
    validate,              // ask with conditional(); a 304 means freshened() answers
    forward,               // ask as the client asked; nothing stored helps
    refuse,                // only-if-cached, and nothing to serve: 504 (Gateway Timeout)
};

struct decision {
    http_cache::verdict verdict = verdict::forward;
    forward_reason why = forward_reason::uri_miss;  // when not served: for Cache-Status
};

// `found` is what the store's find() said, null for nothing; the reason is then uri_miss, which the caller
// makes vary_miss when the store has() the URL.
decision decide(const request_head&, const stored_response* found, seconds now);

enum class failure {
    no_answer,  // the origin cannot be reached: "disconnected", where RFC 9111, 4.2.4 allows stale responses
    error_status,  // it said 500, 502, 503 or 504: only stale-if-error (RFC 5861, 4) allows them
};

// May the stale response answer in place of the failure? stale-if-error of the response or the request says
// for how long; without one it depends on the failure. Never with no-cache, must-revalidate, proxy-revalidate
// or s-maxage in the response, or no-cache in the request.
bool may_serve_on_error(const request_head&, const stored_response&, seconds now, failure);

}  // namespace posy::http_cache
