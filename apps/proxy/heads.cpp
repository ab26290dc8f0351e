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
    auto head = as_sent(stale ? http_cache::conditional(asked, *stale) : std::move(asked));
    const auto& where = to.parts.authority;
    head.target = to.parts.path;
    head.fields.set("Host", where.port == (to.parts.secure ? 443 : 80) ? where.host : where.text());
    head.fields.add("Via", via());
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

std::string heads::ending(const http_cache::cache_status& status, bool keep_alive) const {
    return fmt::format("Via: {}\r\nCache-Status: {}\r\n{}\r\n", via(), status.text(),
                       keep_alive ? "" : "Connection: close\r\n");
}

}  // namespace posy::proxy
