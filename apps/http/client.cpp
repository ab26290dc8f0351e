#include "client.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace posy::http {

namespace {
std::string address_of(const host_port& to, bool secure, chosen_by who) {
    return (who == chosen_by::client ? "client " : "") + std::string(secure ? "https://" : "http://") +
           to.text();
}

// Leaves the addresses where a client may send us. These very addresses are connected to: a name that is
// resolved once more may lead elsewhere (DNS rebinding).
void keep_allowed(std::vector<tcp::endpoint>& endpoints, const destinations& allowed, const host_port& to) {
    std::string why;
    std::erase_if(endpoints, [&](const tcp::endpoint& e) {
        const auto refused = allowed.refuses(e.address());
        if (!refused.empty()) why = refused;
        return !refused.empty();
    });
    if (endpoints.empty() && !why.empty())
        throw refusal(403, "this proxy does not connect to " + to.host + ": " + why);
}
}  // namespace

client::client(watch& w, std::shared_ptr<resolver> names) : watch_(w), names_(std::move(names)) {
    watch_.on_look = [this] { drop_old(); };
}

client::~client() { watch_.on_look = nullptr; }

task<std::vector<tcp::endpoint>> client::addresses_of(const host_port& to, chosen_by who,
                                                      clock::time_point end) {
    std::vector<tcp::endpoint> endpoints;
    boost::system::error_code failed;
    if (const auto address = asio::ip::make_address(to.host, failed); !failed) {
        endpoints.emplace_back(address, to.port);
    } else {
        const auto found = co_await names_->resolve(watch_.context(), to.host, who, end);
        for (const auto& each : found) endpoints.emplace_back(each, to.port);
    }
    if (who == chosen_by::client) keep_allowed(endpoints, for_clients_, to);
    co_return endpoints;
}

namespace {

// A connection that is being made. The watch guards transports; this has an alarm of its own.
struct attempt {
    explicit attempt(watch& w) : socket(w.context()), end(w.time(), w.context()) {}
    tcp::socket socket;
    alarm end;
    bool over = false, late = false;
};

// The connection and its time may be done at the same moment, so this may run last: it shares the attempt.
task<void> close_at(std::shared_ptr<attempt> a, clock::time_point end) {
    const bool came = co_await a->end.until(end);
    if (!came || a->over) co_return;
    a->late = true;
    boost::system::error_code ignored;
    a->socket.close(ignored);
}

}  // namespace

// The first that can be reached. Each has an equal part of the time that is left, so that a dead one leaves
// some to the next.
task<tcp::socket> client::connected(std::vector<tcp::endpoint> endpoints, const host_port& to,
                                    clock::time_point end) {
    boost::system::error_code failed = asio::error::host_not_found;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        const auto now = time().now();
        const auto part = (end - now) / static_cast<std::int64_t>(endpoints.size() - i);
        const auto made = std::make_shared<attempt>(watch_);
        asio::co_spawn(watch_.context(), close_at(made, now + part), asio::detached);
        failed = {};
        co_await made->socket.async_connect(endpoints[i], asio::redirect_error(asio::use_awaitable, failed));
        made->over = true;
        made->end.stop();
        if (made->late) failed = asio::error::timed_out;
        if (!failed) co_return std::move(made->socket);
    }
    throw boost::system::system_error(failed, "cannot connect to " + to.text());
}

task<channel> client::connect(const host_port& to, bool secure, clock::duration time, chosen_by who) {
    const auto end = watch_.time().now() + time;
    if (secure && !tls_) throw refusal(502, "no certificates to trust are known; name them with --tls-ca");
    auto endpoints = co_await addresses_of(to, who, end);
    auto socket = co_await connected(std::move(endpoints), to, end);
    channel made;
    made.connection = secure ? transport::tls(std::move(socket), watch_, *tls_)
                             : transport::plain(std::move(socket), watch_);
    made.connection->expires_after(time);
    made.connection->due(end);
    co_await made.connection->connect_handshake(to.host);
    made.reader = std::make_unique<reader>(*made.connection);
    made.address = address_of(to, secure, who);
    co_return made;
}

task<channel> client::open(const host_port& to, bool secure, clock::duration time, chosen_by who) {
    const auto address = address_of(to, secure, who);
    while (auto found = kept_.take(address, watch_.time().now())) {
        if (found->connection->expired() || !found->connection->quiet()) continue;
        found->used = true;
        found->connection->expires_after(time);
        co_return std::move(*found);
    }
    co_return co_await connect(to, secure, time, who);
}

void client::keep(channel c) {
    if (c.reader->pending()) return;
    c.connection->ends_by(clock::time_point::max());
    c.connection->expires_after(keep_time);
    c.reader->release();
    const auto address = c.address;
    kept_.put(address, std::move(c), time().now());
}

void client::drop_old() {
    kept_.drop_old(time().now(), [](const channel& c) { return c.connection->expired(); });
}

task<std::unique_ptr<response_parser>> final_head(reader& from, limits most, bool bare) {
    for (unsigned interim = 0;; ++interim) {
        auto parsing = std::make_unique<response_parser>(most);
        parsing->skip(bare);
        const bool any = co_await from.head(*parsing);
        if (!any && interim > 0) throw refusal(502, "the connection ended after an interim answer");
        if (!any) co_return nullptr;
        const auto status = parsing->head.status;
        if (status >= 200) co_return parsing;
        if (status < 100) throw refusal(502, "an answer with a status below 100");
        if (status == 101) throw refusal(502, "another protocol than the one that was asked for");
        if (interim == max_interim) throw refusal(502, "interim answers without end");
    }
}

task<answer> client::ask(const host_port& to, bool secure, const request_head& request, std::string_view body,
                         const limits& most, clock::duration time, clock::duration whole) {
    const std::string head = to_text(request) + "\r\n";
    const auto start = watch_.time().now();
    for (;;) {
        channel c = co_await open(to, secure, start + time - watch_.time().now());
        c.connection->expires_after(time);
        c.connection->ends_by(start + std::max(time, whole));
        c.connection->due(start + time);
        const auto read = c.connection->bytes_read(), written = c.connection->bytes_written();
        answer got;
        try {
            const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                          asio::buffer(body.data(), body.size())};
            co_await c.connection->write(parts);
            const auto parsing = co_await final_head(*c.reader, most, request.method == "HEAD");
            if (parsing) {
                got.body = co_await c.reader->body(*parsing);
                got.head = std::move(parsing->head);
                got.received = c.connection->bytes_read() - read;
                got.sent = c.connection->bytes_written() - written;
                if (parsing->keep_alive()) keep(std::move(c));
                co_return got;
            }
        } catch (const boost::system::system_error&) {
            if (!c.used || c.connection->bytes_read() != read || c.connection->expired()) throw;
        }
        if (!c.used) throw refusal(502, to.text() + " closed the connection without an answer");
    }
}

}  // namespace posy::http
