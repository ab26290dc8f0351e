// Stale answers, renewed behind their clients' backs (stale-while-revalidate, RFC 5861).
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "arriving_part.hpp"
#include "confirmation.hpp"
#include "exchange.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;

// At most one per URL, and few in all (renewals.hpp); otherwise a later request will do it. Without a stale
// one the whole answer is fetched, of which the client asked for a part.
void proxy::renew_behind(exchange& e, http_cache::stored stale) {
    auto request = as_sent(e.request.head);
    if (!stale) {
        if (request.fields.has("Authorization") || unshared_.has(e.to.url, time_.now())) return;
        for (const auto* own : {"Range", "If-Range", "If-None-Match", "If-Modified-Since"})
            request.fields.erase(own);
    }
    auto place = renewals_->enter(e.request.connection.remote().address());
    std::shared_ptr<flights::flight> flight;
    if (!place || !flights_.take_off(e.to.url, flight)) return;
    if (!stale && store_->find_in_memory(e.to.url, request)) {  // it has come meanwhile
        land(flight);
        return;
    }
    asio::co_spawn(e.request.here.context,
                   renew(e.request.here, e.on, std::move(request), e.to, std::move(stale), std::move(place),
                         std::move(flight)),
                   asio::detached);
}

// All of it within the time that an origin has for the head of an answer, since no client waits for it.
http::task<void> proxy::renew(http::worker& here, std::shared_ptr<const terms> on,
                              http_cache::request_head request, target to, http_cache::stored stale,
                              std::shared_ptr<void> /*place*/, std::shared_ptr<flights::flight> flight) {
    try {
        request.method = "GET";
        for (const auto* own : {"Cache-Control", "Pragma"}) request.fields.erase(own);
        const auto by = ways_to(*on, to).front();
        const destination origin = by.to;
        auto question = heads_.to_origin(request, stale, to);
        if (by.parent) question.target = to.url;
        auto u = co_await send(here.client, origin, std::move(question), nullptr, how_.origin_time,
                               time_.now() + how_.origin_time);
        if (by.parent && u.parsing->head.status == 407)
            throw http::refusal(502, "the parent wants credentials (407)");
        auto body = collect(to.url, u, u.length());
        for (;;) {
            const bool more = co_await u.more();
            if (!more) break;
            if (!body.append(u.parsing->piece)) throw http::refusal(502, "too large to keep");
        }
        const auto at = u.times.time_of_day();
        const auto& said = u.parsing->head;
        confirmation made;
        if (stale && said.status == 304) {
            made = confirm(*stale, request, said, u.times);
        } else if (const auto range = http_cache::carried_by(said);
                   range && stale && http_cache::storable(request, http_cache::head_of_whole(said), at)) {
            arriving_part part{*range, to.url, request, said, u.times, std::move(body)};
            end_part(part, true);
        } else if (body.open() && http_cache::storable(request, said, at)) {
            made.for_all = http_cache::make_stored(to.url, request, said, body.take(), u.times);
        } else {
            for (const auto* own : {"Authorization", "Cookie"})  // by its own word, not by the client's
                request.fields.erase(own);
            made.forget = !server_error(said.status) && !http_cache::storable(request, said, at);
        }
        if (made.for_all) keep(made.for_all);
        if (!stale && !made.for_all) unshared_.add(to.url, time_.now());  // not again for each range
        if (made.forget) co_await forget(here, to.url);
        if (u.reusable()) here.client.keep(std::move(u.channel));
    } catch (const std::exception&) {  // the stale one stays until it may not be served any more
    }
    land(flight);
}

}  // namespace posy::proxy
