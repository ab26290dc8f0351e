// Who may do what, and by which names this node is called.
//
// Three roles, each given by a list of networks; the token has all of them:
//
//   peer            reads summaries, asks whether a key is here, hints; letters of the overlay; a proxy's
//                   store, only-if-cached
//   client          asks who has a key; uses the proxy
//   administrator   all that, changes keys, sees figures and the page
//
// Without a token and a list, this machine administers. The address of a request that came through another
// proxy (Via, Forwarded, X-Forwarded-For) is the proxy's, and the proxy lends it to all of its
// clients. Such a request never administers. For a path of the node it has the roles of --allow-peer and
// --allow-client alone, which name that address explicitly; what being an administrator's address gives
// beside, such as summaries to this machine, it does not have. Requests with absolute URLs are from proxies
// that were configured to ask this one, and their addresses stay peers and clients.
//
// A browser sends what a page makes it send, from an address that may be trusted. It also says which name the
// page has (Host, Origin). A request by a name that is not ours is refused: a name that leads here without
// our knowledge is how a page of a stranger becomes one of the same origin (DNS rebinding). Thread safety:
// immutable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "http/server.hpp"
#include "options.hpp"

namespace posy::node {

enum class role : unsigned { peer = 1, client = 2, administrator = 4 };
// A set of roles.
using roles = unsigned;
constexpr roles bit(role r) { return static_cast<roles>(r); }
inline constexpr roles everything = bit(role::peer) | bit(role::client) | bit(role::administrator);

// To whom a path is answered. Administrators always may; for_anyone skips all checks, also of the name.
inline constexpr roles for_administrators = bit(role::administrator);
inline constexpr roles for_peers = bit(role::peer) | for_administrators;
inline constexpr roles for_clients = bit(role::client) | for_administrators;
inline constexpr roles for_anyone = ~roles{0};

class access {
  public:
    explicit access(const options&);

    roles roles_of(const http::request&) const;
    // It carries the secret of all nodes, for us.
    bool has_token(const http::request&) const;
    bool is(role r, const http::request& of) const { return roles_of(of) & bit(r); }
    // The answer to a request for a path of the node that is not to be answered otherwise: 421 when it is for
    // another name; 401 or 403 when the sender has none of the roles that are enough, or when it changes
    // something and comes from a page of another site; 400 when it changes something and names no host.
    std::optional<http::response> refuses(const http::request&, roles enough) const;
    // May it visit a site that a proxy stands in front of? Whatever came before it, and without the token:
    // Authorization is the site's own, and load balancers are expected.
    bool may_visit(const http::request&) const;
    // Why a request without the role is refused.
    std::string denial(role, const http::request&) const;

  private:
    bool answers_to(std::string_view authority, const http::request&) const;

    std::string token_;
    http::networks peers_, clients_, administrators_;
    std::unordered_set<std::string> names_;  // in lower case
};

}  // namespace posy::node
