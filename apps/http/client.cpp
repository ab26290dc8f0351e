#include "client.hpp"

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

task<channel> client::connect(const host_port& to, bool secure, clock::duration time, chosen_by who) {
    std::vector<tcp::endpoint> endpoints;
    boost::system::error_code failed;
    if (const auto address = asio::ip::make_address(to.host, failed); !failed) {
        endpoints.emplace_back(address, to.port);
    } else {
        tcp::resolver resolver(watch_.context());
        const auto found =
            co_await resolver.async_resolve(to.host, std::to_string(to.port), asio::use_awaitable);
        for (const auto& each : found) endpoints.push_back(each.endpoint());
    }
    if (who == chosen_by::client) keep_allowed(endpoints, for_clients_, to);
    failed = asio::error::host_not_found;
    for (const auto& endpoint : endpoints) {
        // The watch guards transports; a connection that is still being made has a timer of its own.
        // Both may be done at the same moment, so the timer's handler may run last: it shares the socket.
        const auto socket = std::make_shared<tcp::socket>(watch_.context());
        asio::steady_timer timer(watch_.context(), time);
        timer.async_wait([socket](const boost::system::error_code& cancelled) {
            boost::system::error_code ignored;
            if (!cancelled) socket->close(ignored);
        });
        failed = {};
        co_await socket->async_connect(endpoint, asio::redirect_error(asio::use_awaitable, failed));
        if (timer.cancel() == 0 && !failed) failed = asio::error::timed_out;
        if (failed) continue;
        if (secure && !tls_)
            throw refusal(502, "no certificates to trust are known; name them with --tls-ca");
        channel made;
        made.connection = secure ? transport::tls(std::move(*socket), watch_, *tls_)
                                 : transport::plain(std::move(*socket), watch_);
        made.connection->expires_after(time);
        co_await made.connection->connect_handshake(to.host);
        made.reader = std::make_unique<reader>(*made.connection);
        made.address = address_of(to, secure, who);
        co_return made;
    }
    throw boost::system::system_error(failed, "cannot connect to " + to.text());
}

task<channel> client::open(const host_port& to, bool secure, clock::duration time, chosen_by who) {
    const auto found = kept_.find(address_of(to, secure, who));
    while (found != kept_.end() && !found->second.empty()) {
        auto last = std::move(found->second.back());
        found->second.pop_back();
        if (clock::now() - last.since > keep_time || last.channel.connection->expired() ||
            !last.channel.connection->quiet())
            continue;
        last.channel.used = true;
        last.channel.connection->expires_after(time);
        co_return std::move(last.channel);
    }
    co_return co_await connect(to, secure, time, who);
}

void client::keep(channel c) {
    if (const auto now = clock::now(); now - swept_ > 5s) {
        swept_ = now;
        for (auto& [address, connections] : kept_)
            std::erase_if(connections, [&](const kept& k) {
                return k.channel.connection->expired() || now - k.since > keep_time;
            });
        std::erase_if(kept_, [](const auto& server) { return server.second.empty(); });
    }
    auto& all = kept_[c.address];
    if (all.size() >= max_kept || c.reader->pending()) return;
    c.connection->ends_by(clock::time_point::max());
    c.connection->expires_after(keep_time);
    all.push_back({std::move(c), clock::now()});
}

task<bool> client::final_head(reader& from, std::optional<parser<response_head>>& parsing, const limits& most,
                              bool bare) {
    for (unsigned interim = 0;; ++interim) {
        parsing.emplace(most);
        parsing->skip(bare);
        const bool any = co_await from.head(*parsing);
        if (!any && interim > 0) throw refusal(502, "the connection ended after an interim answer");
        if (!any || parsing->head.status >= 200) co_return any;
        if (parsing->head.status == 101)
            throw refusal(502, "another protocol than the one that was asked for");
        if (interim == max_interim) throw refusal(502, "interim answers without end");
    }
}

task<answer> client::ask(const host_port& to, bool secure, const request_head& request, std::string_view body,
                         const limits& most, clock::duration time, clock::duration whole) {
    const std::string head = to_text(request) + "\r\n";
    const auto end = clock::now() + std::max(time, whole);
    for (;;) {
        channel c = co_await open(to, secure, std::min(time, end - clock::now()));
        c.connection->ends_by(end);
        const auto read = c.connection->bytes_read(), written = c.connection->bytes_written();
        bool lost = false;
        answer got;
        try {
            const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                          asio::buffer(body.data(), body.size())};
            co_await c.connection->write(parts);
            std::optional<parser<response_head>> parsing;
            const bool any = co_await final_head(*c.reader, parsing, most, request.method == "HEAD");
            if (!any) {
                lost = true;
            } else {
                got.body = co_await c.reader->body(*parsing);
                got.head = std::move(parsing->head);
                got.received = c.connection->bytes_read() - read;
                got.sent = c.connection->bytes_written() - written;
                if (parsing->keep_alive()) keep(std::move(c));
                co_return got;
            }
        } catch (const boost::system::system_error&) {
            if (!c.used || c.connection->bytes_read() != read || c.connection->expired()) throw;
            lost = true;
        }
        if (lost && !c.used) throw refusal(502, to.text() + " closed the connection without an answer");
    }
}

}  // namespace posy::http
