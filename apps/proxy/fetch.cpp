// Where an answer comes from when the store has none: siblings, or the origin.
#include "confirmation.hpp"
#include "exchange.hpp"
#include "http/now.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/hop_by_hop.hpp"
#include "posy/http_cache/url.hpp"
#include "posy/http_cache/validation.hpp"
#include "proxy.hpp"

namespace posy::proxy {

using namespace std::chrono_literals;
using http_cache::forward_reason;

namespace {

// Siblings are asked for whole objects, told nobody's password, and passed over by whoever wants it newer
// than others do.
bool siblings_may_answer(const http_cache::request_head& head) {
    const auto wants = http_cache::request_directives_of(head.fields);
    return head.method == "GET" && !head.fields.has("Authorization") && !wants.no_cache && !wants.max_age &&
           !wants.min_fresh;
}

}  // namespace

bool server_error(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

http_cache::request_head as_sent(http_cache::request_head head) {
    http_cache::remove_hop_by_hop(head.fields);
    return head;
}

http::request_head question_to_origin(http::request_head asked, const http_cache::stored& stale,
                                      const std::string& url, const std::string& via) {
    auto head = stale ? http_cache::conditional(asked, *stale) : std::move(asked);
    http_cache::remove_hop_by_hop(head.fields);
    const auto target = http::parse_url(url);
    const auto& where = target->authority;
    head.target = url;
    head.fields.set("Host", where.port == (target->secure ? 443 : 80) ? where.host : where.text());
    head.fields.add("Via", via);
    return head;
}

destination origin_of(const std::string& url) {
    const auto target = http::parse_url(url);
    return {target->authority, target->secure, false};
}

http::task<void> proxy::fetch(exchange& e, http_cache::stored stale) {
    // What we have ourselves, only old, the origin can confirm in one short answer.
    if (!stale && e.status.forward != forward_reason::request && siblings_may_answer(e.request.head)) {
        const bool done = co_await fetch_from_sibling(e);
        if (done) co_return;
    }
    co_await fetch_from_origin(e, stale);
}

http::task<bool> proxy::fetch_from_origin(exchange& e, const http_cache::stored& stale) {
    const auto to = origin_of(e.url);
    std::optional<upstream> u;
    unsigned failed = 0;
    std::string why;
    try {
        e.request.connection.expires_after(how_.origin_time + 10s);
        auto question = question_to_origin(e.request.head, stale, e.url, e.via);
        u = co_await send(e.request.here.client, to, std::move(question), &e.request, how_.origin_time);
    } catch (const client_fault&) {
        throw;
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
        const auto& said = u->parsing->head;
        const auto made = confirm(*stale, as_sent(e.request.head), said, u->times);
        for (const auto& [name, value] : said.fields) {
            if (http_cache::same_name(name, "Set-Cookie") || http_cache::same_name(name, "Set-Cookie2"))
                e.cookies += name + ": " + value + "\r\n";
        }
        if (u->parsing->keep_alive()) e.request.here.client.keep(std::move(u->channel));
        e.status.stored = made.for_all != nullptr;
        if (made.for_all) keep(made.for_all);
        if (made.forget) co_await forget(e.request.here, e.url);
        if (!made.answer) co_return co_await fetch_from_origin(e, nullptr);
        co_await answer_from(e, made.answer, outcome::revalidated);
        co_return true;
    }
    const auto gone = http_cache::invalidated_urls(e.request.head, e.url, u->parsing->head);
    for (const auto& each : gone) co_await forget(e.request.here, each);
    const bool done =
        co_await relay(e, *u, http_cache::may_look_up(e.request.head) ? outcome::origin : outcome::passed);
    if (!done) co_await refuse(e, 502, "the origin's answer broke off", outcome::failed);
    co_return done;
}

}  // namespace posy::proxy
