// The sites that the proxy stands in front of (reverse mode), and what it tells their backends of a client.
//
// A site is a host name that clients ask for, and the server behind it. Its objects have the URLs that
// clients see: the scheme of the connection, the Host, the path. So siblings in front of the same site share
// them, and a summary names what a client could ask for. A forwarder in front of us (a TLS terminator, a load
// balancer) is believed what it says of scheme and client; what anyone else says is replaced, because a
// backend believes us.
//
// Thread safety: immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heads.hpp"
#include "http/message.hpp"
#include "http/networks.hpp"
#include "http/server.hpp"
#include "posy/result.hpp"

namespace posy::proxy {

struct site {
    std::string host;   // in lower case, without a port; "*.example": all names below it; "*": any
    http::url backend;  // without a path
    bool has_name() const { return !host.starts_with('*'); }  // no pattern of names
    friend bool operator==(const site&, const site&) = default;
};

// "NAME=http://HOST[:PORT]", also of https, or NAME=HOST:PORT. The error says what is wrong with the text.
result<site> parse_site(std::string_view);

struct site_options {
    std::vector<site> all;
    bool backend_host =
        false;  // backends are sent their own name in Host, not the one that the client asked for
    http::networks forwarders;  // whose word on scheme and client is believed
};

// The host that a request is for, with its port if that is written: of its URL if that is absolute, which
// then says more than Host (RFC 9112, 3.2.2).
std::string authority_of(const http::request&);

class sites {
  public:
    explicit sites(site_options how) : how_(std::move(how)) {}

    bool any() const { return !how_.all.empty(); }
    // Of a Host field or the authority of a URL; null: none. A name goes before patterns, a longer pattern
    // before a shorter one.
    const site* find(std::string_view authority) const;
    // What is asked for, as the store knows it. Throws refusal(400) for a host or path that makes no URL.
    target target_of(const site&, const http::request&) const;
    // Who asks: the address that a forwarder names, or that of the connection.
    http::address visitor_of(const http::request&) const;
    // Does a forwarder say whose request it brings?
    bool announced(const http::request&) const;
    // By https, as far as the connection or a forwarder says?
    bool secure(const http::request&) const;
    // The request's fields as the backend gets them: who asked, by which scheme and name. They reach it
    // whatever Connection says.
    void introduce(http::request&, const target&) const;

  private:
    // Of a request, by the one who forwarded it here. Empty: nothing, or nobody to believe.
    struct story {
        std::string chain;      // X-Forwarded-For
        std::string forwarded;  // Forwarded
        std::string scheme;
    };
    bool believes(const http::request&) const;
    // X-Forwarded-… and Forwarded say the same in two ways: where one is missing, the other stands for it,
    // and where both are there, X-Forwarded-… counts.
    story told_by_forwarder(const http::request&) const;
    site_options how_;
};

}  // namespace posy::proxy
