#include "posy/http_cache/url.hpp"

#include <algorithm>

#include "text.hpp"

namespace posy::http_cache {

namespace {

constexpr auto npos = std::string_view::npos;

struct url_parts {
    std::string_view scheme;
    std::string_view authority;  // user, host and port
    std::string_view path;       // what follows the authority, up to the query
    std::string_view query;      // with its "?", or empty
};

bool is_scheme(std::string_view text) {
    const auto letter = [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
    return !text.empty() && letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
    });
}

std::string_view without_fragment(std::string_view url) { return url.substr(0, url.find('#')); }

std::optional<url_parts> parts_of(std::string_view url) {
    url = without_fragment(url);
    const auto colon = url.find("://");
    if (colon == npos || !is_scheme(url.substr(0, colon))) return std::nullopt;
    const auto rest = url.substr(colon + 3);
    const auto after = static_cast<std::size_t>(
        std::ranges::find_if(rest, [](char c) { return c == '/' || c == '?'; }) - rest.begin());
    const auto query = std::min(rest.find('?', after), rest.size());
    if (after == 0) return std::nullopt;
    return url_parts{url.substr(0, colon), rest.substr(0, after), rest.substr(after, query - after),
                     rest.substr(query)};
}

// The host in lower case, and the port as a number unless it is the scheme's own; what names a user stays as
// it is. False: there is no host.
bool append_authority(std::string& to, const url_parts& parts) {
    const auto at = parts.authority.rfind('@');
    const auto user = parts.authority.substr(0, at == npos ? 0 : at + 1);
    auto host = parts.authority.substr(user.size());
    const auto colon = host.rfind(':');
    if (colon != npos && host.find(']', colon) == npos) {
        auto port = host.substr(colon + 1);
        while (port.size() > 1 && port.front() == '0') port.remove_prefix(1);
        const bool usual = port.empty() || (port == "80" && same_name(parts.scheme, "http")) ||
                           (port == "443" && same_name(parts.scheme, "https"));
        append_lower_case(to.append(user), host.substr(0, colon));
        if (!usual) to.append(":").append(port);
        return colon > 0;
    }
    append_lower_case(to.append(user), host);
    return !host.empty();
}

// RFC 3986, 5.2.4: what "." and ".." mean is done, segment by segment.
std::string without_dots(std::string_view path) {
    std::string result;
    while (!path.empty()) {  // it starts with "/", always
        const auto end = std::min(path.find('/', 1), path.size());
        const auto segment = path.substr(0, end);
        path.remove_prefix(end);
        if (segment == "/..") result.resize(std::min(result.rfind('/'), result.size()));
        if (segment == "/." || segment == "/..") {
            if (path.empty()) result += '/';
        } else {
            result += segment;
        }
    }
    return result;
}

// Scheme and authority of a normal URL, "http://host".
std::string_view origin_of(std::string_view url) {
    const auto parts = parts_of(url);
    return parts ? url.substr(0, parts->scheme.size() + 3 + parts->authority.size()) : std::string_view{};
}

bool is_safe(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

}  // namespace

std::optional<std::string> normal_url(std::string_view url) {
    const auto parts = parts_of(url);
    if (!parts) return std::nullopt;
    std::string normal;
    normal.reserve(url.size() + 1);
    append_lower_case(normal, parts->scheme);
    normal += "://";
    if (!append_authority(normal, *parts)) return std::nullopt;
    normal += parts->path.empty() ? "/" : parts->path;
    normal += parts->query;
    return normal;
}

bool same_origin(std::string_view a, std::string_view b) {
    const auto origin = origin_of(a);
    return !origin.empty() && origin == origin_of(b);
}

std::optional<std::string> resolved_url(std::string_view base, std::string_view reference) {
    const auto parts = parts_of(base);
    if (!parts) return std::nullopt;
    reference = without_fragment(trimmed(reference));
    const auto segment = reference.substr(0, reference.find_first_of("/?"));
    if (const auto colon = segment.find(':'); colon != npos && is_scheme(segment.substr(0, colon))) {
        return normal_url(reference);
    }
    if (reference.starts_with("//"))
        return normal_url(std::string(parts->scheme) + ":" + std::string(reference));
    const std::string origin(origin_of(base));
    if (reference.empty()) return normal_url(base);
    if (reference.front() == '?')
        return normal_url(origin + std::string(parts->path) + std::string(reference));
    const auto query = std::min(reference.find('?'), reference.size());
    std::string path(reference.substr(0, query));
    if (path.front() != '/') path.insert(0, parts->path.substr(0, parts->path.rfind('/') + 1));
    return normal_url(origin + without_dots(path) + std::string(reference.substr(query)));
}

std::vector<std::string> invalidated_urls(const request_head& request, std::string_view url,
                                          const response_head& response) {
    if (is_safe(request.method) || response.status < 200 || response.status > 399) return {};
    std::vector<std::string> urls{std::string(url)};
    for (const auto* name : {"Location", "Content-Location"}) {
        const auto reference = response.fields.find(name);
        const auto other = reference ? resolved_url(url, *reference) : std::nullopt;
        if (other && same_origin(url, *other) && std::ranges::count(urls, *other) == 0)
            urls.push_back(*other);
    }
    return urls;
}

}  // namespace posy::http_cache
