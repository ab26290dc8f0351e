// Where an answer comes from when the store has none: siblings, the origin, and back to the client.
#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>

#include "exchange.hpp"
#include "http/now.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/hop_by_hop.hpp"
#include "posy/http_cache/url.hpp"
#include "posy/http_cache/validation.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using http_cache::forward_reason;

namespace {

constexpr auto idle_time = 60s;  // without a byte moving
constexpr auto rest = 5s;        // of a sibling that failed
constexpr std::uint64_t most_drained =
    16 * 1024;  // to use a connection again; a new one costs less than more

bool server_error(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

// A request as those beyond us saw it: what Connection names did not get there, and cannot have chosen a
// variant.
http_cache::request_head as_sent(http_cache::request_head head) {
    http_cache::remove_hop_by_hop(head.fields);
    return head;
}

// May what was confirmed stay in the store? That is not for the client to say who happened to ask.
bool may_stay(http_cache::request_head request, const http_cache::stored_response& fresh,
              std::int64_t received) {
    request.method = "GET";
    for (const auto* own : {"Cache-Control", "Pragma", "Authorization"}) request.fields.erase(own);
    return http_cache::storable(request, fresh.head, received);
}

}  // namespace

http::task<void> proxy::fetch(exchange& e, http_cache::stored stale) {
    // What we have ourselves, only old, the origin can confirm in one short answer.
    // Siblings are asked for whole objects, told nobody's password, and passed over by whoever wants it anew.
    const auto& head = e.request.head;
    if (!stale && e.status.forward != forward_reason::request && head.method == "GET" &&
        !head.fields.has("Authorization") && !http_cache::request_directives_of(head.fields).no_cache) {
        const bool done = co_await fetch_from_sibling(e);
        if (done) co_return;
    }
    co_await fetch_from_origin(e, stale);
}

// Those whose summaries name the URL, the quickest first.
http::task<std::vector<std::shared_ptr<node::peer>>> proxy::holders(exchange& e) {
    if (node_->how().sharing == node::sharing::ask) co_return co_await ask_everyone(e);
    std::vector<std::shared_ptr<node::peer>> found;
    node_->mesh().looked_up();
    const auto now = http::clock::now();
    for (const auto& holder : node_->directory().who(e.url, http::milliseconds_now())) {
        auto peer = node_->mesh().find(holder.peer);
        if (peer && peer->up && peer->rests_until.load() < now && !peer->distrusted(now))
            found.push_back(std::move(peer));
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
    const auto key = http::percent_encoded(e.url);
    for (const auto& peer : node_->mesh().all()) {
        ++asked->open;
        auto question = [](proxy& self, http::worker& w, std::shared_ptr<node::peer> p, std::string target,
                           std::shared_ptr<poll> all) -> http::task<void> {
            try {
                const auto head = self.node_->mesh().request_to(*p, "GET", std::move(target));
                const auto got = co_await w.client.ask(p->address.where.authority, p->address.where.secure,
                                                       head, {}, http::short_answer, self.how_.sibling_time);
                self.node_->bytes().questions += got.sent + got.received;
                p->up = true;
                if (got.head.status == 204) all->yes.push_back(p);
            } catch (const std::exception&) {
                p->up = false;
                ++p->failures;
            }
            if (--all->open == 0 || all->yes.size() == 1) all->timer.cancel();
        };
        asio::co_spawn(here.context, question(*this, here, peer, "/have?key=" + key, asked), asio::detached);
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
    http_cache::remove_hop_by_hop(head.fields);
    // What is the client's alone stays here; Authorization does not get this far.
    for (const auto* own : {"If-None-Match", "If-Modified-Since", "Range", "If-Range", "Cookie"})
        head.fields.erase(own);
    head.target = e.url;
    head.fields.set("Host", http::parse_url(e.url)->authority.text());
    head.fields.add("Cache-Control", "only-if-cached");
    head.fields.add("Via", e.via);
    if (!node_->how().token.empty() && sibling.address.kind == node::peer_kind::posy)
        head.fields.set("Proxy-Authorization", "Bearer " + node_->how().token);
    const auto start = http::clock::now();
    const auto failed = [&] {
        ++sibling_failures_;
        ++sibling.failures;
        if (how_.break_siblings == 0) sibling.rests_until = http::clock::now() + rest;
    };
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
        failed();
    }
    if (!u) co_return false;
    sibling.took(http::clock::now() - start);
    const auto& answer = u->parsing->head;
    const auto said = answer.fields.combined("Cache-Status").value_or("");
    // A whole answer that it had: no 304 and no 206, which nobody asked it for.
    const bool answered =
        answer.status == 200 || (answer.status < 500 && http_cache::answers_plain_get(answer.status) &&
                                 said.find("; hit") != std::string::npos);
    // It chose among the variants without knowing the cookies.
    const bool other_variant =
        e.request.head.fields.has("Cookie") &&
        (answer.fields.lists("Vary", "Cookie") || http_cache::varies_on_everything(answer.fields));
    if (answered && !other_variant) {
        e.status.detail = sibling.address.name;
        const bool done = co_await relay(e, *u, outcome::sibling);
        done ? node_->mesh().was_there(sibling) : void(++sibling.failures);
        if (!done) e.status.detail.clear();
        co_return done;
    }
    if (!answered && answer.status != 504) {  // not what a sibling says: a wrong token, a loop
        failed();
        co_return false;
    }
    node_->mesh().was_not_there(sibling, e.url);
    ++(said.find("detail=filter") != std::string::npos ? false_by_filter_ : false_by_age_);
    e.status.detail = "false-hit";
    if (u->parsing->content_length().value_or(~0ULL) > most_drained) co_return false;
    try {
        for (bool more = true; more;) more = co_await u->more();
        if (u->parsing->keep_alive()) e.request.here.client.keep(std::move(u->channel));
    } catch (const std::exception&) {  // it has said what we need
    }
    co_return false;
}

http::task<bool> proxy::fetch_from_origin(exchange& e, const http_cache::stored& stale) {
    auto head = stale ? http_cache::conditional(e.request.head, *stale) : e.request.head;
    http_cache::remove_hop_by_hop(head.fields);
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
        failed = r.status == 504 || r.status == 403 ? r.status : 502;  // late, not allowed, or nonsense
        why = r.what();
    } catch (const std::exception& x) {
        failed = 502;
        why = x.what();
    }
    const auto at = http::seconds_now();
    if (stale &&
        ((failed &&
          http_cache::may_serve_on_error(e.request.head, *stale, at, http_cache::failure::no_answer)) ||
         (u && server_error(u->parsing->head.status) &&
          http_cache::may_serve_on_error(e.request.head, *stale, at, http_cache::failure::error_status)))) {
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
        const auto sent = as_sent(e.request.head);
        auto fresh = http_cache::freshened(*stale, sent, u->parsing->head, u->times);
        for (const auto& [name, value] : u->parsing->head.fields) {
            if (http_cache::same_name(name, "Set-Cookie")) e.cookies += name + ": " + value + "\r\n";
        }
        if (u->parsing->keep_alive()) e.request.here.client.keep(std::move(u->channel));
        if (fresh) {
            e.status.stored = may_stay(sent, *fresh, u->times.time_of_day());
            if (e.status.stored) {
                keep(fresh);
            } else {
                co_await forget(e.request.here, e.url);
            }
            co_await answer_from(e, fresh, outcome::revalidated);
            co_return true;
        }
        co_await forget(e.request.here, e.url);
        co_return co_await fetch_from_origin(e, nullptr);
    }
    const auto gone = http_cache::invalidated_urls(e.request.head, e.url, u->parsing->head);
    for (const auto& each : gone) co_await forget(e.request.here, each);
    const bool done =
        co_await relay(e, *u, http_cache::may_look_up(e.request.head) ? outcome::origin : outcome::passed);
    if (!done) co_await refuse(e, 502, "the origin's answer broke off", outcome::failed);
    co_return done;
}

// The answer of someone else, to the client and, if it may be kept, to the store. False when it broke off
// before the client had anything of it.
http::task<bool> proxy::relay(exchange& e, upstream& u, outcome o) {
    auto head = u.parsing->head;
    const bool has_length = u.parsing->content_length().has_value();
    const bool wanted = o == outcome::origin || (o == outcome::sibling && how_.keep_siblings);
    const bool keeping = wanted && http_cache::storable(e.request.head, head, u.times.time_of_day()) &&
                         // Of TLS that ends without a word nobody knows whether more was to come.
                         !(u.parsing->need_eof() && u.channel.connection->encrypted());
    auto kept = keeping ? collect(e.url, u) : http_cache::incoming_body();
    if (!kept.open()) land(e);  // nobody else has anything to wait for
    const bool bare = e.request.head.method == "HEAD" || head.status == 204 || head.status == 304;
    bool more = false;
    try {
        if (!bare) more = co_await u.more();
    } catch (const std::exception&) {
        co_return false;
    }
    http_cache::remove_hop_by_hop(head.fields);
    if (head.status == 204) head.fields.erase("Content-Length");
    if (!head.fields.has("Date")) head.fields.add("Date", http_cache::http_date(u.times.time_of_day()));
    e.status.stored = kept.open();
    const bool whole = bare || has_length;
    const bool chunked = !whole && e.request.parsing.version >= 11;
    if (!whole && !chunked) e.request.keep_alive = false;
    std::string text = http::to_text(head);
    if (chunked) text += "Transfer-Encoding: chunked\r\n";
    text += own_lines(e, e.status);

    bool client_gone = false;
    std::uint64_t bytes = 0;
    try {
        for (;;) {
            const std::string& piece = u.parsing->piece;
            if (chunked && more) text += fmt::format("{:x}\r\n", piece.size());
            const std::string_view end = !chunked ? "" : more ? "\r\n" : "0\r\n\r\n";
            const std::array<asio::const_buffer, 3> parts{asio::buffer(text),
                                                          more ? asio::buffer(piece) : asio::const_buffer(),
                                                          asio::buffer(end.data(), end.size())};
            if (more && kept.open() && !kept.append(piece)) land(e);
            // Before the client has the last of it: what it asks next, it finds; and nobody waits for its
            // line.
            if (kept.open() && u.parsing->is_done()) {
                keep(http_cache::make_stored(e.url, as_sent(e.request.head), u.parsing->head, kept.take(),
                                             u.times));
                land(e);
            }
            u.channel.connection->expires_after(idle_time);
            e.request.connection.expires_after(idle_time);
            if (!client_gone) {
                try {
                    co_await e.request.connection.write(parts);
                    bytes += more ? piece.size() : 0;
                } catch (const boost::system::system_error&) {
                    client_gone = true;  // what is half here is fetched to its end for the next one
                }
            }
            if (client_gone && !kept.open()) break;
            if (!more) break;
            text.clear();
            more = co_await u.more();
        }
    } catch (const std::exception&) {  // the answer broke off: nobody may take it for whole
        e.request.connection.abort();
        client_gone = true;
    }
    count(e, o, head.status, bytes);
    if (u.parsing->is_done() && u.parsing->keep_alive()) e.request.here.client.keep(std::move(u.channel));
    if (client_gone) e.request.keep_alive = false;
    co_return true;
}

// Behind the client's back: what it was given is stale, the next one's should not be.
http::task<void> proxy::revalidate(http::worker& here, http_cache::request_head request, std::string url,
                                   http_cache::stored stale) {
    std::shared_ptr<flights::flight> flight;
    if (!flights_.take_off(url, flight)) co_return;
    try {
        request = as_sent(request);
        request.method = "GET";
        for (const auto* own : {"Cache-Control", "Pragma"}) request.fields.erase(own);
        auto head = http_cache::conditional(request, *stale);
        const auto target = http::parse_url(url);
        head.target = url;
        head.fields.set("Host", target->authority.text());
        head.fields.add("Via", "1.1 " + node_->how().name);
        const destination to{target->authority, target->secure, false};
        auto u = co_await send(here.client, to, head, nullptr, how_.origin_time);
        auto body = collect(url, u);
        for (;;) {
            const bool more = co_await u.more();
            if (!more) break;
            if (!body.append(u.parsing->piece)) throw http::refusal(502, "too large to keep");
        }
        const auto at = u.times.time_of_day();
        http_cache::stored fresh;
        if (u.parsing->head.status == 304) {
            fresh = http_cache::freshened(*stale, request, u.parsing->head, u.times);
            if (fresh && !may_stay(request, *fresh, at)) fresh = nullptr;
        } else if (body.open() && http_cache::storable(request, u.parsing->head, at)) {
            fresh = http_cache::make_stored(url, request, u.parsing->head, body.take(), u.times);
        }
        auto anyone = request;
        anyone.fields.erase("Authorization");
        if (fresh) {
            keep(fresh);
        } else if (!server_error(u.parsing->head.status) &&
                   !http_cache::storable(anyone, u.parsing->head,
                                         at)) {  // by its own word, not by the client's
            co_await forget(here, url);
        }
        if (u.parsing->keep_alive()) here.client.keep(std::move(u.channel));
    } catch (const std::exception&) {  // the stale one stays until it may not be served any more
    }
    flights_.land(url);
}

}  // namespace posy::proxy
