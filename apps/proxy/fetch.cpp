// Where an answer comes from when the store has none: siblings, or the origin.
#include "confirmation.hpp"
#include "exchange.hpp"
#include "posy/http_cache/cache_control.hpp"
#include "posy/http_cache/partial.hpp"
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

// By one way after the other, while one cannot be reached; what has a body or may not come twice, by the
// first alone.
http::task<std::variant<upstream, proxy::no_answer>> proxy::ask_origin(exchange& e,
                                                                       const http_cache::stored& stale) {
    const bool again = e.request.parsing.is_done() && idempotent(e.request.head.method);
    const auto ways = ways_to(*e.on, e.to);
    for (std::size_t i = 0;; ++i) {
        auto got = co_await ask_by(e, stale, ways[i]);
        auto* const failed = std::get_if<no_answer>(&got);
        const bool unreachable = failed && failed->unreachable;
        report(*e.on, ways[i], failed);
        if (!unreachable || !again || i + 1 == ways.size()) co_return got;
    }
}

http::task<std::variant<upstream, proxy::no_answer>> proxy::ask_by(exchange& e,
                                                                   const http_cache::stored& stale, way by) {
    try {
        if (by.parent) judge(*e.on, e.to.parts.authority, e.to.allowed);
        e.request.connection.expires_after(how_.origin_time + 10s);
        auto question = heads_.to_origin(e.request.head, stale, e.to);
        // The last proxy makes "*" of a URL without a path (RFC 9112, 3.2.4), and that is the parent.
        ask_for_rest(e, question);
        if (by.parent) question.target = question.target == "*" ? e.request.head.target : e.to.url;
        auto made =
            co_await send(e.request.here.client, by.to, std::move(question), &e.request, how_.origin_time);
        if (by.parent && made.parsing->head.status == 407)
            co_return no_answer{502, by.to.where.text() + " wants credentials (407)", false};
        co_return made;
    } catch (const client_fault&) {
        throw;
    } catch (const http::refusal& r) {  // late, not allowed, too many, or nonsense
        const bool told = r.status == 504 || r.status == 403 || r.status == 503;
        co_return no_answer{told ? r.status : 502, r.what(), false};
    } catch (const std::exception& x) {
        co_return no_answer{502, x.what(), true};
    }
}

// A client may name any host, so that an origin is no matter for a warning; a backend is one of ours.
void proxy::tell(const exchange& e, const no_answer& failed) const {
    auto& log = *node_->how().log;
    e.request.said.why = failed.why;
    if (e.to.backend) {
        const auto name = e.to.backend->authority.text();
        log.sparingly(http::log_level::warning, "backend " + name, "{}: the backend {} cannot be asked: {}",
                      e.to.url, name, failed.why);
    } else if (outcome_of(failed) == outcome::denied) {
        ++server_.counts().forbidden;
        if (server_.on_refusal)
            server_.on_refusal(e.request.connection.remote().address().to_string(), failed.status,
                               failed.why);
    } else if (failed.for_client.empty()) {  // a parent that fails has been told of
        log.sparingly(http::log_level::info, "origin", "origin {} cannot be asked: {}",
                      e.to.parts.authority.text(), failed.why);
    }
}

outcome proxy::outcome_of(const no_answer& failed) {
    return failed.status == 403 ? outcome::denied : outcome::failed;
}

// Visitors of a site do not learn where its backend is; the logs do.
http::task<void> proxy::give_up(exchange& e, const no_answer& failed) {
    if (!e.request.parsing.is_done()) e.request.keep_alive = false;
    const auto why = e.to.backend ? "the server of this site cannot be asked"
                                  : "the origin cannot be asked: " +
                                        (failed.for_client.empty() ? failed.why : failed.for_client);
    co_await refuse(e, failed.status, why, outcome_of(failed));
}

http::task<bool> proxy::fetch_from_origin(exchange& e, const http_cache::stored& stale) {
    auto got = co_await ask_origin(e, stale);
    auto* u = std::get_if<upstream>(&got);
    if (u) e.status.forward_status = u->parsing->head.status;
    if (!u) tell(e, std::get<no_answer>(got));
    if (stale && (!u || server_error(u->parsing->head.status)) &&
        http_cache::may_serve_on_error(
            e.request.head, *stale, time_.seconds(),
            u ? http_cache::failure::error_status : http_cache::failure::no_answer)) {
        co_await answer_from(e, stale, outcome::stale);
        co_return true;
    }
    if (!u) {
        co_await give_up(e, std::get<no_answer>(got));
        co_return false;
    }
    if (u->parsing->head.status == 101) {
        co_await switch_protocols(e, *u);
        co_return true;
    }
    if (stale && u->parsing->head.status == 304) {
        const auto confirmed = co_await take_confirmation(e, *stale, *u);
        const bool answers =
            confirmed && (!confirmed->parts || http_cache::answers_in_part(e.request.head, *confirmed));
        if (!answers) co_return co_await fetch_from_origin(e, nullptr);
        co_await answer_from(e, confirmed, outcome::revalidated);
        co_return true;
    }
    if (e.begun && (u->parsing->head.status == 206 || u->parsing->head.status == 416)) {
        const auto resumed = resume(e, *u);
        e.begun = nullptr;
        if (!resumed) co_return co_await fetch_from_origin(e, stale);
        co_return co_await share(e, *u, resumed, outcome::origin);
    }
    co_await invalidate(e, *u);
    if (stale && e.request.head.method == "HEAD" && u->parsing->head.status == 200)
        co_await take_head(e, *stale, *u);
    const bool cacheable =
        http_cache::may_look_up(e.request.head) && upgrade_of(e.request.head.fields).empty();
    const bool done = co_await relay(e, *u, cacheable ? outcome::origin : outcome::passed);
    if (!done) co_await refuse(e, 502, "the origin's answer broke off", outcome::failed);
    co_return done;
}

// What the exchange changed is forgotten. The answer to a POST may say that it shows what is there now: then
// it counts as asked for when it was forgotten, unless somebody else changed it while the POST was on its
// way.
http::task<void> proxy::invalidate(exchange& e, upstream& u) {
    const auto& said = u.parsing->head;
    e.stands_for_get =
        http_cache::stands_for_get(e.request.head, e.to.url, said) && (!u.body || u.body->whole());
    for (const auto& each : http_cache::invalidated_urls(e.request.head, e.to.url, said)) {
        const auto when = http_cache::next_moment();
        const auto before = co_await forget(e.request.here, each, when);
        if (!e.stands_for_get || each != e.to.url) continue;
        e.stands_for_get = before < u.times.asked;
        u.times.asked = when;
        u.times.answered = http_cache::next_moment();
    }
}

// What a 304 leaves of the stale answer, for this client; null: it is about something else.
http::task<http_cache::stored> proxy::take_confirmation(exchange& e, const http_cache::stored_response& stale,
                                                        upstream& u) {
    const auto& said = u.parsing->head;
    const auto made = confirm(stale, as_sent(e.request.head), said, u.times);
    for (const auto& [name, value] : said.fields) {
        if (http_cache::same_name(name, "Set-Cookie") || http_cache::same_name(name, "Set-Cookie2"))
            e.lines += name + ": " + value + "\r\n";
    }
    if (u.reusable()) e.request.here.client.keep(std::move(u.channel));
    e.status.stored = made.for_all && keep(made.for_all);
    if (!made.answer || !serves_others(e.request.head, *made.answer, time_.seconds())) do_not_share(e);
    if (made.forget) co_await forget(e.request.here, e.to.url);
    co_return made.answer;
}

}  // namespace posy::proxy
