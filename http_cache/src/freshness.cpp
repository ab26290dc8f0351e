#include "posy/http_cache/freshness.hpp"

#include <algorithm>
#include <array>

#include "text.hpp"

namespace posy::http_cache {

namespace {

// The moment a field names: nothing when it is missing or no date.
std::optional<seconds> date_in(const fields& all, std::string_view name, seconds now) {
    const auto text = all.find(name);
    return text ? parse_http_date(*text, now) : std::nullopt;
}

bool repeats_differently(const fields& all, std::string_view name) {
    const auto first = all.find(name);
    return std::ranges::any_of(
        all, [&](const fields::field& f) { return same_name(f.name, name) && f.value != *first; });
}

}  // namespace

bool heuristically_cacheable(unsigned status) {
    static constexpr std::array<unsigned, 12> statuses{200, 203, 204, 206, 300, 301,
                                                       308, 404, 405, 410, 414, 501};
    return std::ranges::count(statuses, status) > 0;
}

bool has_explicit_lifetime(const fields& response, const response_directives& directives) {
    return directives.s_maxage || directives.max_age || (!directives.targeted && response.has("Expires"));
}

seconds freshness_lifetime(const response_head& response, const response_directives& directives,
                           seconds received) {
    if (directives.s_maxage) return *directives.s_maxage;
    if (directives.max_age) return *directives.max_age;
    const seconds date = date_in(response.fields, "Date", received).value_or(received);
    if (!directives.targeted && response.fields.has("Expires")) {
        const auto expires = date_in(response.fields, "Expires", received);
        if (!expires || repeats_differently(response.fields, "Expires")) return 0;
        return std::clamp(*expires - date, seconds{0}, most_seconds);
    }
    if (!heuristically_cacheable(response.status) && !directives.is_public) return 0;
    const auto modified = date_in(response.fields, "Last-Modified", received);
    if (!modified) return 0;
    return std::clamp((date - *modified) / heuristic_divisor, seconds{0}, heuristic_cap);
}

seconds initial_age(const fields& response, seconds requested, seconds received) {
    const seconds date = date_in(response, "Date", received).value_or(received);
    // An Age that is no number is ignored; of a list the first counts (RFC 9111, 5.1).
    const auto members = list_members(response.find("Age").value_or(""));
    const auto stated = members.empty() ? std::nullopt : decimal(members.front(), most_seconds);
    const seconds corrected = stated.value_or(0) + std::max<seconds>(0, received - requested);
    return std::clamp(std::max(received - date, corrected), seconds{0}, most_seconds);
}

}  // namespace posy::http_cache
