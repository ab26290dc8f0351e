// Cache-Control (RFC 9111, 5.2) as plain structs: what a shared cache acts on, unknown directives left out.
//
// Doubtful values are read so that the response is not reused (RFC 9111, 4.2.1). An argument that is missing
// or not a number, or a directive repeated with another value, counts as 0 seconds (min-fresh: as the largest
// value). A list of fields that is empty, names Cache-Control or Vary, or has more than 100 names counts as
// no list, that is, as the plain directive. A value that does not have the form token[=token|"text"], … (an
// unclosed quote, a semicolon) means no-store and private in a response, no-cache and no-store in a request,
// whatever else it contains.
//
// A targeted field (RFC 9213) that is there, parses as a dictionary of structured fields, is not empty and
// has no directive of the wrong type, stands in for Cache-Control and for Expires. Any other is as if it were
// not there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::http_cache {

// Larger numbers of seconds are cut to this one, as RFC 9111, 1.2.2 says; about 68 years.
inline constexpr seconds most_seconds = seconds{1} << 31;

// The targeted fields that are for this cache, the most specific first.
inline constexpr std::array<std::string_view, 1> targeted_fields{"CDN-Cache-Control"};

struct request_directives {
    bool no_cache = false;  // also by "Pragma: no-cache" where there is no Cache-Control (5.4)
    bool no_store = false;
    bool only_if_cached = false;
    std::optional<seconds> max_age{}, min_fresh{};
    std::optional<seconds> max_stale{};  // most_seconds when it came without an argument
    std::optional<seconds> stale_if_error{};
};

struct response_directives {
    bool no_store = false;
    bool no_cache = false;    // the plain form; for the list form see below
    bool is_private = false;  // the plain form
    bool is_public = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    bool targeted = false;  // by a targeted field: Expires does not count
    std::optional<seconds> max_age{}, s_maxage{}, stale_while_revalidate{}, stale_if_error{};
    // The fields that no-cache="…" and private="…" name: a shared cache does not keep them. (With no-cache
    // they may be kept until a validation; leaving them out is simpler and equally correct, 5.2.2.4.)
    std::vector<std::string> unkept_fields{};

    // Must it never be used stale, whatever other directives say (4.2.4)? s-maxage includes proxy-revalidate
    // (5.2.2.10).
    bool never_stale() const { return no_cache || must_revalidate || proxy_revalidate || s_maxage; }
};

request_directives request_directives_of(const fields&);
response_directives response_directives_of(const fields&);

}  // namespace posy::http_cache
