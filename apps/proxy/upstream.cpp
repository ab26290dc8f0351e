#include "upstream.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto idle_tunnel = 5min;

http::task<bool> more_of(http::request& from) {
    try {
        co_return co_await from.reader.more(from.parsing);
    } catch (const http::refusal& r) {
        throw client_fault(r.status, r.what());
    } catch (const boost::system::system_error&) {
        throw client_fault(408, "the body of the request did not arrive in time");
    }
}

http::task<void> send_body(http::transport& to, http::request& from) {
    const bool chunked = from.parsing.chunked();
    for (;;) {
        const bool more = co_await more_of(from);
        if (!more) break;
        from.connection.expires_after(60s);
        to.expires_after(60s);
        const auto size = fmt::format("{:x}\r\n", from.parsing.piece.size());
        const std::array<asio::const_buffer, 3> parts{asio::buffer(size), asio::buffer(from.parsing.piece),
                                                      asio::buffer("\r\n", 2)};
        if (chunked) {
            co_await to.write(parts);
        } else {
            co_await to.write(std::span(parts).subspan(1, 1));
        }
    }
    if (chunked) co_await to.write("0\r\n\r\n");
}

}  // namespace

http::task<upstream> send(http::client& client, const destination& to, http::request_head head,
                          http::request* from, http::clock::duration time, http::clock::time_point end) {
    const bool body = from && !from->parsing.is_done();
    const bool bare = head.method == "HEAD";
    // What would do harm if it came twice does not go to a connection that may be closed already.
    const bool once = body || head.method == "POST" || head.method == "PATCH";
    if (body && from->parsing.chunked()) head.fields.set("Transfer-Encoding", "chunked");
    std::string text = http::to_text(std::exchange(head, {})) + "\r\n";  // the answer may be long in coming
    for (;;) {
        upstream u;
        if (once) {
            u.channel = co_await client.connect(to.where, to.secure, time, to.who);
        } else {
            u.channel = co_await client.open(to.where, to.secure, time, to.who);
        }
        auto& connection = *u.channel.connection;
        connection.ends_by(end);
        const auto before = connection.bytes_read();
        try {
            u.times.requested = client.time().seconds();
            co_await connection.write(text);
            if (!u.channel.used)
                release(text);  // it will not be sent again, and the answer may be long in coming
            if (body) {
                co_await send_body(connection, *from);
                connection.expires_after(time);
                from->connection.expires_after(time + 10s);
            }
            const http::limits limits;
            u.parsing = co_await http::final_head(*u.channel.reader, limits, bare);
            u.times.received = client.time().seconds();
            u.times.ahead = u.times.received - client.time().time_of_day();
            if (u.parsing) co_return u;
        } catch (const boost::system::system_error&) {
            if (connection.expired()) throw http::refusal(504, to.where.text() + " did not answer in time");
            if (!u.channel.used || connection.bytes_read() != before) throw;
        }
        if (!u.channel.used)
            throw http::refusal(502, to.where.text() + " closed the connection without an answer");
    }
}

namespace {

http::task<void> pass_on(http::transport& from, http::transport& to) {
    std::vector<char> buffer(16 * 1024);
    for (;;) {
        const auto got = co_await from.read_some(buffer);
        if (got == 0) break;
        from.expires_after(idle_tunnel);
        to.expires_after(idle_tunnel);
        co_await to.write(std::string_view(buffer.data(), got));
    }
    to.finish_writing();
}

}  // namespace

http::task<void> tunnel(http::request& from, http::channel to, std::string early) {
    from.connection.expires_after(idle_tunnel);
    to.connection->expires_after(idle_tunnel);
    co_await from.connection.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (!early.empty()) co_await to.connection->write(early);
    asio::steady_timer back_done(from.here.context, asio::steady_timer::time_point::max());
    bool done = false;
    asio::co_spawn(from.here.context, pass_on(*to.connection, from.connection),
                   [&](const std::exception_ptr& failed) {
                       if (failed) from.connection.close();
                       done = true;
                       back_done.cancel();
                   });
    try {
        co_await pass_on(from.connection, *to.connection);
    } catch (const std::exception&) {
        to.connection->close();
    }
    boost::system::error_code ignored;
    while (!done) co_await back_done.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace posy::proxy
