#include "posy/http_cache/cache_status.hpp"

#include <algorithm>

#include "text.hpp"

namespace posy::http_cache {

namespace {

// A token of structured fields (RFC 8941, 3.3.4).
bool is_structured_token(std::string_view text) {
    const auto letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
    return !text.empty() && (letter(text.front()) || text.front() == '*') &&
           std::ranges::all_of(text, [&](char c) {
               return letter(c) || is_digit(c) ||
                      std::string_view("!#$%&'*+-.^_`|~:/").find(c) != std::string_view::npos;
           });
}

// As it is when a token, else as a string (3.3.3), which has only printable ASCII: the rest becomes "?".
void append_item(std::string& to, std::string_view text) {
    if (is_structured_token(text)) {
        to += text;
        return;
    }
    to += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') to += '\\';
        to += c >= ' ' && c <= '~' ? c : '?';
    }
    to += '"';
}

}  // namespace

std::string_view name_of(forward_reason reason) {
    switch (reason) {
        case forward_reason::bypass:
            return "bypass";
        case forward_reason::method:
            return "method";
        case forward_reason::uri_miss:
            return "uri-miss";
        case forward_reason::vary_miss:
            return "vary-miss";
        case forward_reason::miss:
            return "miss";
        case forward_reason::request:
            return "request";
        case forward_reason::partial:
            return "partial";
        case forward_reason::stale:
            return "stale";
    }
    return "miss";
}

std::string cache_status::text() const {
    std::string member;
    append_item(member, cache);
    append_parameters(member);
    return member;
}

void cache_status::append_parameters(std::string& to) const {
    if (hit) to += "; hit";
    if (forward) to.append("; fwd=").append(name_of(*forward));
    if (forward_status) to.append("; fwd-status=").append(std::to_string(*forward_status));
    if (ttl) to.append("; ttl=").append(std::to_string(*ttl));
    if (stored) to += "; stored";
    if (collapsed) to += "; collapsed";
    if (!detail.empty()) append_item(to.append("; detail="), detail);
}

}  // namespace posy::http_cache
