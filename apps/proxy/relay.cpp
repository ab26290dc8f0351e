// The answer of someone else, on its way to the client: its head when it comes, then each piece.
//
// What is stored is shared (shared.cpp). What is not is read no faster than the client takes it.
#include <fmt/format.h>

#include <array>

#include "exchange.hpp"
#include "posy/http_cache/hop_by_hop.hpp"
#include "proxy.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct proxy::transfer {
    exchange& e;
    upstream& u;
    framing body;
    std::string before;   // goes out in front of the next piece: at first the head
    bool more = false;    // there is a piece in u that the client does not have
    bool broken = false;  // the answer ended early, or the client did
    std::uint64_t bytes = 0;
    std::optional<arriving_part> part{};  // to be stored

    bool chunked() const { return body == framing::chunks; }
};

bool proxy::may_keep(const exchange& e, const upstream& u, outcome o) const {
    const bool wanted =
        o == outcome::origin || (o == outcome::sibling && e.on->keep_siblings) || e.stands_for_get;
    if (!wanted) return false;
    const auto at = u.times.time_of_day();
    if (!e.stands_for_get) return http_cache::storable(e.request.head, u.parsing->head, at);
    auto as_get = e.request.head;
    as_get.method = "GET";
    return http_cache::storable(as_get, u.parsing->head, at);
}

// False when it broke off before the client had anything of it.
http::task<bool> proxy::relay(exchange& e, upstream& u, outcome o) {
    const auto status = u.parsing->head.status;
    const bool keeping = may_keep(e, u, o);
    transfer t{e, u, framing_of(e.request, status, u.parsing->content_length().has_value()), {}};
    try {
        // A sibling has all of it, and if it breaks off there is still the origin. An origin may be silent
        // for long between the head and the first event of a stream.
        if (t.body == framing::absent) {
            t.more = false;
        } else if (o == outcome::sibling) {
            t.more = co_await u.more();
        } else {
            t.more = u.channel.reader->at_hand(*u.parsing);
        }
    } catch (const std::exception&) {
        co_return false;
    }
    prepare_head(u);
    if (keeping) {
        if (const auto shared = collect_for_all(e, u, collect(e.to.url, u, u.length()), u.length()))
            co_return co_await share(e, u, shared, o);
        ++unkept_;
    }
    if (o == outcome::origin && http_cache::answers_plain_get(status) && !server_error(status))
        do_not_share(e);
    if (o == outcome::origin) t.part = begin_part(e, u);
    land(e);  // other requests have nothing to wait for
    if (t.body == framing::close) e.request.keep_alive = false;
    t.before = head_for_client(e, u.parsing->head, t.body);
    // Forgotten, because the body may be long in coming.
    u.parsing->head.fields = {};
    e.request.head.fields = {};
    co_await pass_on(t);
    count(e, o, status, t.bytes);
    if (u.reusable()) e.request.here.client.keep(std::move(u.channel));
    if (t.broken) e.request.keep_alive = false;
    co_return true;
}

// As it goes on, to clients and to the store.
void proxy::prepare_head(upstream& u) {
    auto& head = u.parsing->head;
    http_cache::remove_hop_by_hop(head.fields);
    if (head.status == 204) head.fields.erase("Content-Length");
    if (!head.fields.has("Date")) head.fields.add("Date", http_cache::http_date(u.times.time_of_day()));
}

framing framing_of(const http::request& r, unsigned status, bool length_is_known) {
    if (r.head.method == "HEAD" || status == 204 || status == 304) return framing::absent;
    if (length_is_known) return framing::length;
    return r.parsing.version >= 11 ? framing::chunks : framing::close;
}

std::string proxy::head_for_client(const exchange& e, const http_cache::response_head& head,
                                   framing body) const {
    return http::to_text(head) + e.lines + (body == framing::chunks ? "Transfer-Encoding: chunked\r\n" : "") +
           heads_.ending(e.status, e.request.keep_alive);
}

void proxy::note_silence(std::string_view url, const http::channel& from) const {
    if (!from.connection->expired()) return;
    const std::chrono::duration<double> silence = how_.silence_time;
    node_->how().log->sparingly(http::log_level::info, "silence",
                                "{}: cut off after {:g} seconds without a byte (--silence-time)", url,
                                silence.count());
}

// To the client alone.
http::task<void> proxy::pass_on(transfer& t) {
    auto& u = t.u;
    auto& connection = t.e.request.connection;
    try {
        for (;;) {
            const std::string& piece = u.parsing->piece;
            const bool last = t.body == framing::absent || u.parsing->is_done();
            if (t.chunked() && t.more) t.before += fmt::format("{:x}\r\n", piece.size());
            if (t.part && t.more) t.part->body.append(piece);
            if (t.part && last) end_part(*t.part, true);
            std::string behind = t.chunked() && t.more ? "\r\n" : "";
            if (t.chunked() && last) behind += http::last_chunk(u.parsing->trailers);
            const std::array<asio::const_buffer, 3> parts{asio::buffer(t.before),
                                                          t.more ? asio::buffer(piece) : asio::const_buffer(),
                                                          asio::buffer(behind)};
            u.channel.connection->expires_after(how_.silence_time);
            connection.expires_after(how_.silence_time);
            if (asio::buffer_size(parts) > 0) co_await connection.write(parts);
            t.bytes += t.more ? piece.size() : 0;
            release(t.before);
            if (last) break;
            connection.expires_after(how_.silence_time + 10s);
            t.more = co_await u.more();
        }
    } catch (const std::exception&) {  // the answer broke off: the client must not take it for whole
        note_silence(t.e.to.url, u.channel);
        connection.abort();
        t.broken = true;
        if (t.part) end_part(*t.part, false);
    }
}

}  // namespace posy::proxy
