// How old a response is, and how old it may become (RFC 9111, 4.2). Pure functions of a head and of moments.
//
// Heuristic freshness is a tenth of the time since Last-Modified, at most a day: the fraction of RFC 9111,
// 4.2.2; the cap is ours, since a page without a stated lifetime should not be stale for longer than a day.
#pragma once

#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::http_cache {

inline constexpr seconds heuristic_cap = 24 * 60 * 60;
inline constexpr seconds heuristic_divisor = 10;

// May a response of that status be given a lifetime that its origin did not state (RFC 9110, 15.1)?
bool heuristically_cacheable(unsigned status);

// Does the origin state a lifetime: s-maxage, max-age or Expires, however it reads?
bool has_explicit_lifetime(const fields& response, const response_directives&);

// s-maxage, else max-age, else Expires − Date, else the heuristic, else 0. What cannot be read or contradicts
// itself is 0. `received` stands in for a missing Date.
seconds freshness_lifetime(const response_head&, const response_directives&, seconds received);

// corrected_initial_age of 4.2.3: the larger of the apparent age (received − Date) and Age plus the time that
// the exchange took.
seconds initial_age(const fields& response, seconds requested, seconds received);

}  // namespace posy::http_cache
