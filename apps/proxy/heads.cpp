#include "heads.hpp"

#include <fmt/format.h>

#include <array>

#include "posy/http_cache/hop_by_hop.hpp"
#include "posy/http_cache/url.hpp"
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace {

constexpr std::array<const char*, 6> told_to_siblings{"Accept",          "Accept-Charset", "Accept-Encoding",
                                                      "Accept-Language", "Origin",         "User-Agent"};

// "http://host" and "http://host:80": OPTIONS is about the server then (RFC 9112, 3.2.4).
bool without_path(std::string_view url) {
    const auto scheme = url.find("://");
    return scheme != std::string_view::npos && url.find_first_of("/?#", scheme + 3) == std::string_view::npos;
}

}  // namespace

std::optional<target> parse_target(std::string_view text) {
    auto url = http_cache::normal_url(text);
    if (!url) return std::nullopt;
    auto parts = http::parse_url(*url);
    if (!parts) return std::nullopt;
    return target{std::move(*url), std::move(*parts)};
}

http_cache::request_head as_sent(http_cache::request_head head) {
    http_cache::remove_hop_by_hop(head.fields);
    return head;
}

std::string upgrade_of(const http_cache::fields& fields) {
    std::string wanted;
    if (!fields.lists("Connection", "Upgrade")) return wanted;
    const auto all = fields.combined("Upgrade").value_or("");
    for (const auto protocol : http_cache::list_members(all)) {
        const bool http =
            http_cache::same_name(protocol.substr(0, 5), "HTTP/") || http_cache::same_name(protocol, "h2c");
        if (!http) wanted += (wanted.empty() ? "" : ", ") + std::string(protocol);
    }
    return wanted;
}

heads::heads(std::string name)
    : name_(std::move(name)),
      opening_(fmt::format("Via: {}\r\nCache-Status: {}", via(),
                           http_cache::cache_status{.cache = name_}.text())) {}

bool heads::seen(const http_cache::fields& fields) const {
    const auto all = fields.combined("Via");
    if (!all) return false;
    for (const auto member : http_cache::list_members(*all)) {
        if (member.ends_with(" " + name_)) return true;
    }
    return false;
}

http::request_head heads::to_origin(http::request_head asked, const http_cache::stored& stale,
                                    const target& to) const {
    const bool whole_server = asked.method == "OPTIONS" && without_path(asked.target);
    const auto upgrade = upgrade_of(asked.fields);
    // Its fields come behind the body if that is in chunks, here and there.
    const auto trailer =
        asked.fields.has("Transfer-Encoding") ? asked.fields.combined("Trailer") : std::nullopt;
    auto head = as_sent(stale ? http_cache::conditional(asked, *stale) : std::move(asked));
    const auto& by_name = to.backend && to.backend_host ? *to.backend : to.parts;
    const auto& where = by_name.authority;
    head.target = whole_server ? "*" : to.parts.path;
    head.fields.set("Host", where.port == (by_name.secure ? 443 : 80) ? where.host_text() : where.text());
    head.fields.add("Via", via());
    if (trailer) head.fields.add("Trailer", *trailer);
    if (!upgrade.empty()) {
        head.fields.add("Connection", "Upgrade");
        head.fields.add("Upgrade", upgrade);
    }
    return head;
}

http::request_head heads::to_sibling(const http::request_head& asked, const target& to) const {
    http::request_head head{"GET", to.url, {}};
    head.fields.add("Host", to.parts.authority.text());
    for (const auto* name : told_to_siblings) {
        if (const auto value = asked.fields.combined(name)) head.fields.add(name, *value);
    }
    head.fields.add("Cache-Control", "only-if-cached");
    head.fields.add("Via", via());
    return head;
}

std::string heads::switching(http::response_head head, const http_cache::cache_status& status) const {
    const auto protocol = head.fields.combined("Upgrade").value_or("");
    http_cache::remove_hop_by_hop(head.fields);
    head.fields.add("Connection", "Upgrade");
    head.fields.add("Upgrade", protocol);
    return http::to_text(head) + ending(status, true);
}

void heads::append_ending(std::string& to, const http_cache::cache_status& status, bool keep_alive) const {
    status.append_parameters(to += opening_);
    to += keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
}

std::string heads::ending(const http_cache::cache_status& status, bool keep_alive) const {
    std::string lines;
    append_ending(lines, status, keep_alive);
    return lines;
}

}  // namespace posy::proxy
