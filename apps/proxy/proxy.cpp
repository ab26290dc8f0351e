#include "proxy.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>

#include "posy/cache/hop_by_hop.hpp"
#include "posy/cache/url.hpp"
#include "posy/cache/validation.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using cache::forward_reason;
using cache::verdict;

// All that is known of one request.
struct proxy::exchange {
    http::request& request;
    std::string url;
    cache::cache_status status;
    std::string via;
};

std::string_view name_of(outcome o) {
    static constexpr std::array<std::string_view, static_cast<std::size_t>(outcome::count_)> names{
        "hit", "stale", "revalidated", "sibling", "origin", "refused", "failed", "passed", "tunnel"};
    return names[static_cast<std::size_t>(o)];
}

namespace {

// Runs a function that blocks on a thread of the pool.
template <class Function>
http::task<std::invoke_result_t<Function>> elsewhere(asio::io_context& here, asio::thread_pool& pool,
                                                     Function run) {
    auto timer = std::make_shared<asio::steady_timer>(here, asio::steady_timer::time_point::max());
    std::optional<std::invoke_result_t<Function>> found;
    asio::post(pool, [&found, &here, &run, timer] {
        found = run();
        asio::post(here, [timer] { timer->cancel(); });
    });
    boost::system::error_code done;
    co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, done));
    co_return std::move(*found);
}

bool server_error(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

}  // namespace

proxy::proxy(const options& how, const node::options& node_how, http::server& server)
    : how_(how), server_(server), log_(how.access_log) {
    auto opened = cache::store::open(how_.store, this);
    if (!opened) throw std::runtime_error("the store: " + opened.error().text());
    store_ = std::move(*opened);
    node_ = std::make_unique<node::node>(node_how, server,
                                         [this](const auto& visit) { store_->for_each_url(visit); });
    counting_ = true;
    node_->holds = [this](std::string_view url) { return store_->has(url); };
    node_->describe_more = [this](node::metrics& m) { describe(m); };
    asio::co_spawn(server_.first().context, keep_time(), asio::detached);
}

proxy::~proxy() {
    disk_.join();
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
    if (!node_->trusted(r)) throw http::refusal(403, "this proxy is not for you");
    auto url = cache::normal_url(r.head.target);
    if (!url || !http::parse_url(*url))
        throw http::refusal(400, "a proxy is asked for absolute URLs, http://… or https://…");
    exchange e{r, std::move(*url), {.cache = node_->how().name}, "1.1 " + node_->how().name};
    co_await serve(e);
}

http::task<void> proxy::serve(exchange& e) {
    auto& head = e.request.head;
    if (const auto seen = head.fields.combined("Via")) {
        for (const auto member : cache::list_members(*seen)) {
            if (!member.ends_with(" " + node_->how().name)) continue;
            co_await refuse(e, 508, "the request has been here before", outcome::failed);
            co_return;
        }
    }
    if (!cache::may_look_up(head)) {
        e.status.forward =
            head.method == "GET" || head.method == "HEAD" ? forward_reason::request : forward_reason::method;
        co_await fetch_from_origin(e, nullptr);
        co_return;
    }
    for (int round = 0;; ++round) {
        auto found = co_await look_up(e.request.here, e.url, head);
        const auto decided = cache::decide(head, found.get(), now());
        e.status.forward = decided.why;
        if (!found && decided.why == forward_reason::uri_miss && store_->has(e.url))
            e.status.forward = forward_reason::vary_miss;
        switch (decided.verdict) {
            case verdict::serve:
                co_await answer_from(e, found, found->ttl(now()) > 0 ? outcome::hit : outcome::stale);
                co_return;
            case verdict::serve_and_revalidate:
                asio::co_spawn(e.request.here.context, revalidate(e.request.here, head, e.url, found),
                               asio::detached);
                co_await answer_from(e, found, outcome::stale);
                co_return;
            case verdict::refuse: {
                // A sibling asked. Was it our summary that misled it, or time?
                e.status.detail = node_->set().may_contain(e.url) ? "filter" : "age";
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
            try {
                co_await fetch(e, found);
            } catch (...) {
                failed = std::current_exception();
            }
            flights_.land(e.url);
            if (failed) std::rethrow_exception(failed);
            co_return;
        }
        e.request.connection.expires_after(how_.origin_time + 10s);
        co_await flights::wait(flight, e.request.here.context, how_.origin_time);
        e.status.collapsed = true;
        ++collapsed_;
    }
}

http::task<cache::stored> proxy::look_up(http::worker& here, const std::string& url,
                                         const cache::request_head& head) {
    auto found = store_->memory().find(url, head);
    if (found || !store_->has_disk() || !store_->has(url)) co_return found;
    co_return co_await elsewhere(here.context, disk_, [&] { return store_->find(url, head); });
}

void proxy::keep(cache::stored object) {
    if (!store_->has_disk()) {
        store_->put(object);
    } else {
        asio::post(disk_, [this, object = std::move(object)] { store_->put(object); });
    }
}

// What we add to every head.
std::string proxy::own_lines(const exchange& e, const cache::cache_status& status) const {
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

http::task<void> proxy::answer_from(exchange& e, cache::stored object, outcome o) {
    const auto at = now();
    auto status = e.status;
    status.hit = o != outcome::revalidated;
    if (status.hit) status.forward.reset();
    status.ttl = object->ttl(at);
    const bool unchanged = cache::not_modified(e.request.head, *object, at);
    const bool bare = unchanged || e.request.head.method == "HEAD";
    const std::string short_head =
        unchanged ? http::to_text(cache::not_modified_head(*object)) : std::string();
    const std::string lines = fmt::format("Age: {}\r\n", object->age(at)) + own_lines(e, status);
    const std::array<asio::const_buffer, 3> parts{
        unchanged ? asio::buffer(short_head) : asio::buffer(object->wire_head), asio::buffer(lines),
        bare ? asio::const_buffer() : asio::buffer(*object->body)};
    count(e, o, unchanged ? 304 : object->head.status, bare ? 0 : object->body->size());
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

http::task<void> proxy::fetch(exchange& e, cache::stored stale) {
    // What we have ourselves, only old, the origin can confirm in one short answer.
    // Siblings are asked for whole objects, and are told nobody's secrets.
    const auto& head = e.request.head;
    if (!stale && e.status.forward != forward_reason::request && head.method == "GET" &&
        !head.fields.has("Authorization")) {
        const bool done = co_await fetch_from_sibling(e);
        if (done) co_return;
    }
    co_await fetch_from_origin(e, stale);
}

// Those whose summaries name the URL, the quickest first.
http::task<std::vector<std::shared_ptr<node::peer>>> proxy::holders(exchange& e) {
    if (node_->how().sharing == node::sharing::ask) co_return co_await ask_everyone(e);
    std::vector<std::shared_ptr<node::peer>> found;
    for (const auto& holder : node_->directory().who(e.url, node::now_in_milliseconds())) {
        auto peer = node_->mesh().find(holder.peer);
        if (peer && peer->up) found.push_back(std::move(peer));
    }
    std::ranges::sort(found, {}, [](const auto& p) { return p->delay.load(); });
    co_return found;
}

// As ICP does: a question to each at the same time, and whoever says yes first is taken.
http::task<std::vector<std::shared_ptr<node::peer>>> proxy::ask_everyone(exchange& e) {
    struct poll {
        explicit poll(asio::io_context& here) : timer(here, asio::steady_timer::time_point::max()) {}
        std::vector<std::shared_ptr<node::peer>> yes;
        std::size_t open = 0;
        asio::steady_timer timer;
    };
    auto& here = e.request.here;
    auto asked = std::make_shared<poll>(here.context);
    std::string escaped;
    for (const char c : e.url)
        escaped += c == '%' || c == '&' || c == '#' || c == '+'
                       ? fmt::format("%{:02X}", static_cast<unsigned char>(c))
                       : std::string(1, c);
    for (const auto& peer : node_->mesh().all()) {
        ++asked->open;
        auto question = [](proxy& self, http::worker& w, std::shared_ptr<node::peer> p, std::string target,
                           std::shared_ptr<poll> all) -> http::task<void> {
            try {
                const auto head = self.node_->mesh().request_to(*p, "GET", std::move(target));
                const auto got = co_await w.client.ask(p->address.where.authority, p->address.where.secure,
                                                       head, {}, {}, self.how_.sibling_time);
                self.node_->bytes().questions += got.sent + got.received;
                p->up = true;
                if (got.head.status == 204) all->yes.push_back(p);
            } catch (const std::exception&) {
                p->up = false;
                ++p->failures;
            }
            if (--all->open == 0 || all->yes.size() == 1) all->timer.cancel();
        };
        asio::co_spawn(here.context, question(*this, here, peer, "/have?key=" + escaped, asked),
                       asio::detached);
    }
    boost::system::error_code done;
    if (asked->open > 0) co_await asked->timer.async_wait(asio::redirect_error(asio::use_awaitable, done));
    co_return asked->yes;
}

// One sibling is asked, the best. True when the client has its answer.
http::task<bool> proxy::fetch_from_sibling(exchange& e) {
    auto found = co_await holders(e);
    if (found.empty()) co_return false;
    node::peer& sibling = *found.front();
    auto head = e.request.head;
    cache::remove_hop_by_hop(head.fields);
    for (const auto* condition : {"If-None-Match", "If-Modified-Since", "Range", "If-Range"})
        head.fields.erase(condition);
    head.target = e.url;
    head.fields.set("Host", http::parse_url(e.url)->authority.text());
    head.fields.set("Cache-Control", "only-if-cached");
    head.fields.add("Via", e.via);
    if (!node_->how().token.empty()) head.fields.set("Proxy-Authorization", "Bearer " + node_->how().token);
    const auto start = http::clock::now();
    std::optional<upstream> u;
    try {
        if (how_.break_siblings > 0) {
            thread_local std::minstd_rand random{std::random_device{}()};
            if (std::uniform_real_distribution<>()(random) < how_.break_siblings)
                throw http::refusal(502, "broken on purpose");
        }
        const auto& where = sibling.address.where;
        const destination to{where.authority, where.secure, true};
        u = co_await send(e.request.here.client, to, head, nullptr, how_.sibling_time);
    } catch (const std::exception&) {
        ++sibling_failures_;
        ++sibling.failures;
    }
    if (!u) co_return false;
    sibling.took(http::clock::now() - start);
    if (u->parsing->head.status == 200) {
        ++sibling.hits;
        e.status.detail = sibling.address.name;
        co_await relay(e, *u, outcome::sibling);
        co_return true;
    }
    ++sibling.false_hits;
    const auto said = u->parsing->head.fields.combined("Cache-Status").value_or("");
    ++(said.find("detail=age") != std::string::npos ? false_by_age_ : false_by_filter_);
    e.status.detail = "false-hit";
    while (co_await u->more()) {
    }
    if (u->parsing->keep_alive()) e.request.here.client.keep(std::move(u->channel));
    co_return false;
}

http::task<bool> proxy::fetch_from_origin(exchange& e, const cache::stored& stale) {
    auto head = stale ? cache::conditional(e.request.head, *stale) : e.request.head;
    cache::remove_hop_by_hop(head.fields);
    const auto target = http::parse_url(e.url);
    head.target = e.url;
    head.fields.set("Host", target->authority.port == (target->secure ? 443 : 80) ? target->authority.host
                                                                                  : target->authority.text());
    head.fields.add("Via", e.via);
    const destination to{target->authority, target->secure, false};
    std::optional<upstream> u;
    unsigned failed = 0;
    std::string why;
    try {
        e.request.connection.expires_after(how_.origin_time + 10s);
        u = co_await send(e.request.here.client, to, head, &e.request, how_.origin_time);
    } catch (const http::refusal& r) {
        failed = r.status == 504 ? 504 : 502;
        why = r.what();
    } catch (const std::exception& x) {
        failed = 502;
        why = x.what();
    }
    const auto at = now();
    if (stale &&
        ((failed && cache::may_serve_on_error(e.request.head, *stale, at, cache::failure::no_answer)) ||
         (u && server_error(u->parsing->head.status) &&
          cache::may_serve_on_error(e.request.head, *stale, at, cache::failure::error_status)))) {
        if (u) e.status.forward_status = u->parsing->head.status;
        co_await answer_from(e, stale, outcome::stale);
        co_return true;
    }
    if (failed) {
        if (!e.request.parsing.is_done()) e.request.keep_alive = false;
        co_await refuse(e, failed, "the origin cannot be asked: " + why, outcome::failed);
        co_return false;
    }
    e.status.forward_status = u->parsing->head.status;
    if (stale && u->parsing->head.status == 304) {
        auto fresh = cache::freshened(*stale, e.request.head, u->parsing->head, {u->requested, u->received});
        if (u->parsing->keep_alive()) e.request.here.client.keep(std::move(u->channel));
        if (fresh) {
            e.status.stored = cache::storable(e.request.head, fresh->head, u->received);
            e.status.stored ? keep(fresh) : void(store_->erase(e.url));
            co_await answer_from(e, fresh, outcome::revalidated);
            co_return true;
        }
        store_->erase(e.url);
        co_return co_await fetch_from_origin(e, nullptr);
    }
    for (const auto& gone : cache::invalidated_urls(e.request.head, e.url, u->parsing->head))
        store_->erase(gone);
    co_await relay(e, *u, cache::may_look_up(e.request.head) ? outcome::origin : outcome::passed);
    co_return true;
}

// The answer of someone else, to the client and, if it may be kept, to the store.
http::task<void> proxy::relay(exchange& e, upstream& u, outcome o) {
    auto head = u.parsing->head;
    const auto length = u.parsing->content_length();
    const bool wanted = o == outcome::origin || (o == outcome::sibling && how_.keep_siblings);
    const bool keeping = wanted && cache::storable(e.request.head, head, u.received) &&
                         (!length || *length <= how_.max_object);
    const bool bare = e.request.head.method == "HEAD" || head.status == 204 || head.status == 304;
    cache::remove_hop_by_hop(head.fields);
    if (!head.fields.has("Date")) head.fields.add("Date", cache::http_date(u.received));
    e.status.stored = keeping;
    const bool whole = bare || length.has_value();
    const bool chunked = !whole && e.request.parsing.version >= 11;
    if (!whole && !chunked) e.request.keep_alive = false;
    std::string text = http::to_text(head);
    if (chunked) text += "Transfer-Encoding: chunked\r\n";
    text += own_lines(e, e.status);

    auto kept = std::make_shared<std::string>();
    bool fits = keeping;
    std::uint64_t bytes = 0;
    bool first = true;
    bool client_gone = false;
    try {
        for (bool more = true; more;) {
            more = !bare && co_await u.more();
            const std::string& piece = u.parsing->piece;
            const std::string size = chunked && more ? fmt::format("{:x}\r\n", piece.size()) : std::string();
            const std::string_view end = !chunked ? "" : more ? "\r\n" : "0\r\n\r\n";
            const std::array<asio::const_buffer, 4> parts{
                first ? asio::buffer(text) : asio::const_buffer(), asio::buffer(size),
                more ? asio::buffer(piece) : asio::const_buffer(), asio::buffer(end.data(), end.size())};
            first = false;
            if (more) {
                bytes += piece.size();
                fits = fits && kept->size() + piece.size() <= how_.max_object;
                if (fits) kept->append(piece);
            }
            u.channel.connection->expires_after(60s);
            if (!client_gone) {
                e.request.connection.expires_after(60s);
                try {
                    co_await e.request.connection.write(parts);
                } catch (const boost::system::system_error&) {
                    if (!fits) throw;
                    client_gone = true;  // what is half here is fetched to its end for the next one
                }
            }
        }
    } catch (const http::refusal&) {  // the answer broke off: nobody may take it for whole
        e.request.connection.close();
        throw;
    }
    if (fits)
        keep(cache::make_stored(e.url, e.request.head, u.parsing->head, kept, {u.requested, u.received}));
    count(e, o, head.status, bytes);
    if (u.parsing->is_done() && u.parsing->keep_alive()) e.request.here.client.keep(std::move(u.channel));
    if (client_gone) e.request.keep_alive = false;
}

// Behind the client's back: what it was given is stale, the next one's should not be.
http::task<void> proxy::revalidate(http::worker& here, cache::request_head request, std::string url,
                                   cache::stored stale) {
    std::shared_ptr<flights::flight> flight;
    if (!flights_.take_off(url, flight)) co_return;
    try {
        auto head = cache::conditional(request, *stale);
        cache::remove_hop_by_hop(head.fields);
        const auto target = http::parse_url(url);
        head.target = url;
        head.method = "GET";
        head.fields.set("Host", target->authority.text());
        head.fields.add("Via", "1.1 " + node_->how().name);
        const destination to{target->authority, target->secure, false};
        auto u = co_await send(here.client, to, head, nullptr, how_.origin_time);
        const cache::exchange_times times{u.requested, u.received};
        auto body = std::make_shared<std::string>();
        while (co_await u.more()) {
            *body += u.parsing->piece;
            if (body->size() > how_.max_object) throw http::refusal(502, "too large to keep");
        }
        cache::stored fresh;
        if (u.parsing->head.status == 304) {
            fresh = cache::freshened(*stale, request, u.parsing->head, times);
        } else if (cache::storable(request, u.parsing->head, u.received)) {
            fresh = cache::make_stored(url, request, u.parsing->head, body, times);
        }
        if (fresh) {
            keep(fresh);
        } else if (!server_error(u.parsing->head.status)) {
            store_->erase(url);
        }
        if (u.parsing->keep_alive()) here.client.keep(std::move(u.channel));
    } catch (const std::exception&) {  // the stale one stays until it may not be served any more
    }
    flights_.land(url);
}

http::task<void> proxy::open_tunnel(http::request& r) {
    if (!node_->trusted(r)) throw http::refusal(403, "this proxy is not for you");
    const auto to = http::parse_authority(r.head.target, 0);
    if (!to || to->port == 0) throw http::refusal(400, "CONNECT names HOST:PORT");
    if (std::ranges::find(how_.connect_ports, to->port) == how_.connect_ports.end())
        throw http::refusal(
            403,
            fmt::format("tunnels to port {} are not allowed; --connect-port names those that are", to->port));
    exchange e{r, to->text(), {.cache = node_->how().name}, "1.1 " + node_->how().name};
    std::optional<http::channel> made;
    std::string why;
    try {
        made = co_await r.here.client.connect(*to, false, how_.origin_time);
    } catch (const std::exception& x) {
        why = x.what();
    }
    r.keep_alive = false;
    if (!made) {
        co_await refuse(e, 502, "the tunnel cannot be made: " + why, outcome::failed);
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
    const auto tier = [&](std::string_view name, const cache::store_counts& c) {
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
