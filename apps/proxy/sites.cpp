#include "sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "forwarded.hpp"

namespace posy::proxy {

namespace {

std::string lower_case(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

std::string last_member(std::string_view list) {
    const auto comma = list.rfind(',');
    auto last = comma == std::string_view::npos ? list : list.substr(comma + 1);
    while (last.starts_with(' ')) last.remove_prefix(1);
    while (last.ends_with(' ')) last.remove_suffix(1);
    return std::string(last);
}

std::string path_of(const http::request& r) {
    if (const auto absolute = http::parse_url(r.head.target)) return absolute->path;
    return r.head.target;
}

void add_member(std::string& list, std::string_view member) {
    list.append(list.empty() ? "" : ", ").append(member);
}

// What a backend believes, so that no visitor may have it taken away on the way.
constexpr std::array<std::string_view, 8> introductions{"Forwarded",          "Via",
                                                        "X-Forwarded-For",    "X-Forwarded-Host",
                                                        "X-Forwarded-Port",   "X-Forwarded-Proto",
                                                        "X-Forwarded-Server", "X-Real-IP"};

// Connection names fields that end here; not these.
void keep_introductions(http_cache::fields& fields) {
    const auto named = fields.combined("Connection");
    if (!named) return;
    std::string others;
    for (const auto each : http_cache::list_members(*named)) {
        const auto same = [&](std::string_view name) { return http_cache::same_name(name, each); };
        if (std::ranges::none_of(introductions, same)) add_member(others, each);
    }
    fields.set("Connection", others);
}

// X_Forwarded_For and X-Forwarded-For are one variable to a backend that has fields from CGI.
void remove_doubles(http_cache::fields& fields) {
    std::vector<std::string> doubles;
    for (const auto& [name, value] : fields) {
        if (name.find('_') == name.npos) continue;
        auto written = name;
        std::ranges::replace(written, '_', '-');
        const auto same = [&](std::string_view each) { return http_cache::same_name(each, written); };
        if (std::ranges::any_of(introductions, same)) doubles.push_back(name);
    }
    for (const auto& name : doubles) fields.erase(name);
}

// As in a Host field: the port unless it is the scheme's own.
std::string host_of(const http::url& to) {
    return to.authority.port == (to.secure ? 443 : 80) ? to.authority.host_text() : to.authority.text();
}

// The one field in the words of the other. What is no address may be anything, and could be taken for more.
std::string as_chain(const std::vector<forwarded::element>& all) {
    std::string chain;
    for (const auto& each : all) {
        const auto who = forwarded::address_in(each.client);
        add_member(chain, who ? who->to_string() : "unknown");
    }
    return chain;
}

std::string as_forwarded(std::string_view chain) {
    std::string all;
    for (const auto each : http_cache::list_members(chain)) {
        const auto who = forwarded::address_in(each);
        add_member(all, who ? forwarded::client(*who) : "for=unknown");
    }
    return all;
}

}  // namespace

std::string authority_of(const http::request& r) {
    if (const auto absolute = http::parse_url(r.head.target)) return host_of(*absolute);
    return std::string(r.head.fields.find("Host").value_or(""));
}

result<site> parse_site(std::string_view text) {
    const auto bad = [&](const std::string& why) {
        return error::invalid(fmt::format("'{}': {}; write NAME=http://HOST:PORT", text, why));
    };
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) return bad("no name");
    site made;
    made.host = lower_case(text.substr(0, equals));
    if (made.host.ends_with('.') && made.host != "*.") made.host.pop_back();  // a name that is complete
    const auto name = std::string_view(made.host).substr(made.host.starts_with("*.") ? 2 : 0);
    const auto named = http::parse_authority(name, 80);
    if (!named || named->host != name || name.find_first_of(":,=") != name.npos ||
        (made.host != "*" && (name.starts_with('.') || name.find('*') != name.npos)))
        return bad(fmt::format("'{}' is not a host name, *.NAME or *", made.host));
    auto backend = http::parse_server(text.substr(equals + 1));
    if (!backend) return bad("its backend is not a URL of http or https");
    if (backend->path != "/") return bad("a backend has no path of its own");
    made.backend = std::move(*backend);
    return made;
}

const site* sites::find(std::string_view authority) const {
    const auto parsed = http::parse_authority(authority, 80);
    if (!parsed) return nullptr;
    auto host = lower_case(parsed->host);
    if (host.ends_with('.')) host.pop_back();
    const auto called = [&](std::string_view name) -> const site* {
        const auto found = std::ranges::find(how_.all, name, &site::host);
        return found == how_.all.end() ? nullptr : &*found;
    };
    if (const auto* found = called(host)) return found;
    for (auto dot = host.find('.', 1); dot != host.npos; dot = host.find('.', dot + 1))
        if (const auto* found = called("*" + host.substr(dot))) return found;
    return called("*");
}

bool sites::believes(const http::request& r) const {
    return comes_from(how_.forwarders, r.connection.remote().address());
}

bool sites::announced(const http::request& r) const {
    const auto& fields = r.head.fields;
    return believes(r) && (fields.has("X-Forwarded-For") || fields.has("Forwarded"));
}

sites::story sites::told_by_forwarder(const http::request& r) const {
    story told;
    if (!believes(r)) return told;
    const auto& fields = r.head.fields;
    told.forwarded = fields.combined("Forwarded").value_or("");
    const auto elements = forwarded::parse(told.forwarded);
    if (elements.empty()) told.forwarded.clear();  // malformed
    const auto has = [&](const char* name) { return fields.has(name); };
    if (has("X-Forwarded-For") || has("X-Forwarded-Proto") || has("X-Forwarded-Host")) {
        told.chain = fields.combined("X-Forwarded-For").value_or("");
        told.scheme = last_member(fields.combined("X-Forwarded-Proto").value_or(""));
        if (told.forwarded.empty()) told.forwarded = as_forwarded(told.chain);
    } else if (!elements.empty()) {
        told.chain = as_chain(elements);
        told.scheme = elements.back().scheme;
    }
    return told;
}

bool sites::secure(const http::request& r) const {
    const auto scheme = told_by_forwarder(r).scheme;
    if (http_cache::same_name(scheme, "https")) return true;
    if (http_cache::same_name(scheme, "http")) return false;
    return r.connection.encrypted();
}

target sites::target_of(const site& of, const http::request& r) const {
    auto made = parse_target((secure(r) ? "https://" : "http://") + authority_of(r) + path_of(r));
    if (!made) throw http::refusal(400, "the Host and the path of this request make no URL");
    made->backend = of.backend;
    made->backend_host = how_.backend_host;
    return std::move(*made);
}

// The nearest that is no forwarder itself. What stands before it, the visitor may have written.
http::address sites::visitor_of(const http::request& r) const {
    auto who = r.connection.remote().address();
    const auto chain = told_by_forwarder(r).chain;
    const auto all = http_cache::list_members(chain);
    for (auto each = all.rbegin(); each != all.rend() && comes_from(how_.forwarders, who); ++each) {
        const auto before = forwarded::address_in(*each);
        if (!before) break;
        who = *before;
    }
    return who;
}

void sites::introduce(http::request& r, const target& to) const {
    auto& fields = r.head.fields;
    const auto who = r.connection.remote().address();
    const std::string scheme = to.parts.secure ? "https" : "http";
    const auto host = host_of(to.parts);
    auto told = told_by_forwarder(r);
    add_member(told.chain, who.to_string());
    add_member(told.forwarded,
               fmt::format("{};host={};proto={}", forwarded::client(who), forwarded::value(host), scheme));
    keep_introductions(fields);
    remove_doubles(fields);
    fields.set("X-Forwarded-For", told.chain);
    fields.set("X-Forwarded-Proto", scheme);
    // What decides which page is made must be in the URL that it is stored under.
    fields.set("X-Forwarded-Host", host);
    if (fields.has("X-Forwarded-Port"))
        fields.set("X-Forwarded-Port", std::to_string(to.parts.authority.port));
    fields.set("Forwarded", told.forwarded);
    for (const auto* other : {"X-Forwarded-Server", "X-Real-IP"})
        if (!believes(r)) fields.erase(other);
}

}  // namespace posy::proxy
