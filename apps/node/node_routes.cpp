// What a node answers: the table of its paths, and those answers that take a line or two.
#include <algorithm>

#include "answers.hpp"
#include "node.hpp"
#include "page.hpp"

namespace posy::node {

struct node::route {
    bool (*method)(std::string_view);
    std::string_view path;  // "/x/" stands for all paths that begin with it
    roles enough;           // one of these is
    http::task<void> (node::*answer)(const call&);

    bool matches(std::string_view asked_method, std::string_view asked) const {
        const bool below = path.size() > 1 && path.ends_with('/');
        return method(asked_method) && (below ? asked.starts_with(path) : asked == path);
    }
};

namespace {

constexpr bool reading(std::string_view method) { return method == "GET" || method == "HEAD"; }
constexpr bool posting(std::string_view method) { return method == "POST"; }
constexpr bool any(std::string_view) { return true; }

// The value of a parameter of the query, decoded.
std::optional<std::string> parameter(std::string_view query, std::string_view name) {
    for (std::size_t from = 0; from < query.size();) {
        const auto end = std::min(query.find('&', from), query.size());
        const auto pair = query.substr(from, end - from);
        if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
            return http::percent_decoded(pair.substr(name.size() + 1));
        from = end + 1;
    }
    return std::nullopt;
}

}  // namespace

std::span<const node::route> node::routes() {
    static constexpr std::array all{
        route{reading, "/healthz", for_anyone, &node::say_healthy},
        route{reading, "/summary", for_peers, &node::send_summary},
        route{reading, squid_path, for_peers, &node::send_squid_digest},
        route{posting, "/hint", for_peers, &node::take_hint},
        route{posting, letters_path, for_peers, &node::take_letters},
        route{reading, letters_path, for_administrators, &node::send_overlay},
        route{reading, "/have", for_peers | for_clients, &node::say_have},
        route{reading, "/who", for_clients, &node::say_who},
        route{reading, "/keys/", for_clients, &node::change_keys},
        route{any, "/keys/", for_administrators, &node::change_keys},
        route{any, "/keys", for_administrators, &node::change_keys},
        route{any, "/check", for_clients, &node::check},
        route{reading, "/metrics", for_administrators, &node::send_metrics},
        route{reading, "/history", for_administrators, &node::send_history},
        route{reading, "/", for_administrators, &node::send_page},
    };
    return all;
}

// The first that matches. A request that matches none is for administrators, who are told that it does not.
const node::route& node::route_of(std::string_view method, std::string_view path) {
    static constexpr route none{any, "", for_administrators, &node::no_route};
    const auto all = routes();
    const auto found =
        std::ranges::find_if(all, [&](const route& each) { return each.matches(method, path); });
    return found == all.end() ? none : *found;
}

void node::prepare_durations() {
    for (const auto& each : routes()) took_.try_emplace(each.path);
}

http::task<bool> node::handle(http::request& r) {
    std::string_view target = r.head.target;
    if (!target.starts_with('/')) {
        // Squid asks its siblings for digests as it asks them for everything: with an absolute URL.
        if (!target.ends_with(squid_path)) co_return false;
        const auto where = http::parse_url(target);
        const auto ours = [&](const http::host_port& l) { return where && l.port == where->authority.port; };
        if (!where || where->path != squid_path || !std::ranges::any_of(how_.listen, ours)) co_return false;
        target = squid_path;
    }
    const auto path = target.substr(0, target.find('?'));
    const call c{r, path.size() < target.size() ? target.substr(path.size() + 1) : std::string_view()};
    const route& found = route_of(r.head.method, path);
    if (const auto refused = access_.get()->refuses(r, found.enough)) {
        ++server_.counts().forbidden;
        r.said.why = refused->body.substr(0, refused->body.find('\n'));
        if (server_.on_refusal)
            server_.on_refusal(r.connection.remote().address().to_string(), refused->head.status, r.said.why);
        co_await http::reply(r, *refused);
    } else {
        co_await (this->*found.answer)(c);
        if (const auto known = took_.find(found.path); known != took_.end())
            known->second.add(time_.now() - r.begun);
    }
    co_return true;
}

http::task<void> node::no_route(const call& c) {
    const auto a =
        answer(404, "no such path; / is a page, /metrics the figures, and docs/node.md lists the others\n");
    co_await http::reply(c.request, a);
}

http::task<void> node::say_healthy(const call& c) {
    const auto a = answer(200, "ok\n");
    co_await http::reply(c.request, a);
}

http::task<void> node::send_squid_digest(const call& c) {
    const auto sent = co_await squid_.send(c.request);
    traffic_.squid += sent.body;
    traffic_.framing += sent.head;
}

http::task<void> node::take_hint(const call& c) {
    if (const auto from = parameter(c.query, "from")) peers_.wake(*from);
    const auto a = answer(204);
    co_await http::reply(c.request, a);
}

http::task<void> node::say_have(const call& c) {
    const auto key = parameter(c.query, "key");
    auto a = answer(!key ? 400 : have(*key) ? 204 : 404);
    a.head.fields.add("Cache-Control", "no-store");
    co_await http::reply(c.request, a);
}

http::task<void> node::say_who(const call& c) {
    const auto key = parameter(c.query, "key");
    auto a = answer(400, "name a key: /who?key=KEY, percent-encoded\n");
    if (key && overlay_) {
        a = co_await who_by_overlay(c.request.here, *key);
    } else if (key) {
        a = who(*key);
    }
    co_await http::reply(c.request, a);
}

http::response node::who(const std::string& key) const {
    nlohmann::json found{{"key", key}, {"local", have(key)}, {"peers", nlohmann::json::array()}};
    for (const auto& [name, age] : directory_.who(key, time_.milliseconds())) {
        const auto known = peers_.find(name);
        if (!known || known->distrusted(time_.now())) continue;
        const auto& where = known->address.where;
        found["peers"].push_back({{"name", name},
                                  {"url", (where.secure ? "https://" : "http://") + where.authority.text()},
                                  {"up", known->up.load()},
                                  {"summary_age_seconds", static_cast<double>(age) / 1000}});
    }
    found["resting"] = peers_.resting();
    return json(found);
}

http::task<void> node::check(const call& c) {
    auto a = answer(404, "this node has no filter to check; --check-list names one\n");
    if (!posting(c.request.head.method)) {
        a = answer(405, "POST the keys or the password as the body\n");
        a.head.fields.add("Allow", "POST");
    } else if (check_) {
        a = co_await check_->answer(c.request);
    }
    co_await http::reply(c.request, a);
}

http::task<void> node::send_metrics(const call& c) {
    const auto figures = co_await collected(c.request.here);
    const auto a = answer(200, figures.text(), "text/plain; version=0.0.4; charset=utf-8");
    co_await http::reply(c.request, a);
}

http::task<void> node::send_history(const call& c) {
    const auto a = answer(200, history_.json(), "application/json");
    co_await http::reply(c.request, a);
}

http::task<void> node::send_page(const call& c) {
    auto a = answer(200, std::string(page_html), "text/html; charset=utf-8");
    a.head.fields.add("Content-Security-Policy",
                      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                      "connect-src 'self'; img-src data:");
    co_await http::reply(c.request, a);
}

}  // namespace posy::node
