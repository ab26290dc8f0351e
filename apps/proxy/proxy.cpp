#include "proxy.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>

#include "exchange.hpp"
#include "forwards.hpp"
#include "http/elsewhere.hpp"
#include "http/now.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/url.hpp"
#include "posy/http_cache/validation.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using http_cache::forward_reason;
using http_cache::verdict;

std::string_view name_of(outcome o) {
    static constexpr std::array<std::string_view, static_cast<std::size_t>(outcome::count_)> names{
        "hit", "stale", "revalidated", "sibling", "origin", "refused", "failed", "passed", "tunnel"};
    return names[static_cast<std::size_t>(o)];
}

namespace {

constexpr auto idle_time = 60s;  // without a byte moving

}  // namespace

proxy::proxy(const options& how, const node::options& node_how, http::server& server)
    : how_(how), server_(server), log_(how.access_log) {
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
    asio::steady_timer timer(server_.first().context);
    for (;;) {
        timer.expires_after(1s);
        co_await timer.async_wait(asio::use_awaitable);
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
    auto url = http_cache::normal_url(r.head.target);
    if (!url || !http::parse_url(*url))
        throw http::refusal(400, "a proxy is asked for absolute URLs, http://… or https://…");
    exchange e{r, std::move(*url), {.cache = node_->how().name}, "1.1 " + node_->how().name};
    co_await serve(e);
}

http::task<void> proxy::serve(exchange& e) {
    auto& head = e.request.head;
    if (const auto seen = head.fields.combined("Via")) {
        for (const auto member : http_cache::list_members(*seen)) {
            if (!member.ends_with(" " + node_->how().name)) continue;
            co_await refuse(e, 508, "the request has been here before", outcome::failed);
            co_return;
        }
    }
    if (!http_cache::may_look_up(head)) {
        e.status.forward =
            head.method == "GET" || head.method == "HEAD" ? forward_reason::request : forward_reason::method;
        co_await fetch_from_origin(e, nullptr);
        co_return;
    }
    for (int round = 0;; ++round) {
        auto found = co_await look_up(e.request.here, e.url, head);
        const auto decided = http_cache::decide(head, found.get(), http::seconds_now());
        e.status.forward = decided.why;
        if (!found && decided.why == forward_reason::uri_miss && store_->has(e.url))
            e.status.forward = forward_reason::vary_miss;
        switch (decided.verdict) {
            case verdict::serve:
                co_await answer_from(e, found,
                                     found->ttl(http::seconds_now()) > 0 ? outcome::hit : outcome::stale);
                co_return;
            case verdict::serve_and_revalidate:
                renew_behind(e, found);
                co_await answer_from(e, found, outcome::stale);
                co_return;
            case verdict::refuse: {
                // A sibling asked. What misled it: that ours is stale or another variant, our summary, or
                // time?
                e.status.forward.reset();  // nothing was forwarded (RFC 9211, 2.2)
                e.status.detail = store_->has(e.url)                ? "stale"
                                  : node_->set().may_contain(e.url) ? "filter"
                                                                    : "age";
                co_await refuse(e, 504, "not in this cache, and that is all that was asked",
                                outcome::refused);
                co_return;
            }
            case verdict::validate:
            case verdict::forward:
                break;
        }
        // The first to want it fetches; whoever comes meanwhile waits, and looks once more.
        if (round > 0 || head.method != "GET" || head.fields.has("Range") ||
            head.fields.has("Authorization") || decided.why == forward_reason::request) {
            co_await fetch(e, found);
            co_return;
        }
        std::shared_ptr<flights::flight> flight;
        if (flights_.take_off(e.url, flight)) {
            std::exception_ptr failed;
            e.flying = true;
            try {
                co_await fetch(e, found);
            } catch (...) {
                failed = std::current_exception();
            }
            land(e);
            if (failed) std::rethrow_exception(failed);
            co_return;
        }
        e.request.connection.expires_after(how_.origin_time + 10s);
        co_await flights::wait(flight, e.request.here.context, how_.origin_time);
        e.status.collapsed = true;
        ++collapsed_;
    }
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

// At once into memory, where whoever waits for it looks first; to the disk in turn, if it keeps up.
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
    if (std::exchange(e.flying, false)) flights_.land(e.url);
}

// What we add to every head.
std::string proxy::own_lines(const exchange& e, const http_cache::cache_status& status) const {
    return fmt::format("Via: {}\r\nCache-Status: {}\r\n{}\r\n", e.via, status.text(),
                       e.request.keep_alive ? "" : "Connection: close\r\n");
}

void proxy::count(const exchange& e, outcome o, unsigned status, std::uint64_t bytes) {
    ++outcomes_[static_cast<std::size_t>(o)];
    body_bytes_ += bytes;
    if (log_.on())
        log_.write(e.request.connection.remote().address().to_string(), e.request.head.method, e.url, status,
                   bytes);
}

http::task<void> proxy::answer_from(exchange& e, http_cache::stored object, outcome o) {
    const auto at = http::seconds_now();
    auto status = e.status;
    status.hit = o != outcome::revalidated;
    if (status.hit) status.forward.reset();
    status.ttl = object->ttl(at);
    const bool unchanged = http_cache::not_modified(e.request.head, *object, at);
    const bool bare = unchanged || e.request.head.method == "HEAD";
    const std::string short_head =
        unchanged ? http::to_text(http_cache::not_modified_head(*object)) : std::string();
    const std::string lines = fmt::format("Age: {}\r\n{}", object->age(at), e.cookies) + own_lines(e, status);
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
    const std::string all =
        http::to_text(head) + own_lines(e, e.status) + (e.request.head.method == "HEAD" ? "" : text);
    count(e, o, status, text.size());
    co_await e.request.connection.write(all);
}

http::task<void> proxy::open_tunnel(http::request& r) {
    const auto& rights = node_->rights();
    if (!rights.is(node::role::client, r)) throw http::refusal(403, rights.denial(node::role::client, r));
    const auto to = http::parse_authority(r.head.target, 0);
    if (!to || to->port == 0) throw http::refusal(400, "CONNECT names HOST:PORT");
    if (std::ranges::find(how_.connect_ports, to->port) == how_.connect_ports.end())
        throw http::refusal(
            403,
            fmt::format("tunnels to port {} are not allowed; --connect-port names those that are", to->port));
    exchange e{r, to->text(), {.cache = node_->how().name}, "1.1 " + node_->how().name};
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

void proxy::describe(node::metrics& m) const {
    const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
        m.counter("posy_proxy_requests_total", "Requests of clients, by how they were answered",
                  number(outcomes_[i]), node::metrics::label("result", name_of(static_cast<outcome>(i))));
    }
    const auto false_hit = [&](std::string_view cause, std::uint64_t n) {
        m.counter("posy_proxy_false_hits_total", "Siblings that were asked in vain, by what misled us",
                  number(n), node::metrics::label("cause", cause));
    };
    false_hit("filter", false_by_filter_);
    false_hit("age", false_by_age_);
    m.counter("posy_proxy_sibling_failures_total", "Siblings that did not answer", number(sibling_failures_));
    m.counter("posy_proxy_collapsed_total", "Requests that waited for the fetch of another",
              number(collapsed_));
    m.counter("posy_proxy_sent_body_bytes_total", "Bytes of bodies sent to clients", number(body_bytes_));
    m.gauge("posy_cache_objects_bytes", "Bytes of objects: stored, on their way, or still being sent",
            number(store_->room()->used()));
    m.gauge("posy_cache_limit_bytes", "What these bytes cannot exceed", number(store_->room()->bytes()));
    m.counter("posy_proxy_unkept_total",
              "Answers that could be stored and were not: no memory was left, or they were too large",
              number(unkept_));
    const auto tier = [&](std::string_view name, const http_cache::store_counts& c) {
        const auto label = node::metrics::label("tier", name);
        m.gauge("posy_cache_bytes", "Bytes in the store", number(c.bytes), label);
        m.gauge("posy_cache_objects", "Responses in the store", number(c.objects), label);
        m.counter("posy_cache_evictions_total", "Responses dropped for want of room", number(c.evictions),
                  label);
    };
    tier("memory", store_->memory_counts());
    if (const auto disk = store_->disk_counts()) tier("disk", *disk);
}

}  // namespace posy::proxy
