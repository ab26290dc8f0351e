#include "posy/http_cache/policy.hpp"

#include <algorithm>
#include <array>

#include "posy/http_cache/freshness.hpp"
#include "posy/http_cache/url.hpp"
#include "text.hpp"

namespace posy::http_cache {

namespace {

// Statuses whose meaning for a cache is known here: must-understand asks for that.
bool understood(unsigned status) {
    return heuristically_cacheable(status) || status == 302 || status == 303 || status == 307;
}

bool reads(const request_head& request) {
    const std::string_view method = request.method;
    return method == "GET" || method == "HEAD";
}

bool has_content(const request_head& request) {
    const auto length = request.fields.find("Content-Length");
    return request.fields.has("Transfer-Encoding") || (length && trimmed(*length) != "0");
}

// What the origin asks to leave out (private="Set-Cookie") is no obstacle: make_stored() does so.
bool sets_cookies(const response_head& response, const response_directives& says) {
    return std::ranges::any_of(std::array{"Set-Cookie", "Set-Cookie2"}, [&](std::string_view name) {
        return response.fields.has(name) && !among(says.unkept_fields, name);
    });
}

// A cookie does not make an answer personal (RFC 9111, 7.3), but somebody who brought one, or a password, may
// have been shown a page of their own. make_stored() leaves the cookie out unless it says public.
bool for_everyone_despite_cookies(const request_head& request, const response_head& response,
                                  const response_directives& says, seconds received) {
    if (!sets_cookies(response, says)) return true;
    if (!has_explicit_lifetime(response.fields, says)) return false;
    return says.is_public || (!request.fields.has("Cookie") && !request.fields.has("Authorization") &&
                              freshness_lifetime(response, says, received) > 0);
}

bool shared_despite_authorization(const response_directives& says) {
    return says.is_public || says.must_revalidate || says.s_maxage;
}

bool may_store(const request_head& request, const response_head& response, const response_directives& says,
               seconds received) {
    if (request.method != "GET" || !answers_plain_get(response.status)) return false;
    // must-understand is stronger than a no-store beside it, which is for caches that do not know it
    // (5.2.2.3).
    if (says.must_understand ? !understood(response.status) : says.no_store) return false;
    if (says.is_private || varies_on_everything(response.fields)) return false;
    if (!for_everyone_despite_cookies(request, response, says, received)) return false;
    if (request_directives_of(request.fields).no_store) return false;
    if (request.fields.has("Authorization") && !shared_despite_authorization(says)) return false;
    return says.is_public || has_explicit_lifetime(response.fields, says) ||
           heuristically_cacheable(response.status);
}

}  // namespace

bool may_look_up(const request_head& request) {
    return reads(request) && !has_content(request) && !request.fields.has("If-Match") &&
           !request.fields.has("If-Unmodified-Since");
}

bool answers_plain_get(unsigned status) {
    constexpr std::array<unsigned, 5> to_other_questions{206, 304, 407, 412, 416};
    return status >= 200 && status <= 599 && std::ranges::count(to_other_questions, status) == 0;
}

bool for_everyone(const request_head& request, const response_head& response) {
    return !request.fields.has("Authorization") ||
           shared_despite_authorization(response_directives_of(response.fields));
}

bool stands_for_get(const request_head& request, std::string_view url, const response_head& response) {
    if (request.method != "POST" || response.status != 200 || request.fields.has("Range")) return false;
    const auto elsewhere = [url](const auto& field) {
        return same_name(field.name, "Content-Location") && resolved_url(url, field.value) != url;
    };
    const auto says = response_directives_of(response.fields);
    return response.fields.has("Content-Location") && std::ranges::none_of(response.fields, elsewhere) &&
           has_explicit_lifetime(response.fields, says) && (says.is_public || !sets_cookies(response, says));
}

bool storable(const request_head& request, const response_head& response, seconds received) {
    const auto says = response_directives_of(response.fields);
    if (!may_store(request, response, says, received)) return false;
    if (response.fields.has("ETag") || response.fields.has("Last-Modified")) return true;
    return !says.no_cache &&
           (freshness_lifetime(response, says, received) > 0 || says.stale_while_revalidate.value_or(0) > 0 ||
            says.stale_if_error.value_or(0) > 0);
}

decision decide(const request_head& request, const stored_response* found, seconds now) {
    if (!may_look_up(request)) {
        return {verdict::forward, reads(request) ? forward_reason::bypass : forward_reason::method};
    }
    const auto wants = request_directives_of(request.fields);
    const auto ask = [&](forward_reason why) {
        if (wants.only_if_cached) return decision{verdict::refuse, why};
        return decision{found && found->has_validator() ? verdict::validate : verdict::forward, why};
    };
    if (!found) return ask(forward_reason::uri_miss);
    const seconds age = found->age(now), ttl = found->lifetime - age;
    if (wants.no_cache || (wants.max_age && age > *wants.max_age) ||
        (wants.min_fresh && ttl < *wants.min_fresh)) {
        return ask(forward_reason::request);
    }
    const auto& says = found->directives;
    if (ttl > 0 && !says.no_cache) return {verdict::serve, forward_reason::stale};
    if (says.never_stale()) return ask(forward_reason::stale);
    if (wants.max_stale && -ttl <= *wants.max_stale) return {verdict::serve, forward_reason::stale};
    if (says.stale_while_revalidate && -ttl <= *says.stale_while_revalidate) {
        return {wants.only_if_cached ? verdict::serve : verdict::serve_and_revalidate, forward_reason::stale};
    }
    return ask(forward_reason::stale);
}

bool may_serve_on_error(const request_head& request, const stored_response& kept, seconds now, failure what) {
    const auto wants = request_directives_of(request.fields);
    const auto& says = kept.directives;
    if (wants.no_cache || says.never_stale()) return false;
    if (!says.stale_if_error && !wants.stale_if_error) {
        return what == failure::no_answer && !(wants.max_age && kept.age(now) > *wants.max_age);
    }
    return -kept.ttl(now) <= std::max(says.stale_if_error.value_or(0), wants.stale_if_error.value_or(0));
}

}  // namespace posy::http_cache
