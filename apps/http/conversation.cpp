// The server's side of one connection: requests are read, answered and told of, one after the other.
#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "server.hpp"

namespace posy::http {

namespace {

// What is read of a body that no handler wanted.
constexpr std::size_t skip_bytes = 64 * 1024;
constexpr auto skip_time = 2s;

// The connection ends after the answer when the rest of the request is too much to read for nothing.
void end_if_much_is_left(request& r) {
    const auto left = r.parsing.content_length_remaining();
    if (r.reader.awaits_continue() || (left && *left > skip_bytes)) r.keep_alive = false;
}

}  // namespace

// A connection that is closed while bytes arrive is reset, and what was just said may be lost with it (RFC
// 9112, 9.6): what the client still has to say is read, for a moment, and forgotten.
task<void> server::drain(transport& connection, std::size_t most, clock::duration time) {
    connection.ends_by(time_.now() + time);
    std::array<char, 16 * 1024> bytes;
    for (std::size_t got = 1, all = 0; got > 0 && all < most && !stopping_; all += got) {
        connection.expires_after(2s);
        got = co_await connection.read_some(bytes);
    }
}

// Reads over the rest of a body that no handler wanted, so that the next request can be found. False: that is
// more than a moment's work, and the connection is not worth it.
task<bool> server::skip_body(request& r) {
    if (r.reader.awaits_continue()) co_return false;  // it may never come
    const auto end = time_.now() + skip_time;
    const auto start = r.connection.bytes_read();
    for (bool more = true; more && !r.parsing.is_done();) {
        const auto left = end - time_.now();
        if (left <= 0s || r.connection.bytes_read() - start > skip_bytes) co_return false;
        r.connection.expires_after(left);
        more = co_await r.reader.more(r.parsing);
    }
    co_return true;
}

task<void> server::refuse(transport& connection, unsigned status, const std::string& why, bool answered) {
    status == 500                                     ? ++counts_.failed
    : status == 429                                   ? ++counts_.too_many
    : status == 401 || status == 403 || status == 421 ? ++counts_.forbidden
                                                      : ++counts_.malformed;
    if (on_refusal) on_refusal(connection.remote().address().to_string(), status, why);
    if (answered) co_return;
    const auto text = fmt::format(
        "HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: "
        "{}\r\n\r\n{}\n",
        status, reason_of(status), why.size() + 1, why);
    connection.expires_after(5s);
    co_await connection.write(text);
}

// A connection and its present request.
struct server::conversation {
    conversation(std::unique_ptr<transport> c, worker& w, const serving& how)
        : connection(std::move(c)), here(w), from(*connection, how.limits.head), now(w.time.now()) {}

    // Of the answer to the present request.
    std::uint64_t answer_bytes() const {
        return connection->bytes_written() - from.interim_bytes() - written;
    }
    // Nothing of the present request is here yet.
    void begin(const limits& l) {
        connection->idle_since(now);
        of.reset();
        parsing.emplace(l);
        written = connection->bytes_written() - from.interim_bytes();
        read = connection->bytes_read() - (from.pending() ? 1 : 0);
    }

    std::unique_ptr<transport> connection;
    worker& here;
    reader from;
    std::optional<parser<request_head>> parsing{};
    std::optional<request> of{};
    clock::time_point now;      // read when something has arrived or ended
    std::uint64_t written = 0;  // before the answer to the present request
    std::uint64_t read = 0;     // before its first byte
};

// A request has arrived: counted, and refused if there were too many.
void server::admit(request& r) {
    ++counts_.requests;
    const auto& who = r.connection.remote().address();
    if (!who.is_loopback() && !rates_.take(who, r.begun))
        throw refusal(429, "too many requests per second from this address (--max-rate)");
    if (r.parsing.version >= 11 && !r.parsing.is_done() && r.head.fields.lists("Expect", "100-continue"))
        r.reader.continue_when_read();
}

void server::conclude(conversation& of, const ending& how) {
    if (!on_end) return;
    conclusion c{.who = of.connection->remote().address(), .why = how.why};
    const request_head& head = of.of ? of.of->head : of.parsing->head;
    if (!head.method.empty()) {
        c.head = &head;
        c.version = of.parsing->version;
    }
    if (of.of) {
        c.said = std::exchange(of.of->said, {});
        c.took = of.now - of.of->begun;
    }
    c.body = std::min(c.said.body, how.bytes - std::min(how.bytes, c.said.head));
    if (how.refused && how.bytes == 0) {  // and it is about to be told so
        c.said.status = how.refused;
        c.body = how.why.size() + 1;
    }
    on_end(c);
}

// Reads requests and has them answered, until one of them is the last. True: the client may not be done with
// that one.
task<bool> server::hear(conversation& c) {
    for (bool first = true;; first = false) {
        c.begin(how_.limits);
        if (!first && !c.from.pending()) {  // it may be long in coming; once it has begun, it may not
            c.connection->expires_after(idle_time_.load(), c.now);
            // After all others that are due: a busy client has sent it by then, and nothing has to be waited
            // for.
            co_await asio::post(c.here.context, use_awaitable);
            const bool begun = co_await c.from.arrived();
            if (!begun) co_return false;
            c.now = time_.now();
        }
        if (!c.from.head_at_hand(*c.parsing)) {  // usually all of it is in what arrives first
            if (!first) c.connection->expires_after(head_time_.load(), c.now);
            const bool any = co_await c.from.head(*c.parsing);
            if (!any) co_return false;
            c.now = time_.now();
        }
        c.connection->busy();
        c.connection->expires_after(how_.body_time, c.now);
        auto& r = c.of.emplace(std::move(c.parsing->head), *c.connection, c.from, *c.parsing, c.here,
                               c.parsing->keep_alive() && c.parsing->version >= 11 && !stopping_);
        r.begun = c.now;
        admit(r);
        c.written = c.connection->bytes_written() - c.from.interim_bytes();
        std::exception_ptr failed;
        try {
            co_await handle_(r);
        } catch (...) {
            failed = std::current_exception();
        }
        // What reads the body beside the handler knows the request: it ends first.
        if (r.finish_body) co_await r.finish_body(failed != nullptr);
        c.now = time_.now();
        if (failed) std::rethrow_exception(failed);
        conclude(c, {.bytes = c.answer_bytes()});
        bool again = r.keep_alive && !stopping_;
        if (again && !c.parsing->is_done()) {
            again = co_await skip_body(r);
            c.now = time_.now();
        }
        if (!again) co_return !c.parsing->is_done();
    }
}

// A connection that ends before its first byte has asked for nothing: health checks do that.
task<bool> server::shake_hands(transport& with) {
    try {
        co_await with.accept_handshake();
        co_return true;
    } catch (const failed_handshake& f) {
        ++(with.expired() ? counts_.too_slow : counts_.tls);
        if (on_refusal && !with.expired()) on_refusal(with.remote().address().to_string(), 0, f.what());
    }
    co_return false;
}

task<void> server::converse(std::unique_ptr<transport> made, worker& here) {
    made->expires_after(head_time_.load());
    made->idle_since(time_.now());
    const bool agreed = co_await shake_hands(*made);
    if (!agreed) co_return;
    conversation c(std::move(made), here, how_);
    unsigned refused = 0;
    bool unread = false;
    std::string why;
    try {
        unread = co_await hear(c);
    } catch (const refusal& r) {
        refused = r.status;
        why = r.what();
    } catch (const boost::system::system_error&) {
        // One that is silent between requests, or was opened just in case, has done nothing wrong.
        if (c.connection->expired() && c.connection->bytes_read() != c.read) ++counts_.too_slow;
        if (c.of) conclude(c, {.bytes = c.answer_bytes()});
        throw;
    } catch (const std::exception& e) {
        refused = 500;
        why = e.what();
    }
    // A body may turn out to be malformed after its request was answered: then that was the answer.
    const bool answered = c.answer_bytes() != 0;
    if (refused) conclude(c, {c.answer_bytes(), refused, why});
    if (refused) co_await refuse(*c.connection, refused, why, answered);
    c.connection->finish_writing();
    // One that sends a long body and was told early that nobody wants it may look for the answer at its end.
    if (refused) co_await drain(*c.connection, 1 << 20, 2s);
    if (unread) co_await drain(*c.connection, 20 << 20, 5s);
}

task<void> reply(request& to, const response& r) {
    end_if_much_is_left(to);
    std::string head = to_text(r.head);
    if (r.head.status != 304 && r.head.status != 204)
        head += fmt::format("Content-Length: {}\r\n", r.body.size());
    if (!to.keep_alive) head += "Connection: close\r\n";
    head += "\r\n";
    const bool bare = to.head.method == "HEAD" || r.head.status == 304 || r.head.status == 204;
    const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                  asio::buffer(r.body.data(), bare ? 0 : r.body.size())};
    to.said.status = r.head.status;
    to.said.head = head.size();
    to.said.body = parts[1].size();
    co_await to.connection.write(parts);
}

}  // namespace posy::http
