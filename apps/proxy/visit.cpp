// Requests for the sites that the proxy stands in front of.
//
// Which host a request is for decides who answers: a site of that name, the node under its own names, and
// then a site for a pattern of names. So no path of the node is in the way of a site's.
#include "forwards.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/policy.hpp"
#include "proxy.hpp"

namespace posy::proxy {

// A question of a sibling names the URL whole, and wants only what is here: no other protocol, either. What a
// load balancer brings is of a visitor.
bool proxy::from_sibling(const terms& on, const http::request& r) {
    if (on.sites.any() && on.sites.announced(r)) return false;
    return http_cache::may_look_up(r.head) && !r.head.target.starts_with('/') &&
           http_cache::request_directives_of(r.head.fields).only_if_cached &&
           upgrade_of(r.head.fields).empty() && on.rights->is(node::role::peer, r);
}

// Is the request for a name of the node itself?
bool proxy::called_by_name(const terms& on, const http::request& r) {
    const auto refused = on.rights->refuses(r, node::everything);
    return !refused || refused->head.status != 421;
}

const site* proxy::site_of(const terms& on, const http::request& r) {
    if (!on.sites.any() || from_sibling(on, r)) return nullptr;
    const auto absolute = http::parse_url(r.head.target);
    const bool of_server = r.head.target == "*" && r.head.method == "OPTIONS";
    if (!absolute && !of_server && !r.head.target.starts_with('/')) return nullptr;
    const auto* found = on.sites.find(authority_of(r));
    return found && (found->has_name() || !called_by_name(on, r)) ? found : nullptr;
}

http::task<void> proxy::visit(std::shared_ptr<const terms> on, const site& of, http::request& r) {
    if (!on->rights->may_visit(r)) throw http::refusal(403, on->rights->denial(node::role::client, r));
    if (auto last = last_answer(r.head)) return say(r, std::move(*last));
    if (r.parsing.version < 11) r.head.fields.erase("Upgrade");  // there it means nothing
    auto to = on->sites.target_of(of, r);
    note_visit(*on, r, to);
    auto asked = on->doors.book() ? std::optional(inquiry_of(*on, r, to.parts.authority)) : std::nullopt;
    if (asked) asked->from = on->sites.visitor_of(r);
    on->sites.introduce(r, to);
    if (!asked) return begin(std::move(on), r, std::move(to));
    asked->site = asked->resolved = true;
    return begin_by_rules(std::move(on), r, std::move(to), std::move(*asked));
}

}  // namespace posy::proxy
