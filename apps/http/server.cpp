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

constexpr clock::duration shortage_pause = 60s;  // between two lines about it

}  // namespace

server::server(timekeeper& time, const serving& how, handler handle)
    : time_(time),
      how_(how),
      max_connections_(how.max_connections),
      head_time_(how.head_time),
      idle_time_(how.idle_time),
      handle_(std::move(handle)),
      crowd_(how.max_per_address),
      rates_(how.max_requests_per_second) {
    const auto names = std::make_shared<resolver>(time, how.name_servers);
    for (std::size_t i = 0; i < std::max<std::size_t>(how.threads, 1); ++i)
        workers_.push_back(std::make_unique<worker>(time, names));
    for (const auto& each : workers_) {
        each->client.limit(how.limits);
        each->client.on_shortage = [this](const error_code& why) {
            ++counts_.not_connected;
            out_of_descriptors("open a connection", why);
        };
    }
}

server::~server() {
    for (auto& each : workers_) each->context.shutdown();
}

std::uint16_t server::listen(const host_port& at, std::shared_ptr<asio::ssl::context> tls) {
    auto& context = workers_.front()->context;
    tcp::resolver resolver(context);
    const auto endpoint = resolver.resolve(at.host, std::to_string(at.port))->endpoint();
    tcp_acceptor acceptor(context);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(4096);
    return begin(std::move(acceptor), std::move(tls));
}

std::uint16_t server::listen(int descriptor, std::shared_ptr<asio::ssl::context> tls) {
    sockaddr_storage at{};
    socklen_t size = sizeof at;
    const bool known = getsockname(descriptor, reinterpret_cast<sockaddr*>(&at), &size) == 0;
    const auto protocol = known && at.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
    return begin(tcp_acceptor(workers_.front()->context, protocol, descriptor), std::move(tls));
}

std::uint16_t server::begin(tcp_acceptor acceptor, std::shared_ptr<asio::ssl::context> tls) {
    const auto port = acceptor.local_endpoint().port();
    listeners_.push_back(std::make_unique<listener>(std::move(acceptor), std::move(tls)));
    asio::co_spawn(workers_.front()->context, accept(*listeners_.back()), asio::detached);
    return port;
}

void server::limit(const serving& next) {
    max_connections_ = next.max_connections;
    head_time_ = next.head_time;
    idle_time_ = next.idle_time;
    crowd_.limit(next.max_per_address);
    rates_.limit(next.max_requests_per_second);
}

void server::certify(std::shared_ptr<asio::ssl::context> tls) {
    asio::post(workers_.front()->context, [this, tls = std::move(tls)] {
        for (auto& each : listeners_)
            if (each->tls) each->tls = tls;
    });
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
        for (auto& each : listeners_) {
            error_code ignored;
            each->acceptor.close(ignored);
        }
        for (auto& each : workers_) {
            asio::co_spawn(
                each->context,
                [](server& self, worker& here, clock::duration time) -> task<void> {
                    here.watch.close_idle();
                    alarm next_look(here.time, here.context);
                    const auto end = here.time.now() + time;
                    while (self.open_ > 0 && here.time.now() < end) co_await next_look.pause(20ms);
                    here.watch.stop();  // what is left breaks off, and is written down
                    const auto last = here.time.now() + last_words;
                    while (self.open_ > 0 && here.time.now() < last) co_await next_look.pause(5ms);
                    here.context.stop();
                }(*this, *each, grace),
                asio::detached);
        }
    });
}

task<void> server::accept(listener& at) {
    auto& acceptor = at.acceptor;
    while (acceptor.is_open()) {
        worker& next = *workers_[next_++ % workers_.size()];
        error_code failed;
        tcp_socket socket(next.context);
        co_await acceptor.async_accept(socket, asio::redirect_error(use_awaitable, failed));
        if (failed == asio::error::operation_aborted || !acceptor.is_open()) co_return;
        if (failed) {  // out of descriptors, most likely: wait for some to come back
            if (is_shortage(failed)) {
                ++counts_.not_accepted;
                out_of_descriptors("accept a connection", failed);
                co_await make_room(*workers_.front());
            }
            alarm next_try(time_, workers_.front()->context);
            co_await next_try.pause(50ms);
            continue;
        }
        ++counts_.connections;
        const auto who = socket.remote_endpoint(failed).address();
        if (failed) continue;  // it has gone already
        if (!crowd_.enter(who)) {
            turn_away(socket, who, 429);
            continue;
        }
        const bool full = ++open_ > max_connections_;
        const auto leave = [this, who](const std::exception_ptr&) {
            --open_;
            crowd_.leave(who);
        };
        asio::co_spawn(next.context, receive(std::move(socket), next, at.tls, full), leave);
    }
}

void server::out_of_descriptors(std::string_view what, const error_code& why) {
    const auto now = time_.now().time_since_epoch();
    auto next = next_shortage_.load();
    if (now.count() < next || !next_shortage_.compare_exchange_strong(next, (now + shortage_pause).count()))
        return;
    if (on_shortage) on_shortage(what, why.message());
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
        made = co_await asio::co_spawn(other.context, close_one(other), use_awaitable);
    }
    co_return made;
}

// On the thread that the connection was given to.
task<void> server::receive(tcp_socket socket, worker& here, std::shared_ptr<asio::ssl::context> tls,
                           bool full) {
    if (full) {
        const bool made = co_await make_room(here);
        if (!made) {
            error_code gone;
            turn_away(socket, socket.remote_endpoint(gone).address(), 503);
            co_return;
        }
        ++counts_.made_room;
    }
    auto connection = tls ? transport::tls(std::move(socket), here.watch, *tls)
                          : transport::plain(std::move(socket), here.watch);
    co_await converse(std::move(connection), here);
}

void server::turn_away(tcp_socket& socket, const address& who, unsigned status) {
    ++counts_.too_many;
    if (on_end)
        on_end({.who = who,
                .said = {.status = status},
                .why = status == 503 ? "too many connections (--max-connections)"
                                     : "too many connections from this address (--max-per-address)"});
    const auto text =
        fmt::format("HTTP/1.1 {} {}\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                    status, reason_of(status));
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.close(ignored);
}

}  // namespace posy::http
