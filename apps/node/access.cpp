#include "access.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <boost/asio/ip/host_name.hpp>

#include "letter_seal.hpp"

namespace posy::node {

namespace {

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool names_its_client(const http_cache::fields& fields) {
    return fields.has("Forwarded") || fields.has("X-Forwarded-For");
}
bool came_through_a_proxy(const http_cache::fields& fields) {
    return fields.has("Via") || names_its_client(fields);
}

// A path of this node, not a URL that is to be fetched or a host to be connected to.
bool is_for_us(const http::request_head& head) { return head.target.starts_with('/'); }

// A browser says whose page sends a request; visiting a page must not change our set.
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
    : token_(*how.token.get()),
      peers_(how.allow_peers),
      clients_(how.allow_clients),
      administrators_(how.allow_administrators) {
    names_.insert("localhost");
    names_.insert(lower(boost::asio::ip::host_name()));
    for (const auto* listening : {&how.listen, &how.listen_tls})
        for (const auto& each : *listening)
            if (each.host != "0.0.0.0" && each.host != "::") names_.insert(lower(each.host));
    if (const auto named = http::parse_authority(how.name, 80)) names_.insert(lower(named->host));
    if (const auto called = http::parse_url(how.overlay.address))
        names_.insert(lower(called->authority.host));
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
    if (r.head.target == letters_path && seal_of(r.head.fields, token_)) found |= bit(role::peer);
    if (comes_from(peers_, who)) found |= bit(role::peer);
    if (comes_from(clients_, who)) found |= bit(role::client);
    if (!comes_from(administrators_, who)) return found;
    if (!came_through_a_proxy(r.head.fields)) return everything;
    // Siblings and other proxies ask a proxy for absolute URLs; a path of ours they ask for a client of
    // theirs. A proxy that says who its client is does not ask for itself.
    if (is_for_us(r.head)) return found;
    return found | bit(role::client) | (names_its_client(r.head.fields) ? roles{0} : bit(role::peer));
}

bool access::may_visit(const http::request& r) const {
    const auto who = r.connection.remote().address();
    return comes_from(clients_, who) || comes_from(administrators_, who);
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

std::optional<http::response> access::refuses(const http::request& r, roles enough) const {
    if (enough == for_anyone) return std::nullopt;
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
    if (!(roles_of(r) & enough)) {
        const auto least = enough & bit(role::client) ? role::client
                           : enough & bit(role::peer) ? role::peer
                                                      : role::administrator;
        auto a = refused(token_.empty() ? 403 : 401, denial(least, r));
        if (!token_.empty()) a.head.fields.add("WWW-Authenticate", "Bearer");
        return a;
    }
    if (!get && from_another_site(r.head.fields))
        return refused(403,
                       "access denied: a page of another site (Origin) may not change anything on this node");
    return std::nullopt;
}

}  // namespace posy::node
