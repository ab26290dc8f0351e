#include "server.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace posy::http {

namespace {

using boost::system::error_code;

// What is read of a body that no handler wanted.
constexpr std::size_t skip_bytes = 64 * 1024;
constexpr auto skip_time = 2s;

// The connection ends after the answer when the rest of the request is too much to read for nothing.
void end_if_much_is_left(request& r) {
    const auto left = r.parsing.content_length_remaining();
    if (r.reader.awaits_continue() || (left && *left > skip_bytes)) r.keep_alive = false;
}

}  // namespace

server::server(timekeeper& time, const serving& how, handler handle)
    : time_(time),
      how_(how),
      handle_(std::move(handle)),
      crowd_(how.max_per_address),
      rates_(how.max_requests_per_second) {
    const auto names = std::make_shared<resolver>(time);
    for (std::size_t i = 0; i < std::max<std::size_t>(how.threads, 1); ++i)
        workers_.push_back(std::make_unique<worker>(time, names));
}

server::~server() {
    for (auto& each : workers_) each->context.shutdown();
}

std::uint16_t server::listen(const host_port& at, std::shared_ptr<asio::ssl::context> tls) {
    auto& context = workers_.front()->context;
    tcp::resolver resolver(context);
    const auto endpoint = resolver.resolve(at.host, std::to_string(at.port))->endpoint();
    auto acceptor = std::make_unique<tcp::acceptor>(context);
    acceptor->open(endpoint.protocol());
    acceptor->set_option(tcp::acceptor::reuse_address(true));
    acceptor->bind(endpoint);
    acceptor->listen(4096);
    const auto port = acceptor->local_endpoint().port();
    asio::co_spawn(context, accept(*acceptor, std::move(tls)), asio::detached);
    acceptors_.push_back(std::move(acceptor));
    return port;
}

void server::run() {
    for (auto& each : workers_) each->watch.start();
    for (std::size_t i = 1; i < workers_.size(); ++i)
        threads_.emplace_back([this, i] { workers_[i]->context.run(); });
    workers_.front()->context.run();
    for (auto& each : threads_) each.join();
    threads_.clear();
}

void server::stop(clock::duration grace) {
    stopping_ = true;
    asio::post(workers_.front()->context, [this, grace] {
        if (on_stop) on_stop();
        for (auto& each : acceptors_) {
            error_code ignored;
            each->close(ignored);
        }
        for (auto& each : workers_) {
            asio::co_spawn(
                each->context,
                [](server& self, worker& here, clock::duration time) -> task<void> {
                    here.watch.close_idle();
                    alarm next_look(here.time, here.context);
                    const auto end = here.time.now() + time;
                    while (self.open_ > 0 && here.time.now() < end) co_await next_look.pause(20ms);
                    here.watch.stop();
                    here.context.stop();
                }(*this, *each, grace),
                asio::detached);
        }
    });
}

task<void> server::accept(tcp::acceptor& acceptor, std::shared_ptr<asio::ssl::context> tls) {
    while (acceptor.is_open()) {
        worker& next = *workers_[next_++ % workers_.size()];
        error_code failed;
        tcp::socket socket(next.context);
        co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
        if (failed == asio::error::operation_aborted || !acceptor.is_open()) co_return;
        if (failed) {  // out of descriptors, most likely: wait for some to come back
            alarm next_try(time_, workers_.front()->context);
            co_await next_try.pause(50ms);
            continue;
        }
        ++counts_.connections;
        const auto who = socket.remote_endpoint(failed).address();
        if (failed) continue;  // it has gone already
        if (!crowd_.enter(who)) {
            turn_away(socket, 429);
            continue;
        }
        const bool full = ++open_ > how_.max_connections;
        const auto leave = [this, who](const std::exception_ptr&) {
            --open_;
            crowd_.leave(who);
        };
        asio::co_spawn(next.context, receive(std::move(socket), next, tls, full), leave);
    }
}

namespace {
task<bool> close_one(worker& of) { co_return of.watch.close_longest_idle(); }
}  // namespace

// Each thread looks at its own connections. Another's are asked for only when this one has none to spare.
task<bool> server::make_room(worker& first) {
    bool made = first.watch.close_longest_idle();
    for (std::size_t i = 0; !made && i < workers_.size(); ++i) {
        worker& other = *workers_[i];
        if (&other == &first) continue;
        made = co_await asio::co_spawn(other.context, close_one(other), asio::use_awaitable);
    }
    co_return made;
}

// On the thread that the connection was given to.
task<void> server::receive(tcp::socket socket, worker& here, std::shared_ptr<asio::ssl::context> tls,
                           bool full) {
    if (full) {
        const bool made = co_await make_room(here);
        if (!made) {
            turn_away(socket, 503);
            co_return;
        }
        ++counts_.made_room;
    }
    auto connection = tls ? transport::tls(std::move(socket), here.watch, *tls)
                          : transport::plain(std::move(socket), here.watch);
    co_await converse(std::move(connection), here);
}

void server::turn_away(tcp::socket& socket, unsigned status) {
    ++counts_.too_many;
    const auto text =
        fmt::format("HTTP/1.1 {} {}\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                    status, reason_of(status));
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.close(ignored);
}

// A connection that is closed while bytes arrive is reset, and what was just said may be lost with it (RFC
// 9112, 9.6): what the client still has to say is read, for a moment, and forgotten.
task<void> server::drain(transport& connection) {
    constexpr std::size_t most = 1 << 20;
    connection.expires_after(2s);
    std::array<char, 16 * 1024> bytes;
    for (std::size_t got = 1, all = 0; got > 0 && all < most && !stopping_; all += got)
        got = co_await connection.read_some(bytes);
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
    status == 500                    ? ++counts_.failed
    : status == 429                  ? ++counts_.too_many
    : status == 403 || status == 401 ? ++counts_.forbidden
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

// False: the connection ended before it.
task<bool> server::next_head(transport& connection, reader& from, parser<request_head>& parsing, bool first) {
    if (!first && !from.pending()) {  // it may be long in coming; once it has begun, it may not
        connection.expires_after(how_.idle_time);
        const bool begun = co_await from.arrived();
        if (!begun) co_return false;
    }
    if (!first) connection.expires_after(how_.head_time);
    co_return co_await from.head(parsing);
}

// Reads requests and has them answered, until either side ends the connection.
task<void> server::converse(std::unique_ptr<transport> connection, worker& here) {
    connection->expires_after(how_.head_time);
    connection->idle(true);
    co_await connection->accept_handshake();
    reader from(*connection);
    unsigned refused = 0;
    bool unread = false;  // the client may not be done with its request
    std::string why;
    std::uint64_t written = 0;  // before the answer to the present request
    std::uint64_t read = 0;     // before its first byte
    try {
        for (bool first = true;; first = false) {
            connection->idle(true);
            parser<request_head> parsing(how_.limits);
            written = connection->bytes_written() - from.interim_bytes();
            read = connection->bytes_read() - (from.pending() ? 1 : 0);
            const bool any = co_await next_head(*connection, from, parsing, first);
            if (!any) co_return;
            connection->idle(false);
            connection->expires_after(how_.body_time);
            ++counts_.requests;
            request r{std::move(parsing.head),
                      *connection,
                      from,
                      parsing,
                      here,
                      parsing.keep_alive() && parsing.version >= 11 && !stopping_};
            if (const auto who = connection->remote().address();
                !who.is_loopback() && !rates_.take(who, time_.now()))
                throw refusal(429, "too many requests per second from this address (--max-rate)");
            if (parsing.version >= 11 && !parsing.is_done() && r.head.fields.lists("Expect", "100-continue"))
                from.continue_when_read();
            written = connection->bytes_written() - from.interim_bytes();
            co_await handle_(r);
            bool again = r.keep_alive && !stopping_;
            if (again && !parsing.is_done()) again = co_await skip_body(r);
            if (!again) {
                unread = !parsing.is_done();
                break;
            }
        }
    } catch (const refusal& r) {
        refused = r.status;
        why = r.what();
    } catch (const boost::system::system_error&) {
        // One that is silent between requests, or was opened just in case, has done nothing wrong.
        if (connection->expired() && connection->bytes_read() != read) ++counts_.too_slow;
        throw;
    } catch (const std::exception& e) {
        refused = 500;
        why = e.what();
    }
    // A body may turn out to be malformed after its request was answered: then that was the answer.
    const bool answered = connection->bytes_written() - from.interim_bytes() != written;
    if (refused) co_await refuse(*connection, refused, why, answered);
    connection->finish_writing();
    if (refused || unread) co_await drain(*connection);
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
    co_await to.connection.write(parts);
}

}  // namespace posy::http
