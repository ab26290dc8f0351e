// The Cache-Status field (RFC 9211): what this cache did with a request, for debugging.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "posy/http_cache/http_date.hpp"

namespace posy::http_cache {

// Why a request went forward (2.2).
enum class forward_reason { bypass, method, uri_miss, vary_miss, miss, request, stale, partial };
std::string_view name_of(forward_reason);

// One member of the list: `text()` is "posy; fwd=stale; fwd-status=304; stored; ttl=60". A hit has no fwd; a
// revalidation has fwd=stale and no hit.
struct cache_status {
    std::string cache{};  // our name; a token as it is, anything else quoted
    bool hit = false;
    std::optional<forward_reason> forward{};
    std::optional<unsigned> forward_status{};  // what the next hop answered
    std::optional<seconds> ttl{};              // negative when stale
    bool stored = false;
    bool collapsed = false;  // shared the fetch of another request
    std::string detail{};    // anything else, left out when empty; a token or quoted

    std::string text() const;
    // What follows the name: "; fwd=stale; …".
    void append_parameters(std::string& to) const;
};

}  // namespace posy::http_cache
