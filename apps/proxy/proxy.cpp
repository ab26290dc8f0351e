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
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using http_cache::forward_reason;
using http_cache::verdict;

proxy::proxy(const options& how, const node::options& node_how, http::server& server)
    : how_(how), server_(server), time_(server.time()), heads_(node_how.name), log_(how.access_log) {
    auto opened = http_cache::store::open(how_.store, this);
    if (!opened) throw std::runtime_error("the store: " + opened.error().text());
    store_ = std::move(*opened);
    node_ = std::make_unique<node::node>(node_how, server,
                                         [this](const auto& visit) { store_->for_each_url(visit); });
    counting_ = true;
    node_->holds = [this](std::string_view url) { return store_->has(url); };
    node_->describe_more = [this](node::metrics& m) { describe(m); };
    for (const auto& each : server_.workers()) each->client.confine(http::destinations(how_.destinations));
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

proxy::~proxy() {
    reading_.join();
    writing_.join();
    counting_ = false;
}

// The set is made from what the store finds on disk when it opens; from then on it follows.
void proxy::entered(std::string_view url) {
    if (counting_) node_->set().insert(url);
}

void proxy::left(std::string_view url) {
    if (counting_) node_->set().remove(url);
}

http::task<void> proxy::keep_time() {
    http::alarm next_second(time_, server_.first().context);
    for (;;) {
        co_await next_second.pause(1s);
        log_.flush();
    }
}

http::task<void> proxy::handle(http::request& r) {
    if (r.head.method == "CONNECT") {
        co_await open_tunnel(r);
        co_return;
    }
    if (r.head.target.starts_with('/') || r.head.target.find("/squid-internal-") != std::string::npos) {
        const bool done = co_await node_->handle(r);
        if (done) co_return;
    }
    // A sibling gets what is here; nothing is fetched for it.
    using node::role;
    const auto& rights = node_->rights();
    if (!rights.is(role::client, r) && !(rights.is(role::peer, r) && http_cache::may_look_up(r.head) &&
                                         http_cache::request_directives_of(r.head.fields).only_if_cached))
        throw http::refusal(403, rights.denial(role::client, r));
    if (const auto last = last_answer(r.head)) {
        co_await http::reply(r, *last);
        co_return;
    }
    auto to = parse_target(r.head.target);
    if (!to) throw http::refusal(400, "a proxy needs an absolute URL: http://… or https://…");
    exchange e{r, std::move(*to), heads_.status()};
    co_await serve(e);
}

http::task<void> proxy::serve(exchange& e) {
    const auto& head = e.request.head;
    if (heads_.seen(head.fields)) {
        co_await refuse(e, 508, "a loop: the Via field of the request names this proxy already",
                        outcome::failed);
        co_return;
    }
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (!http_cache::may_look_up(head)) {
        e.status.forward = reads ? forward_reason::request : forward_reason::method;
        co_await fetch_from_origin(e, nullptr);
        co_return;
    }
    for (bool waited = false;; waited = true) {
        const auto stale = co_await serve_from_store(e);
        if (!stale) co_return;
        if (waited || head.method != "GET" || head.fields.has("Range") || head.fields.has("Authorization") ||
            e.status.forward == forward_reason::request) {
            co_await fetch(e, *stale);
            co_return;
        }
        const bool done = co_await fetch_for_all(e, *stale);
        if (done) co_return;
    }
}

// Nothing when the request was answered; else what is stale and may be confirmed, or null.
http::task<std::optional<http_cache::stored>> proxy::serve_from_store(exchange& e) {
    auto found = co_await look_up(e.request.here, e.to.url, e.request.head);
    const auto now = time_.seconds();
    const auto decided = http_cache::decide(e.request.head, found.get(), now);
    e.status.forward = decided.why;
    if (!found && decided.why == forward_reason::uri_miss && store_->has(e.to.url))
        e.status.forward = forward_reason::vary_miss;
    switch (decided.verdict) {
        case verdict::serve:
            co_await answer_from(e, found, found->ttl(now) > 0 ? outcome::hit : outcome::stale);
            co_return std::nullopt;
        case verdict::serve_and_revalidate:
            renew_behind(e, found);
            co_await answer_from(e, found, outcome::stale);
            co_return std::nullopt;
        case verdict::refuse:
            // A sibling asked. What misled it: that ours is stale or another variant, our summary, or time?
            e.status.forward.reset();  // nothing was forwarded (RFC 9211, 2.2)
            e.status.detail = store_->has(e.to.url)                ? "stale"
                              : node_->set().may_contain(e.to.url) ? "filter"
                                                                   : "age";
            co_await refuse(e, 504, "not in this cache, and the request says only-if-cached",
                            outcome::refused);
            co_return std::nullopt;
        case verdict::validate:
        case verdict::forward:
            break;
    }
    co_return found;
}

// The first to want it fetches: true. Others wait for that, and look again: false.
http::task<bool> proxy::fetch_for_all(exchange& e, http_cache::stored stale) {
    std::shared_ptr<flights::flight> flight;
    if (!flights_.take_off(e.to.url, flight)) {
        e.request.connection.expires_after(how_.origin_time + 10s);
        co_await flights::wait(flight, e.request.here, time_.now() + how_.origin_time);
        e.status.collapsed = true;
        ++collapsed_;
        co_return false;
    }
    std::exception_ptr failed;
    e.flying = true;
    try {
        co_await fetch(e, stale);
    } catch (...) {
        failed = std::current_exception();
    }
    land(e);
    if (failed) std::rethrow_exception(failed);
    co_return true;
}

http::task<http_cache::stored> proxy::look_up(http::worker& here, const std::string& url,
                                              const http_cache::request_head& head) {
    auto found = store_->memory().find(url, head);
    if (found || !store_->has_disk() || !store_->has(url)) co_return found;
    // What fails there has found nothing.
    auto read = [store = store_.get(), url, head]() -> http_cache::stored {
        try {
            return store->find(url, head);
        } catch (const std::exception&) {
            return {};
        }
    };
    co_return co_await http::elsewhere(here.context, reading_, std::move(read));
}

// A body for the store, within what is left of the memory.
http_cache::incoming_body proxy::collect(const std::string& url, const upstream& u) const {
    const auto beside = http_cache::head_cost(u.parsing->head, url);
    const auto largest = store_->largest() - std::min(store_->largest(), beside);
    std::optional<std::uint64_t> length;
    if (const auto said = u.parsing->content_length()) length = *said;
    return {store_->room(), std::min(how_.max_object, largest), length, beside};
}

// At once into memory, where waiting requests look first; to the disk in turn, if it keeps up.
void proxy::keep(http_cache::stored object) {
    const bool kept = store_->memory().put(object);
    if (!kept && !store_->has_disk()) ++unkept_;
    if (!store_->has_disk()) return;
    const auto size = object->size;
    if (waiting_bytes_.fetch_add(size) > how_.store.memory.bytes / 8) {
        waiting_bytes_ -= size;
        if (!kept) ++unkept_;
        return;
    }
    asio::post(writing_, [this, size, object = std::move(object)] {
        if (!store_->put(object)) ++unkept_;
        waiting_bytes_ -= size;
    });
}

// Behind all that is still to be written of it.
http::task<void> proxy::forget(http::worker& here, std::string url) {
    if (!store_->has_disk()) {
        store_->erase(url);
        co_return;
    }
    store_->memory().erase(url);
    const auto erase = [&] { return store_->erase(url); };
    co_await http::elsewhere(here.context, writing_, erase);
}

void proxy::land(exchange& e) {
    if (std::exchange(e.flying, false)) flights_.land(e.to.url);
}

void proxy::count(const exchange& e, outcome o, unsigned status, std::uint64_t bytes) {
    ++outcomes_[static_cast<std::size_t>(o)];
    body_bytes_ += bytes;
    if (log_.on())
        log_.write(e.request.connection.remote().address().to_string(), e.request.head.method, e.to.url,
                   status, bytes, time_.time_of_day());
}

http::task<void> proxy::answer_from(exchange& e, http_cache::stored object, outcome o) {
    const auto at = time_.seconds();
    auto status = e.status;
    status.hit = o != outcome::revalidated;
    if (status.hit) status.forward.reset();
    status.ttl = object->ttl(at);
    const bool unchanged = http_cache::not_modified(e.request.head, *object, at);
    const bool bare = unchanged || e.request.head.method == "HEAD";
    const std::string short_head =
        unchanged ? http::to_text(http_cache::not_modified_head(*object)) : std::string();
    const std::string lines = fmt::format("Age: {}\r\n{}", object->age(at), e.cookies) +
                              heads_.ending(status, e.request.keep_alive);
    const std::array<asio::const_buffer, 3> parts{
        unchanged ? asio::buffer(short_head) : asio::buffer(object->wire_head), asio::buffer(lines),
        bare ? asio::const_buffer() : asio::buffer(*object->body)};
    count(e, o, unchanged ? 304 : object->head.status, bare ? 0 : object->body->size());
    e.request.connection.expires_after(idle_time);
    co_await e.request.connection.write(parts);
}

http::task<void> proxy::refuse(exchange& e, unsigned status, const std::string& why, outcome o) {
    const std::string text = why + "\n";
    http::response_head head{status, {}, {}};
    head.fields.add("Content-Type", "text/plain");
    head.fields.add("Content-Length", std::to_string(text.size()));
    const std::string all = http::to_text(head) + heads_.ending(e.status, e.request.keep_alive) +
                            (e.request.head.method == "HEAD" ? "" : text);
    count(e, o, status, text.size());
    co_await e.request.connection.write(all);
}

http::task<void> proxy::open_tunnel(http::request& r) {
    const auto& rights = node_->rights();
    if (!rights.is(node::role::client, r)) throw http::refusal(403, rights.denial(node::role::client, r));
    const auto to = http::parse_authority(r.head.target, 0);
    if (!to || to->port == 0) throw http::refusal(400, "CONNECT needs HOST:PORT");
    if (std::ranges::find(how_.connect_ports, to->port) == how_.connect_ports.end())
        throw http::refusal(
            403,
            fmt::format("tunnels to port {} are not allowed; --connect-port names those that are", to->port));
    exchange e{r, {to->text(), {}}, heads_.status()};
    std::optional<http::channel> made;
    std::string why;
    unsigned failed = 502;
    try {
        made = co_await r.here.client.connect(*to, false, how_.origin_time, http::chosen_by::client);
    } catch (const http::refusal& x) {
        failed = x.status;
        why = x.what();
    } catch (const std::exception& x) {
        why = x.what();
    }
    r.keep_alive = false;
    if (!made) {
        co_await refuse(e, failed, "the tunnel cannot be made: " + why, outcome::failed);
        co_return;
    }
    count(e, outcome::tunnel, 200, 0);
    co_await tunnel(r, std::move(*made), r.reader.rest());
}

}  // namespace posy::proxy
