// The dates of HTTP (RFC 9110, 5.6.7): the three forms that a recipient has to read, the one that is written.
//
// Time is seconds since 1970-01-01 00:00 UTC without leap seconds, everywhere in this folder. The calendar is
// <chrono>'s, the Gregorian one for all years: no locale, no time zone, no system call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace posy::http_cache {

using seconds = std::int64_t;

// Reads an IMF-fixdate, an RFC 850 date or an asctime date. The weekday must be a valid name but may be the
// wrong day: senders get it wrong, and it adds nothing. `now` resolves the two-digit year of RFC 850: a date
// more than 50 years ahead belongs to the century before.
std::optional<seconds> parse_http_date(std::string_view text, seconds now);

// As an IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT"; times outside the years 0 to 9999 are clamped.
std::string http_date(seconds);

}  // namespace posy::http_cache
