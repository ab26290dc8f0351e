// Where an answer comes from when the store has none: siblings, or the origin.
#include "confirmation.hpp"
#include "exchange.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/url.hpp"
#include "proxy.hpp"

namespace posy::proxy {

using namespace std::chrono_literals;
using http_cache::forward_reason;

namespace {

// Siblings are asked for whole objects only, are told no passwords, and are not asked when the client wants
// something newer than the cache would serve.
bool siblings_may_answer(const http_cache::request_head& head) {
    const auto wants = http_cache::request_directives_of(head.fields);
    return head.method == "GET" && !head.fields.has("Authorization") && !wants.no_cache && !wants.max_age &&
           !wants.min_fresh;
}

}  // namespace

bool server_error(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

http::task<void> proxy::fetch(exchange& e, http_cache::stored stale) {
    // What we have ourselves, only old, the origin can confirm in one short answer.
    if (!stale && e.status.forward != forward_reason::request && siblings_may_answer(e.request.head)) {
        const bool done = co_await fetch_from_sibling(e);
        if (done) co_return;
    }
    co_await fetch_from_origin(e, stale);
}

http::task<std::variant<upstream, proxy::no_answer>> proxy::ask_origin(exchange& e,
                                                                       const http_cache::stored& stale) {
    const destination to{e.to.parts.authority, e.to.parts.secure};
    try {
        e.request.connection.expires_after(how_.origin_time + 10s);
        auto question = heads_.to_origin(e.request.head, stale, e.to);
        co_return co_await send(e.request.here.client, to, std::move(question), &e.request, how_.origin_time);
    } catch (const client_fault&) {
        throw;
    } catch (const http::refusal& r) {  // late, not allowed, or nonsense
        co_return no_answer{r.status == 504 || r.status == 403 ? r.status : 502, r.what()};
    } catch (const std::exception& x) {
        co_return no_answer{502, x.what()};
    }
}

http::task<bool> proxy::fetch_from_origin(exchange& e, const http_cache::stored& stale) {
    auto got = co_await ask_origin(e, stale);
    auto* u = std::get_if<upstream>(&got);
    if (u) e.status.forward_status = u->parsing->head.status;
    if (stale && (!u || server_error(u->parsing->head.status)) &&
        http_cache::may_serve_on_error(
            e.request.head, *stale, time_.seconds(),
            u ? http_cache::failure::error_status : http_cache::failure::no_answer)) {
        co_await answer_from(e, stale, outcome::stale);
        co_return true;
    }
    if (!u) {
        const auto& failed = std::get<no_answer>(got);
        if (!e.request.parsing.is_done()) e.request.keep_alive = false;
        co_await refuse(e, failed.status, "the origin cannot be asked: " + failed.why, outcome::failed);
        co_return false;
    }
    if (stale && u->parsing->head.status == 304) {
        const auto confirmed = co_await take_confirmation(e, *stale, *u);
        if (!confirmed) co_return co_await fetch_from_origin(e, nullptr);
        co_await answer_from(e, confirmed, outcome::revalidated);
        co_return true;
    }
    const auto gone = http_cache::invalidated_urls(e.request.head, e.to.url, u->parsing->head);
    for (const auto& each : gone) co_await forget(e.request.here, each);
    const bool done =
        co_await relay(e, *u, http_cache::may_look_up(e.request.head) ? outcome::origin : outcome::passed);
    if (!done) co_await refuse(e, 502, "the origin's answer broke off", outcome::failed);
    co_return done;
}

// What a 304 leaves of the stale answer, for this client; null: it is about something else.
http::task<http_cache::stored> proxy::take_confirmation(exchange& e, const http_cache::stored_response& stale,
                                                        upstream& u) {
    const auto& said = u.parsing->head;
    const auto made = confirm(stale, as_sent(e.request.head), said, u.times);
    for (const auto& [name, value] : said.fields) {
        if (http_cache::same_name(name, "Set-Cookie") || http_cache::same_name(name, "Set-Cookie2"))
            e.cookies += name + ": " + value + "\r\n";
    }
    if (u.parsing->keep_alive()) e.request.here.client.keep(std::move(u.channel));
    e.status.stored = made.for_all != nullptr;
    if (made.for_all) keep(made.for_all);
    if (made.forget) co_await forget(e.request.here, e.to.url);
    co_return made.answer;
}

}  // namespace posy::proxy
