// What is fetched for the store: one fetch of its own, and all who want it read from it (arrival.hpp).
#include <fmt/format.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "exchange.hpp"
#include "posy/http_cache/validation.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// A fetch that belongs to no client. It may outlive the proxy, at the end of the process: then it is only
// destroyed.
struct proxy::fetching {
    upstream u;
    std::shared_ptr<arrival> to;
    std::shared_ptr<flights::flight> flight;  // null: nobody waits
    std::string url;
    http_cache::request_head request;
    http::worker& here;
    http::clock::duration waited{};  // for slow readers
};

namespace {

// Of a reader that keeps others waiting, once an answer is too large to be stored.
constexpr auto most_patience = 30s;

const auto no_body = std::make_shared<const std::string>();

}  // namespace

bool serves(const http_cache::request_head& head, const http_cache::stored_response& shown,
            http_cache::seconds now) {
    const auto verdict = http_cache::decide(head, &shown, now).verdict;
    return verdict == http_cache::verdict::serve || verdict == http_cache::verdict::serve_and_revalidate;
}

bool serves_others(http_cache::request_head head, const http_cache::stored_response& shown,
                   http_cache::seconds now) {
    for (const auto* own : {"Cache-Control", "Pragma"}) head.fields.erase(own);
    return serves(head, shown, now);
}

void proxy::do_not_share(const exchange& e) {
    if (e.flight) unshared_.add(e.to.url, time_.now());
}

// Null when there is no room for it, or when it is known to be too large.
std::shared_ptr<arrival> proxy::collect_for_all(exchange& e, const upstream& u,
                                                http_cache::incoming_body body,
                                                std::optional<std::uint64_t> length) {
    if (!body.open()) return nullptr;
    arrival::opening o{u.parsing->head, nullptr, {}};
    o.shown = http_cache::make_stored(e.to.url, as_sent(e.request.head), o.head, no_body, u.times);
    o.length = length;
    constexpr std::uint64_t digits = 64;  // of its length, as the allocator rounds them
    o.fits = o.length && *o.length + o.shown->size + digits <= store_->largest_in_memory();
    return std::make_shared<arrival>(std::move(o), std::move(body));
}

// The fetch leaves the client whose request began it, and that one becomes a reader like any other.
http::task<bool> proxy::share(exchange& e, upstream& u, std::shared_ptr<arrival> shared, outcome o) {
    auto place = *shared->join();
    if (serves_others(e.request.head, *shared->shown(), time_.seconds())) {
        unshared_.remove(e.to.url);
        if (e.flight) flights_.arrive(*e.flight, shared);
    } else {  // each has to ask for itself, now and later
        do_not_share(e);
        land(e);
    }
    const std::shared_ptr<fetching> f(new fetching{std::move(u), shared, std::exchange(e.flight, nullptr),
                                                   e.to.url, as_sent(e.request.head), e.request.here});
    if (f->u.parsing->is_done() && shared->complete(f->u.parsing->piece.size())) {  // all of it came at once
        const bool fitted = f->u.parsing->piece.empty() || shared->append(f->u.parsing->piece);
        if (!fitted) {
            ++unkept_;
            shared->pass(std::move(f->u.parsing->piece));
        }
        finish(*f, fitted && store_whole(*f));
    } else {
        asio::co_spawn(e.request.here.context, fill(f), asio::detached);
    }
    co_return co_await read(e, std::move(place), o);
}

// At the origin's pace, whoever reads.
http::task<void> proxy::fill(std::shared_ptr<fetching> f) {
    auto& u = f->u;
    auto& to = f->to;
    auto& connection = *u.channel.connection;
    bool stored = true, alone = false, whole = false;
    try {
        for (bool more = !u.parsing->piece.empty();;) {
            // A rest that was asked for says by Content-Range how much it is, and need not keep to it.
            if (more && to->exceeded_by(u.parsing->piece.size())) {
                stored = false;
                throw http::refusal(502, "more came than was announced");
            }
            if (more && stored && !to->append(u.parsing->piece)) {
                stored = false;
                ++unkept_;
                land(f->flight);  // the others ask for themselves
            }
            if (more && !stored) co_await pass_to_all(*f);
            if (u.parsing->is_done()) break;
            connection.expires_after(how_.silence_time);
            // What is half here is fetched to its end for the next one, but nobody is there to see how long
            // that takes.
            if (alone != (to->readers() == 0)) {
                alone = !alone;
                connection.ends_by(alone ? time_.now() + how_.origin_time : http::clock::time_point::max());
            }
            more = co_await u.more();
        }
        if (!to->complete()) throw http::refusal(502, "less came than was announced");
        if (std::exchange(stored, false)) stored = store_whole(*f);
        whole = true;
    } catch (const std::exception&) {
        note_silence(f->url, f->u.channel);
        to->break_off();
        if (stored) keep_beginning(*f);
    }
    if (!whole) {
        land(f->flight);
    } else {
        finish(*f, stored);
    }
}

// What does not fit, as fast as all take it who have begun.
http::task<void> proxy::pass_to_all(fetching& f) {
    f.to->pass(std::move(f.u.parsing->piece));
    for (;;) {
        const auto heard = f.to->space().rings();
        if (f.to->readers() == 0) throw http::refusal(502, "nobody reads it");
        if (f.to->all_have_it()) co_return;
        constexpr auto turn = 10s;
        f.u.channel.connection->expires_after(how_.silence_time + turn);
        const auto start = time_.now();
        co_await f.to->space().wait(f.here, start + turn, heard);
        f.waited += time_.now() - start;
        if (f.waited < most_patience) continue;
        f.to->cut_slowest();
        f.waited = {};
    }
}

// Before any client has the last of it: what it asks next, it finds.
bool proxy::store_whole(fetching& f) {
    return keep(http_cache::make_stored(f.url, f.request, f.to->head(), f.to->take(), f.u.times));
}

// Of an answer that broke off, for those who want no more than that.
void proxy::keep_beginning(fetching& f) {
    const auto& length = f.to->length();
    if (!length || f.to->head().status != 200 || f.request.method != "GET") return;
    const auto body = f.to->take();
    if (body->empty() || body->size() >= *length) return;
    keep_parts(f.url, f.request, f.to->head(), {*length, 0, body}, f.u.times);
}

void proxy::finish(fetching& f, bool stored) {
    f.to->end(stored);
    land(f.flight);
    if (f.u.reusable()) f.here.client.keep(std::move(f.u.channel));
}

// Another's answer, as it arrives. Nothing when it does not answer this request; false when it broke off
// before the client had anything of it.
http::task<std::optional<bool>> proxy::join(exchange& e, std::shared_ptr<arrival> shared) {
    const auto& shown = *shared->shown();
    const auto now = time_.seconds();
    if (!shown.variant.matches(e.request.head.fields) || !serves(e.request.head, shown, now))
        co_return std::nullopt;
    if (http_cache::not_modified(e.request.head, shown, now)) {
        co_await answer_from(e, shared->shown(), outcome::hit);
        co_return true;
    }
    auto place = shared->join();
    if (!place) co_return std::nullopt;
    e.lines = fmt::format("Age: {}\r\n", shown.age(now));
    // It cost the origin nothing.
    co_return co_await read(e, std::move(*place), outcome::hit);
}

// Whatever is there now, and what comes, at the client's pace.
http::task<bool> proxy::read(exchange& e, arrival::place place, outcome o) {
    auto& shared = place.of();
    auto& connection = e.request.connection;
    auto part = place.next();
    if (part.broken) co_return false;
    auto length = shared.length();
    if (part.last) length = part.bytes.size();
    auto head = e.status.collapsed ? shared.shown()->head : shared.head();
    const auto body = framing_of(e.request, head.status, length.has_value());
    if (body == framing::close) e.request.keep_alive = false;
    e.status.stored = part.stored || (shared.fits() && !part.last);
    head.fields.erase("Content-Length");
    if (body == framing::length) head.fields.add("Content-Length", std::to_string(*length));
    std::string before = head_for_client(e, head, body);
    std::uint64_t sent = 0;
    try {
        for (;;) {
            const bool in_chunk = body == framing::chunks && !part.bytes.empty();
            if (in_chunk) before += fmt::format("{:x}\r\n", part.bytes.size());
            std::string behind = in_chunk ? "\r\n" : "";
            if (body == framing::chunks && part.last) behind += "0\r\n\r\n";
            const std::array<asio::const_buffer, 3> parts{asio::buffer(before),
                                                          asio::buffer(part.bytes.data(), part.bytes.size()),
                                                          asio::buffer(behind)};
            connection.expires_after(how_.silence_time);
            if (asio::buffer_size(parts) > 0) co_await connection.write(parts);
            sent += part.bytes.size();
            release(before);
            if (part.last) break;
            part = co_await next_part(e, place);
            if (part.broken) throw http::refusal(502, "the answer broke off");
        }
    } catch (const std::exception&) {  // the client must not take it for whole
        connection.abort();
        e.request.keep_alive = false;
    }
    count(e, o, head.status, sent);
    co_return true;
}

http::task<arrival::part> proxy::next_part(exchange& e, arrival::place& place) {
    auto& news = place.of().news();
    for (;;) {
        const auto heard = news.rings();
        auto part = place.next();
        if (!part.nothing()) co_return part;
        e.request.connection.expires_after(how_.silence_time + 10s);
        co_await news.wait(e.request.here, time_.now() + how_.silence_time, heard);
    }
}

}  // namespace posy::proxy
