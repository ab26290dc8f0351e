#include "proxy.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "exchange.hpp"
#include "forwards.hpp"
#include "http/elsewhere.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/partial.hpp"
#include "posy/http_cache/ranges.hpp"
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
using http_cache::forward_reason;
using http_cache::verdict;

namespace {

constexpr std::uint64_t usual_object = std::uint64_t{8} << 20;
constexpr std::uint64_t beside_a_body = 16 * 1024;  // a head and its bookkeeping

}  // namespace

std::uint64_t most_of_one_object(const http_cache::store_options& how) {
    const auto largest = http_cache::largest_possible(how);
    return largest - std::min(largest, beside_a_body);
}

proxy::proxy(const options& how, const node::options& node_how, http::server& server)
    : how_(how),
      server_(server),
      time_(server.time()),
      heads_(node_how.name),
      terms_(std::make_shared<const terms>(how, doorkeeper(how.rules, how.users), nullptr)),
      disk_news_(how.store.disk ? how.store.disk->directory.string() : "", node_how.log),
      log_(how.access_log, how.log_format, *node_how.log) {
    const auto most = most_of_one_object(how_.store);
    how_.max_object = how_.max_object > 0 ? std::min(how_.max_object, most) : std::min(usual_object, most);
    how_.store.memory.largest = how_.max_object + beside_a_body;
    auto opened = http_cache::store::open(how_.store, this);
    if (!opened) throw std::runtime_error("--disk " + opened.error().text());
    store_ = std::move(*opened);
    node_ = std::make_unique<node::node>(node_how, server,
                                         [this](const auto& visit) { store_->for_each_url(visit); });
    terms_.set(std::make_shared<const terms>(how, terms_.get()->doors, node_->rights()));
    counting_ = true;
    server_.on_end = [this](const http::conclusion& c) { record(c); };
    store_->for_each_url([this](std::string_view url) { tags_.doubt(url); });  // from before the start
    node_->holds = [this](std::string_view url) { return store_->has(url); };
    tell_doubts();
    node_->describe_more = [this](node::metrics& m) { describe(m); };
    for (const auto& each : server_.workers()) each->client.confine(http::destinations(how_.destinations));
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

proxy::~proxy() {
    reading_.join();
    writing_.join();
    counting_ = false;
}

std::string proxy::holdings() const {
    const auto disk = store_->disk_counts();
    return disk ? fmt::format("; {} objects, {} bytes on disk", disk->objects, disk->bytes) : "";
}

// The set is made from what the store finds on disk when it opens; from then on it follows.
void proxy::entered(std::string_view url) {
    if (counting_) node_->set().insert(url);
}

void proxy::left(std::string_view url) {
    if (counting_) node_->set().remove(url);
    tags_.forget(url);
}

http::task<void> proxy::keep_time() {
    http::alarm next_second(time_, server_.first().context);
    for (;;) {
        co_await next_second.pause(1s);
        log_.flush();
        if (const auto disk = store_->disk_counts()) disk_news_.look(*disk, time_.now());
    }
}

http::task<void> proxy::handle(http::request& r) {
    note_fields(r);
    auto on = terms_.get();
    if (r.head.method == "CONNECT"sv) {
        if (on->sites.any() && !on->also_forward)
            throw http::refusal(403, "no tunnels lead through a proxy that stands in front of sites");
        return open_tunnel(std::move(on), r);
    }
    if (r.head.method == "PURGE"sv) {
        r.said.result = "purge";
        return purge(r);
    }
    if (const auto* visited = site_of(*on, r)) return visit(std::move(on), *visited, r);
    if (on->sites.any() && r.head.target.starts_with('/') && !called_by_name(*on, r))
        throw http::refusal(421, fmt::format("this proxy stands in front of sites, and '{}' is none of them",
                                             authority_of(r)));
    if (r.head.target.starts_with('/') || r.head.target.find("/squid-internal-") != std::string::npos)
        return ask_node(std::move(on), r);
    return forward(std::move(on), r);
}

// A path of the node, if it knows it.
http::task<void> proxy::ask_node(std::shared_ptr<const terms> on, http::request& r) {
    const bool done = co_await node_->handle(r);
    r.said.result = !done ? "" : r.said.why.empty() ? "node" : "denied";
    if (!done) co_await forward(std::move(on), r);
}

http::task<void> proxy::forward(std::shared_ptr<const terms> on, http::request& r) {
    // A sibling gets what is here; nothing is fetched for it.
    using node::role;
    const auto& rights = *on->rights;
    const bool sibling = from_sibling(*on, r);
    if (!rights.is(role::client, r) && !sibling) throw http::refusal(403, rights.denial(role::client, r));
    if (on->sites.any() && !on->also_forward && !sibling)
        throw http::refusal(421, "this proxy stands in front of sites, and that host is none of them");
    if (auto last = last_answer(r.head)) return say(r, std::move(*last));
    if (r.parsing.version < 11) r.head.fields.erase("Upgrade");  // there it means nothing
    auto to = parse_target(r.head.target);
    if (!to) throw http::refusal(400, "a proxy needs an absolute URL: http://… or https://…");
    if (sibling || !on->doors.book()) return begin(std::move(on), r, std::move(*to));
    auto asked = inquiry_of(*on, r, to->parts.authority);
    return begin_by_rules(std::move(on), r, std::move(*to), std::move(asked));
}

http::task<void> proxy::say(http::request& r, http::response last) {
    r.said.result = "node";
    co_await http::reply(r, last);
}

http::task<void> proxy::begin(std::shared_ptr<const terms> on, http::request& r, target to) {
    exchange e{r, std::move(to), std::move(on)};
    co_await serve(e);
}

http::task<void> proxy::begin_by_rules(std::shared_ptr<const terms> on, http::request& r, target to,
                                       inquiry asked) {
    const auto given = co_await admit(*on, r, std::move(asked));
    if (!given) co_return;
    to.allowed = given->to;
    exchange e{r, std::move(to), std::move(on)};
    co_await serve(e);
}

http::task<void> proxy::serve(exchange& e) {
    const auto& head = e.request.head;
    if (heads_.seen(head.fields)) {
        co_await refuse(e, 508, "a loop: the Via field of the request names this proxy already",
                        outcome::failed);
        co_return;
    }
    const bool reads = head.method == "GET"sv || head.method == "HEAD"sv;
    if (!http_cache::may_look_up(head) || !upgrade_of(head.fields).empty()) {
        e.status.forward = reads ? forward_reason::request : forward_reason::method;
        co_await fetch_from_origin(e, nullptr);
        co_return;
    }
    for (bool waited = false;; waited = true) {
        const auto stale = co_await serve_from_store(e);
        if (!stale) co_return;
        if (waited || head.method != "GET" || head.fields.has("Range") || head.fields.has("Authorization") ||
            e.status.forward == forward_reason::request || unshared_.has(e.to.url, time_.now())) {
            e.status.collapsed = false;
            co_await fetch(e, *stale);
            co_return;
        }
        const bool done = co_await fetch_for_all(e, *stale);
        if (done) co_return;
    }
}

// Nothing when the request was answered; else what is stale and may be confirmed, or null.
http::task<std::optional<http_cache::stored>> proxy::serve_from_store(exchange& e) {
    auto found = store_->find_in_memory(e.to.url, e.request.head);
    e.from_disk = !found && store_->has_disk() && store_->has(e.to.url);
    if (e.from_disk) found = co_await read_from_disk(e.request.here, e.to.url, e.request.head);
    const auto parts = found ? nullptr : store_->find_parts(e.to.url, e.request.head);
    if (parts && http_cache::answers_in_part(e.request.head, *parts)) found = parts;
    const auto now = time_.seconds();
    const auto decided = http_cache::decide(e.request.head, found.get(), now);
    e.status.forward = decided.why;
    if (!found && decided.why == forward_reason::uri_miss) {
        if (parts) e.status.forward = forward_reason::partial;
        if (!parts && (store_->has(e.to.url) || store_->has_parts(e.to.url)))
            e.status.forward = forward_reason::vary_miss;
    }
    e.begun = found ? nullptr : parts;
    switch (decided.verdict) {
        case verdict::serve_and_revalidate:
            renew_behind(e, found);
            [[fallthrough]];
        case verdict::serve: {
            const auto o =
                found->ttl(now) > 0 && decided.verdict == verdict::serve ? outcome::hit : outcome::stale;
            node_->set().asked(e.to.url);
            if (!answer_at_once(e, std::move(found), o, now)) co_await finish_answer(e);
            co_return std::nullopt;
        }
        case verdict::refuse:
            // A sibling asked. What misled it: that ours is stale or another variant, our summary, or time?
            e.status.forward.reset();  // nothing was forwarded (RFC 9211, 2.2)
            e.status.detail = store_->has(e.to.url)                ? "stale"
                              : node_->set().may_contain(e.to.url) ? "filter"
                                                                   : "age";
            node_->set().asked(e.to.url);
            co_await refuse(e, 504, "not in this cache, and the request says only-if-cached",
                            outcome::refused);
            co_return std::nullopt;
        case verdict::validate:
        case verdict::forward:
            break;
    }
    co_return found;
}

// The first to want it fetches, and others read what it fetches: true. Those who cannot look again: false.
http::task<bool> proxy::fetch_for_all(exchange& e, http_cache::stored stale) {
    std::shared_ptr<flights::flight> flight;
    if (!flights_.take_off(e.to.url, flight)) {
        e.request.connection.expires_after(how_.origin_time + 10s);
        const auto came = co_await flights_.wait(flight, e.request.here, time_.now() + how_.origin_time);
        e.status.collapsed = true;
        ++collapsed_;
        if (came) {
            const auto done = co_await join(e, came);
            if (done && *done) co_return true;
        }
        e.lines.clear();
        e.status.collapsed = !came;  // perhaps it is in the store now
        co_return false;
    }
    std::exception_ptr failed;
    e.flight = std::move(flight);
    try {
        co_await fetch(e, stale);
    } catch (...) {
        failed = std::current_exception();
    }
    land(e);
    if (failed) std::rethrow_exception(failed);
    co_return true;
}

http::task<http_cache::stored> proxy::read_from_disk(http::worker& here, std::string url,
                                                     http_cache::request_head head) {
    // What fails there has found nothing.
    auto read = [store = store_.get(), url = std::move(url), head = std::move(head)]() -> http_cache::stored {
        try {
            return store->find(url, head);
        } catch (const std::exception&) {
            return {};
        }
    };
    co_return co_await http::elsewhere(here.context, reading_, std::move(read));
}

// A body for the store, within what is left of the memory.
http_cache::incoming_body proxy::collect(const std::string& url, const upstream& u,
                                         std::optional<std::uint64_t> length) const {
    const auto beside = http_cache::head_cost(u.parsing->head, url);
    const auto largest = store_->largest() - std::min(store_->largest(), beside);
    return {store_->room(), std::min(how_.max_object, largest), length, beside};
}

// At once into memory, where waiting requests look first, and to the disk in turn: true if it is stored. What
// only the disk can hold may still fail there, so nobody is told that it is stored.
bool proxy::keep(const http_cache::stored& object) {
    // Before, so that no purge misses it; and after, because an older one of that URL may have left
    // meanwhile. A purge looks into parts itself.
    const bool tagged = !object->parts;
    if (tagged) tags_.learn(object->url, object->head.fields);
    const auto change = store_->put_soon(object);
    if (change.made && tagged) tags_.learn(object->url, object->head.fields);
    if (!change.made) {
        ++unkept_;
        if (tagged) untag(object->url);
    }
    if (change.unsettled) asio::post(writing_, [this, url = object->url] { settle(url); });
    return change.certain;
}

// It was not stored. If another has just been, nobody knows whose tags were there.
void proxy::untag(const std::string& url) {
    if (store_->has(url)) return;
    tags_.forget(url);
    if (store_->has(url)) tags_.doubt(url);
}

void proxy::settle(const std::string& url) {
    try {
        if (const auto written = store_->settle(url); !written) {
            ++unkept_;
            disk_news_.failed(written.error().text());
        }
    } catch (const std::exception&) {  // no memory; it stays noted, and the next change tries again
        ++unkept_;
    }
}

// Gone from the disk, too, when this returns. It says when that happened last before.
http::task<http_cache::moment> proxy::forget(http::worker& here, std::string url, http_cache::moment when) {
    flights_.outdate(url);
    const auto change = store_->erase_soon(url, when);
    if (!change.unsettled) co_return change.before;
    auto erase = [this, url] {
        settle(url);
        return true;
    };
    co_await http::elsewhere(here.context, writing_, std::move(erase));
    co_return change.before;
}

void proxy::land(exchange& e) { land(e.flight); }

void proxy::land(std::shared_ptr<flights::flight>& flight) {
    if (const auto done = std::exchange(flight, nullptr)) flights_.land(done);
}

http::task<void> proxy::open_tunnel(std::shared_ptr<const terms> on, http::request& r) {
    const auto& rights = *on->rights;
    if (!rights.is(node::role::client, r)) throw http::refusal(403, rights.denial(node::role::client, r));
    const auto to = http::parse_authority(r.head.target, 0);
    if (!to || to->port == 0) throw http::refusal(400, "CONNECT needs HOST:PORT");
    const auto given = co_await admit(*on, r, inquiry_of(*on, r, *to));
    if (!given) co_return;
    if (!given->any_port && std::ranges::find(on->connect_ports, to->port) == on->connect_ports.end())
        throw http::refusal(
            403,
            fmt::format("tunnels to port {} are not allowed; --connect-port names those that are", to->port));
    exchange e{r, {to->text(), {}}, on};
    auto made = co_await lead(r.here, *on, *to, given->to);
    r.keep_alive = false;
    if (const auto* failed = std::get_if<no_answer>(&made)) {
        tell(e, *failed);
        co_await refuse(
            e, failed->status,
            "the tunnel cannot be made: " + (failed->for_client.empty() ? failed->why : failed->for_client),
            outcome_of(*failed));
        co_return;
    }
    count(e, outcome::tunnel, 200, 0);
    r.said.body = ~std::uint64_t{0};  // whatever goes through it
    co_await tunnel(r, std::get<http::channel>(std::move(made)),
                    "HTTP/1.1 200 Connection established\r\n\r\n", r.reader.rest(), how_.tunnel_time);
}

}  // namespace posy::proxy
