// The answer of someone else, on its way to the client and to the store.
//
// What is stored is collected as fast as it comes, and the client takes it at its own pace: other clients
// that want the same do not wait for a slow one. What is not stored is read no faster than the client takes
// it.
#include <fmt/format.h>

#include <array>

#include "exchange.hpp"
#include "feed.hpp"
#include "posy/http_cache/hop_by_hop.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// How the client learns where the body ends.
enum class framing { absent, length, chunks, close };

struct proxy::transfer {
    exchange& e;
    upstream& u;
    http_cache::incoming_body kept;
    framing body;
    std::string before;   // goes out in front of the next piece: at first the head
    bool more = false;    // there is a piece in u that the client does not have
    bool broken = false;  // the answer ended early, or the client did
    std::uint64_t bytes = 0;

    bool chunked() const { return body == framing::chunks; }
};

namespace {

framing framing_of(const http::request& r, const upstream& u) {
    const auto status = u.parsing->head.status;
    if (r.head.method == "HEAD" || status == 204 || status == 304) return framing::absent;
    if (u.parsing->content_length().has_value()) return framing::length;
    return r.parsing.version >= 11 ? framing::chunks : framing::close;
}

// TLS that ends without a close_notify may have been cut short by a third party.
bool may_be_cut(const upstream& u) { return u.parsing->need_eof() && u.channel.connection->encrypted(); }

}  // namespace

bool proxy::may_keep(const exchange& e, const upstream& u, outcome o) const {
    const bool wanted = o == outcome::origin || (o == outcome::sibling && how_.keep_siblings);
    return wanted && http_cache::storable(e.request.head, u.parsing->head, u.times.time_of_day()) &&
           !may_be_cut(u);
}

// False when it broke off before the client had anything of it.
http::task<bool> proxy::relay(exchange& e, upstream& u, outcome o) {
    const bool keeping = may_keep(e, u, o);
    transfer t{
        e, u, keeping ? collect(e.to.url, u) : http_cache::incoming_body(), framing_of(e.request, u), {}};
    if (keeping && !t.kept.open()) ++unkept_;
    if (!t.kept.open()) land(e);  // other requests have nothing to wait for
    try {
        if (t.body != framing::absent) t.more = co_await u.more();
    } catch (const std::exception&) {
        co_return false;
    }
    const auto status = u.parsing->head.status;
    if (t.body == framing::close) e.request.keep_alive = false;
    t.before = head_for_client(t);
    e.request.connection.expires_after(idle_time);
    bool over = false;
    if (t.kept.open() && u.parsing->is_done()) {  // all of it came at once
        t.kept.append(u.parsing->piece) ? store_answer(t, t.kept.take()) : void(++unkept_);
        land(e);
    } else if (t.kept.open()) {
        over = co_await fill(t);
    }
    if (!over) co_await pass_on(t);
    count(e, o, status, t.bytes);
    if (u.parsing->is_done() && u.parsing->keep_alive()) e.request.here.client.keep(std::move(u.channel));
    if (t.broken) e.request.keep_alive = false;
    co_return true;
}

// Also leaves the heads as they are to be stored; those of what is not are forgotten, because the body may be
// long in coming.
std::string proxy::head_for_client(transfer& t) const {
    auto& head = t.u.parsing->head;
    http_cache::remove_hop_by_hop(head.fields);
    if (head.status == 204) head.fields.erase("Content-Length");
    if (!head.fields.has("Date")) head.fields.add("Date", http_cache::http_date(t.u.times.time_of_day()));
    t.e.status.stored = t.kept.open();
    auto text = http::to_text(head) + (t.chunked() ? "Transfer-Encoding: chunked\r\n" : "") +
                heads_.ending(t.e.status, t.e.request.keep_alive);
    if (!t.kept.open()) {
        head.fields = {};
        t.e.request.head.fields = {};
    }
    return text;
}

// Before the client has the last of it: what it asks next, it finds.
void proxy::store_answer(transfer& t, std::shared_ptr<const std::string> body) {
    keep(http_cache::make_stored(t.e.to.url, as_sent(t.e.request.head), std::move(t.u.parsing->head),
                                 std::move(body), t.u.times));
}

// To the store, and to the client beside it. False when there is no room for more of it: the client has what
// there was, and the rest is to be passed on.
http::task<bool> proxy::fill(transfer& t) {
    auto& [e, u, kept, body, before, more, broken, bytes] = t;
    feed client(e.request, std::exchange(before, {}), t.chunked(), kept.text());
    std::shared_ptr<const std::string> whole;  // the client may need it longer than the store
    auto end = feed::end::goes_on;
    try {
        while (!more || kept.make_room(u.parsing->piece.size())) {
            if (client.idle()) e.request.connection.expires_after(idle_time);
            if (more) kept.append(u.parsing->piece);
            if (u.parsing->is_done()) {
                whole = kept.take();
                store_answer(t, whole);
                end = feed::end::whole;
                break;
            }
            client.grew();
            u.channel.connection->expires_after(idle_time);
            // What is half here is fetched to its end for the next one, but nobody is there to see how long
            // that takes.
            if (client.gone() && !std::exchange(broken, true))
                u.channel.connection->ends_by(time_.now() + how_.origin_time);
            more = co_await u.more();
        }
    } catch (const std::exception&) {
        end = feed::end::broken;
    }
    if (end == feed::end::goes_on) ++unkept_;
    land(e);  // requests that wait for it need not wait for this client
    co_await client.finish(end);
    kept = {};
    bytes = client.sent();
    broken = end == feed::end::broken || client.gone();
    co_return end != feed::end::goes_on || broken;
}

// To the client alone.
http::task<void> proxy::pass_on(transfer& t) {
    auto& u = t.u;
    auto& connection = t.e.request.connection;
    try {
        for (;;) {
            const std::string& piece = u.parsing->piece;
            if (t.chunked() && t.more) t.before += fmt::format("{:x}\r\n", piece.size());
            const std::string_view end = !t.chunked() ? "" : t.more ? "\r\n" : "0\r\n\r\n";
            const std::array<asio::const_buffer, 3> parts{asio::buffer(t.before),
                                                          t.more ? asio::buffer(piece) : asio::const_buffer(),
                                                          asio::buffer(end.data(), end.size())};
            u.channel.connection->expires_after(idle_time);
            connection.expires_after(idle_time);
            co_await connection.write(parts);
            t.bytes += t.more ? piece.size() : 0;
            release(t.before);
            if (!t.more) break;
            t.more = co_await u.more();
        }
    } catch (const std::exception&) {  // the answer broke off: the client must not take it for whole
        connection.abort();
        t.broken = true;
    }
}

}  // namespace posy::proxy
