#include "access.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <boost/asio/ip/host_name.hpp>

namespace posy::node {

namespace {

constexpr roles bit(role r) { return static_cast<roles>(r); }
constexpr roles everything = bit(role::peer) | bit(role::client) | bit(role::administrator);

// The roles of which one is enough for a path of the node.
roles needed_for(bool get, std::string_view path) {
    const roles boss = bit(role::administrator);
    if (get && path == "/have") return boss | bit(role::peer) | bit(role::client);
    if ((get && (path == "/summary" || path == squid_path)) || path == "/hint") return boss | bit(role::peer);
    if (get && (path == "/who" || path.starts_with("/keys/"))) return boss | bit(role::client);
    return boss;
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool came_through_a_proxy(const http_cache::fields& fields) {
    return fields.has("Via") || fields.has("Forwarded") || fields.has("X-Forwarded-For");
}

// A path of this node, not a URL that is to be fetched or a host to be connected to.
bool is_for_us(const http::request_head& head) { return head.target.starts_with('/'); }

// A browser says whose page sends a request; whoever visits a page does not mean to change our set.
bool from_another_site(const http_cache::fields& fields) {
    const auto origin = fields.find("Origin"), host = fields.find("Host");
    if (!origin) return false;
    return !host || (*origin != "http://" + std::string(*host) && *origin != "https://" + std::string(*host));
}

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (made.ends_with('.')) made.pop_back();  // the same name, written to its end
    return made;
}

http::response refused(unsigned status, std::string why) {
    http::response r{{status, {}, {}}, std::move(why) + "\n"};
    r.head.fields.add("Content-Type", "text/plain");
    return r;
}

std::string_view option_of(role r) {
    return r == role::peer ? "--allow-peer" : r == role::client ? "--allow-client" : "--allow-admin";
}

}  // namespace

access::access(const options& how)
    : token_(how.token),
      peers_(how.allow_peers),
      clients_(how.allow_clients),
      administrators_(how.allow_administrators) {
    names_.insert("localhost");
    names_.insert(lower(boost::asio::ip::host_name()));
    for (const auto* listening : {&how.listen, &how.listen_tls})
        for (const auto& each : *listening)
            if (each.host != "0.0.0.0" && each.host != "::") names_.insert(lower(each.host));
    if (const auto named = http::parse_authority(how.name, 80)) names_.insert(lower(named->host));
    for (const auto& each : how.host_names) names_.insert(lower(each));
}

bool access::has_token(const http::request& r) const {
    if (token_.empty()) return false;
    // Authorization of a request that goes on is for the origin, which must not learn our secret.
    const auto given = r.head.fields.find(is_for_us(r.head) ? "Authorization" : "Proxy-Authorization");
    return given && same_secret(*given, "Bearer " + token_);
}

roles access::roles_of(const http::request& r) const {
    if (has_token(r)) return everything;
    const auto who = r.connection.remote().address();
    roles found = 0;
    if (comes_from(peers_, who)) found |= bit(role::peer);
    if (comes_from(clients_, who)) found |= bit(role::client);
    if (!comes_from(administrators_, who)) return found;
    if (!came_through_a_proxy(r.head.fields)) return everything;
    // Siblings and other proxies ask a proxy for absolute URLs; a path of ours they ask for a client of
    // theirs.
    return is_for_us(r.head) ? found : found | bit(role::peer) | bit(role::client);
}

std::string access::denial(role needed, const http::request& r) const {
    const auto who = r.connection.remote().address();
    if (comes_from(administrators_, who) && came_through_a_proxy(r.head.fields))
        return fmt::format(
            "access denied: a request that came through a proxy needs the token of --token-file{}",
            needed == role::administrator
                ? ""
                : fmt::format(", or the proxy's address {} in {}", who.to_string(), option_of(needed)));
    return fmt::format("access denied: {} is not in {}{}", who.to_string(), option_of(needed),
                       token_.empty() ? "" : ", and the request does not have the token of --token-file");
}

// Ports are not compared: tunnels and containers change them, and a name is what a stranger can make up.
bool access::answers_to(std::string_view authority, const http::request& r) const {
    const auto named = http::parse_authority(authority, 80);
    if (!named) return false;
    if (names_.contains(lower(named->host))) return true;
    boost::system::error_code failed;
    const auto address = asio::ip::make_address(named->host, failed);
    return !failed && (address.is_loopback() || address == r.connection.local());
}

std::optional<http::response> access::refuses(const http::request& r, std::string_view path) const {
    const bool get = r.head.method == "GET" || r.head.method == "HEAD";
    // The URL of a request says more than its Host (RFC 9112, 3.2.2).
    const auto absolute = http::parse_url(r.head.target);
    const auto host = absolute ? std::optional<std::string_view>() : r.head.fields.find("Host");
    if (!absolute && !host && !get)
        return refused(400, "a request that changes something needs a Host field");
    const std::string authority = absolute ? absolute->authority.text() : std::string(host.value_or(""));
    if ((absolute || host) && !answers_to(authority, r))
        return refused(421, fmt::format("this node is not called '{}'; if it should be, start it with "
                                        "--host-name and that name",
                                        authority));
    const auto needed = needed_for(get, path);
    if (!(roles_of(r) & needed)) {
        const auto least = needed & bit(role::client) ? role::client
                           : needed & bit(role::peer) ? role::peer
                                                      : role::administrator;
        auto a = refused(token_.empty() ? 403 : 401, denial(least, r));
        if (!token_.empty()) a.head.fields.add("WWW-Authenticate", "Bearer");
        return a;
    }
    if (!get && from_another_site(r.head.fields))
        return refused(403, "a page of another site may not change anything here");
    return std::nullopt;
}

}  // namespace posy::node
