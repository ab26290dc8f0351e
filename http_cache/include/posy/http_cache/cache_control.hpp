// Cache-Control (RFC 9111, 5.2) as plain structs: what a shared cache acts on, unknown directives left out.
//
// Doubt is settled towards not reusing (RFC 9111, 4.2.1): an argument that is missing or is no number, or a
// directive repeated with another value, counts as 0 seconds (min-fresh: as the largest); a list of fields
// that is empty, names Cache-Control or Vary or has more than 100 names counts as no list at all, that is as
// the plain directive. A value that is not of the form token[=token|"text"], … at all (an unclosed quote, a
// semicolon) is no-store and private in a response, no-cache and no-store in a request, whatever else it
// says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posy/http_cache/fields.hpp"
#include "posy/http_cache/http_date.hpp"

namespace posy::http_cache {

// Larger numbers of seconds are cut to this one, as RFC 9111, 1.2.2 says; about 68 years.
inline constexpr seconds most_seconds = seconds{1} << 31;

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
    bool no_cache = false;    // the plain form; of the other one below
    bool is_private = false;  // the plain form
    bool is_public = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    std::optional<seconds> max_age{}, s_maxage{}, stale_while_revalidate{}, stale_if_error{};
    // What no-cache="…" and private="…" name: fields that a shared cache does not keep. (no-cache would allow
    // to keep them until a validation; leaving them out is simpler and as correct, 5.2.2.4.)
    std::vector<std::string> unkept_fields{};

    // May it never be used stale, whatever else is said (4.2.4)? s-maxage includes proxy-revalidate
    // (5.2.2.10).
    bool never_stale() const { return no_cache || must_revalidate || proxy_revalidate || s_maxage; }
};

request_directives request_directives_of(const fields&);
response_directives response_directives_of(const fields&);

}  // namespace posy::http_cache
