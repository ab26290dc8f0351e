#include "upstream.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "posy/http_cache/hop_by_hop.hpp"

namespace posy::proxy {

namespace asio = boost::asio;
using namespace std::chrono_literals;

bool idempotent(std::string_view method) {
    constexpr std::array<std::string_view, 6> all{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
    return std::ranges::find(all, method) != all.end();
}

namespace {

// The last one is ours.
std::string via_of(const http_cache::fields& all) {
    std::string last;
    for (const auto& [name, value] : all) {
        if (http_cache::same_name(name, "Via")) last = value;
    }
    return last;
}

// NTLM and Negotiate log a connection in, not a request (RFC 4559); so nobody else may have it afterwards.
bool logs_connection_in(const http_cache::fields& all) {
    constexpr std::array<std::string_view, 3> such{"NTLM", "Negotiate", "Kerberos"};
    return std::ranges::any_of(all, [&](const auto& field) {
        if (!http_cache::same_name(field.name, "Authorization") &&
            !http_cache::same_name(field.name, "WWW-Authenticate"))
            return false;
        const auto members = http_cache::list_members(field.value);
        return std::ranges::any_of(members, [&](std::string_view challenge) {
            const auto scheme = challenge.substr(0, challenge.find(' '));
            return std::ranges::any_of(
                such, [&](std::string_view each) { return http_cache::same_name(each, scheme); });
        });
    });
}

struct question {
    std::string text;  // the head
    std::string via;
    bool bare;         // the answer has no body
    bool upgrades;     // 101 is an answer
    bool of_one_user;  // it logs its connection in
    http::clock::duration time;
};

// One exchange: what is said before the answer goes to the client, and its body to the origin.
struct dialogue {
    const question& asked;
    upstream& with;
    http::request* from;

    // Is it the answer that counts?
    http::task<bool> hear(http::response_head& said) {
        if (said.status == 101) co_return asked.upgrades;
        const bool go_on = said.status == 100;
        with.channel.connection->expires_after(asked.time);  // it is alive
        from->connection.expires_after(asked.time + 10s);
        if (with.body) co_await with.body->silence();
        if (go_on ? from->reader.awaits_continue() : from->parsing.version >= 11) {
            http_cache::remove_hop_by_hop(said.fields);
            said.fields.erase("Content-Length");  // it has no body (RFC 9110, 8.6)
            said.fields.add("Via", asked.via);
            co_await from->reader.say(http::to_text(said) + "\r\n");
        }
        if (go_on && with.body) with.body->go_on();
        co_return false;
    }

    // The answer is here, perhaps before all of the body is there. One that is refused is not sent to its
    // end, and one that was not asked for not at all.
    http::task<void> settle() {
        auto& body = *with.body;
        const auto status = with.parsing->head.status;
        body.answered();
        if (!body.whole() && (body.waits() || status >= 400)) {
            co_await body.stop();
            if (!from->parsing.is_done()) from->keep_alive = false;
        }
        if (status == 101) co_await body.finish();
        co_await body.silence();
    }
};

// The head of the answer, in u; none if the connection ended before it. What it throws is thrown again when
// nothing reads the body any more.
http::task<void> converse(upstream& u, http::request* from, question& asked, const http::limits& limits) {
    dialogue d{asked, u, from};
    const http::interim_hearer hearer = [&d](http::response_head& said) { return d.hear(said); };
    std::exception_ptr failed;
    try {
        co_await u.channel.connection->write(asked.text);
        if (!u.channel.used) release(asked.text);  // it will not be sent again
        if (from && !from->parsing.is_done()) u.body = upload::begin(*from, u.channel.connection, asked.time);
        u.parsing =
            co_await http::final_head(*u.channel.reader, limits, asked.bare, from ? &hearer : nullptr);
    } catch (...) {
        failed = std::current_exception();
    }
    if (u.body && !u.parsing) co_await u.body->stop();
    if (u.body && u.body->fault()) std::rethrow_exception(u.body->fault());
    if (failed) std::rethrow_exception(failed);
    if (u.body && u.parsing) co_await d.settle();
}

}  // namespace

http::task<upstream> send(http::client& client, const destination& to, http::request_head head,
                          http::request* from, http::clock::duration time, http::clock::time_point end) {
    const bool body = from && !from->parsing.is_done();
    // What would do harm if it came twice does not go to a connection that may be closed already.
    const bool once = body || !idempotent(head.method);
    if (body && from->parsing.chunked()) head.fields.set("Transfer-Encoding", "chunked");
    if (!body || !from->reader.awaits_continue()) head.fields.erase("Expect");
    question asked{http::to_text(head) + "\r\n",    via_of(head.fields),
                   head.method == "HEAD",           head.fields.has("Upgrade"),
                   logs_connection_in(head.fields), time};
    head = {};  // the answer may be long in coming
    for (;;) {
        upstream u;
        if (once) {
            u.channel = co_await client.connect(to.where, to.secure, time, to.who, to.allowed);
        } else {
            u.channel = co_await client.open(to.where, to.secure, time, to.who, to.allowed);
        }
        auto& connection = *u.channel.connection;
        connection.ends_by(end);
        const auto before = connection.bytes_read();
        try {
            u.times.requested = client.time().seconds();
            u.times.asked = http_cache::next_moment();
            co_await converse(u, from, asked, client.most());
            u.times.received = client.time().seconds();
            u.times.answered = http_cache::next_moment();
            u.times.ahead = u.times.received - client.time().time_of_day();
            if (u.parsing) {
                u.of_one_user = asked.of_one_user || logs_connection_in(u.parsing->head.fields);
                co_return u;
            }
        } catch (const boost::system::system_error&) {
            if (connection.expired()) throw http::refusal(504, to.where.text() + " did not answer in time");
            if (!u.channel.used || connection.bytes_read() != before) throw;
        }
        if (!u.channel.used)
            throw http::refusal(502, to.where.text() + " closed the connection without an answer");
    }
}

namespace {

http::task<void> pass_on(http::transport& from, http::transport& to, http::clock::duration time) {
    std::vector<char> buffer(16 * 1024);
    for (;;) {
        const auto got = co_await from.read_some(buffer);
        if (got == 0) break;
        from.expires_after(time);
        to.expires_after(time);
        co_await to.write(std::string_view(buffer.data(), got));
    }
    to.finish_writing();
}

}  // namespace

http::task<void> tunnel(http::request& from, http::channel to, std::string answer, std::string early,
                        http::clock::duration time) {
    from.connection.expires_after(time);
    to.connection->expires_after(time);
    from.said.head = answer.size();
    co_await from.connection.write(answer);
    release(answer);
    if (!early.empty()) co_await to.connection->write(early);
    // What came right behind the answer is of the tunnel already.
    if (const auto said = to.reader->rest(); !said.empty()) co_await from.connection.write(said);
    http::steady_timer back_done(from.here.context, http::steady_timer::time_point::max());
    bool done = false;
    asio::co_spawn(from.here.context, pass_on(*to.connection, from.connection, time),
                   [&](const std::exception_ptr& failed) {
                       if (failed) from.connection.close();
                       done = true;
                       back_done.cancel();
                   });
    try {
        co_await pass_on(from.connection, *to.connection, time);
    } catch (const std::exception&) {
        to.connection->close();
    }
    boost::system::error_code ignored;
    while (!done) co_await back_done.async_wait(asio::redirect_error(http::use_awaitable, ignored));
}

}  // namespace posy::proxy
