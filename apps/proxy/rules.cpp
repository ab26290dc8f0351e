#include "rules.hpp"

#include <algorithm>
#include <optional>

#include "posy/http_cache/fields.hpp"

namespace posy::proxy {

bool rule::unconditional() const {
    return from.empty() && !about_users() && hosts.empty() && to.empty() && ports.empty() &&
           methods.empty() && !tunnel;
}

bool rule_list::about_users() const { return std::ranges::any_of(rules_, &rule::about_users); }

bool rule_list::names_networks() const {
    return std::ranges::any_of(rules_, [](const rule& r) { return r.allow && !r.to.empty(); });
}

namespace {

bool among_names(const std::vector<std::string>& all, std::string_view one) {
    return std::ranges::find(all, one) != all.end();
}

bool names_host(const rule& r, std::string_view host) {
    return std::ranges::any_of(r.hosts, [&](const std::string& pattern) {
        if (!pattern.starts_with("*.")) return pattern == host;
        return host.size() >= pattern.size() && host.ends_with(std::string_view(pattern).substr(1));
    });
}

// Methods differ by case (RFC 9110, 9.1), but there are servers to which post is POST: it is denied with it,
// and not allowed with it.
bool names_method(const rule& r, std::string_view method) {
    if (r.allow) return among_names(r.methods, method);
    return std::ranges::any_of(r.methods,
                               [&](const std::string& each) { return http_cache::same_name(each, method); });
}

// What needs nothing that is not in the request.
bool fits(const rule& r, const inquiry& q) {
    if (r.tunnel && !q.tunnel) return false;
    if (q.site && r.about_users()) return false;
    if (!r.methods.empty() && !names_method(r, q.method)) return false;
    if (!r.from.empty() && !http::comes_from(r.from, q.from)) return false;
    if (!r.ports.empty() && std::ranges::none_of(r.ports, [&](const port_range& p) {
            return p.first <= q.port && q.port <= p.last;
        }))
        return false;
    const bool anywhere = r.hosts.empty() && r.to.empty();
    return anywhere || !r.to.empty() || names_host(r, q.host);
}

bool is_for(const rule& r, const identity& who) {
    if (!r.users.empty() && !among_names(r.users, who.name)) return false;
    return r.groups.empty() || std::ranges::any_of(who.groups, [&](const std::string& group) {
               return among_names(r.groups, group);
           });
}

// Does it lead where the rule says? Nothing: that is not known yet.
std::optional<bool> leads_there(const rule& r, const inquiry& q, const http::address* where) {
    if (r.to.empty() || names_host(r, q.host)) return true;
    if (where) return http::leads_into(r.to, *where);
    if (q.resolved) return false;
    return std::nullopt;
}

}  // namespace

// Users come before names: a stranger does not make us ask name servers for a rule that is not for it.
judgement rule_list::decide_at(const inquiry& q, const http::address* where) const {
    std::size_t unknown = 0;  // the first rule that might allow it, if we knew who it is
    for (std::size_t place = 1; place <= rules_.size(); ++place) {
        const auto& r = at(place);
        if (!fits(r, q)) continue;
        const bool nobody = r.about_users() && !q.who;
        if (nobody && q.says_who) return {decision::check, place};
        if (r.about_users() && q.who && !is_for(r, *q.who)) continue;
        const auto there = leads_there(r, q, where);
        if (nobody && r.allow) {
            if (there != false && unknown == 0) unknown = place;
            continue;
        }
        if (!there) return {decision::resolve, place};
        if (!*there) continue;
        if (nobody) return {decision::challenge, place};
        if (r.allow) return {decision::allow, place};
        return unknown ? judgement{decision::challenge, unknown} : judgement{decision::deny, place};
    }
    return unknown ? judgement{decision::challenge, unknown} : judgement{decision::deny, 0};
}

judgement rule_list::decide(const inquiry& q) const {
    if (q.addresses.empty()) return decide_at(q, nullptr);
    std::optional<judgement> first[5];
    for (const auto& where : q.addresses) {
        const auto each = decide_at(q, &where);
        auto& found = first[static_cast<std::size_t>(each.what)];
        if (!found) found = each;
    }
    for (const auto what : {decision::check, decision::allow, decision::challenge, decision::deny})
        if (const auto& found = first[static_cast<std::size_t>(what)]) return *found;
    return {};
}

}  // namespace posy::proxy
