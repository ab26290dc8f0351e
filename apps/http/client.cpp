#include "client.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "race.hpp"

namespace posy::http {

namespace {
std::string address_of(const host_port& to, bool secure, chosen_by who) {
    return (who == chosen_by::client ? "client " : "") + std::string(secure ? "https://" : "http://") +
           to.text();
}

// Leaves the addresses where a client may send us. These very addresses are connected to: a name that is
// resolved once more may lead elsewhere (DNS rebinding).
void keep_allowed(std::vector<tcp::endpoint>& endpoints, const permit& refuses, const host_port& to) {
    std::string why;
    std::erase_if(endpoints, [&](const tcp::endpoint& e) {
        const auto refused = refuses(e.address());
        if (!refused.empty()) why = refused;
        return !refused.empty();
    });
    if (endpoints.empty() && !why.empty())
        throw refusal(403, "this proxy does not connect to " + to.host + ": " + why);
}
}  // namespace

bool is_shortage(const boost::system::error_code& why) {
    return why == boost::system::errc::too_many_files_open ||
           why == boost::system::errc::too_many_files_open_in_system;
}

client::client(watch& w, std::shared_ptr<resolver> names) : watch_(w), names_(std::move(names)) {
    watch_.on_look = [this] { drop_old(); };
}

client::~client() { watch_.on_look = nullptr; }

task<resolver::addresses> client::look_up(std::string host, chosen_by who, clock::time_point end) {
    boost::system::error_code failed;
    if (const auto address = asio::ip::make_address(host, failed); !failed)
        co_return resolver::addresses{address};
    co_return co_await names_->resolve(watch_.context(), std::move(host), who, end);
}

task<std::vector<tcp::endpoint>> client::addresses_of(const host_port& to, chosen_by who, allowed may,
                                                      clock::time_point end) {
    const auto found = co_await look_up(to.host, who, end);
    std::vector<tcp::endpoint> endpoints;
    for (const auto& each : found) endpoints.emplace_back(each, to.port);
    if (who == chosen_by::client)
        keep_allowed(
            endpoints, may ? *may : [this](const address& a) { return for_clients_.refuses(a); }, to);
    co_return endpoints;
}

task<tcp_socket> client::connected(std::vector<tcp::endpoint> endpoints, const host_port& to,
                                   clock::time_point end) {
    if (endpoints.empty())
        throw boost::system::system_error(asio::error::host_not_found, "cannot connect to " + to.text());
    const auto made = std::make_shared<race>(watch_.context(), time(), in_turns(std::move(endpoints)), end);
    try {
        co_return co_await made->run(to.text());
    } catch (const boost::system::system_error& e) {
        if (is_shortage(e.code()) && on_shortage) on_shortage(e.code());
        throw;
    }
}

task<channel> client::connect(const host_port& to, bool secure, clock::duration time, chosen_by who,
                              allowed may) {
    const auto end = watch_.time().now() + time;
    const auto rules = rules_;
    if (secure && !tls_) throw refusal(502, "no certificates to trust are known; name them with --tls-ca");
    auto endpoints = co_await addresses_of(to, who, std::move(may), end);
    auto socket = co_await connected(std::move(endpoints), to, end);
    channel made;
    made.connection = secure ? transport::tls(std::move(socket), watch_, *tls_)
                             : transport::plain(std::move(socket), watch_);
    made.connection->expires_after(time);
    made.connection->due(end);
    co_await made.connection->connect_handshake(to.host);
    made.reader = std::make_unique<reader>(*made.connection, limits_.head);
    made.address = address_of(to, secure, who);
    made.rules = rules;
    co_return made;
}

task<channel> client::open(const host_port& to, bool secure, clock::duration time, chosen_by who,
                           allowed may) {
    const auto address = address_of(to, secure, who);
    while (auto found = kept_.take(address, watch_.time().now())) {
        if (found->connection->expired() || !found->connection->quiet()) continue;
        // It was made for another request, which may have been allowed more. Where we chose the server
        // ourselves, a parent for one, that is no matter of the request's.
        if (who == chosen_by::client && may && !(*may)(found->connection->remote().address()).empty())
            continue;
        found->used = true;
        found->connection->expires_after(time);
        co_return std::move(*found);
    }
    co_return co_await connect(to, secure, time, who, std::move(may));
}

void client::keep(channel c) {
    if (c.reader->pending() || c.rules != rules_) return;
    c.connection->ends_by(clock::time_point::max());
    c.connection->expires_after(keep_time);
    c.reader->release();
    const auto address = c.address;
    kept_.put(address, std::move(c), time().now());
}

void client::begin_rules() {
    ++rules_;
    kept_.drop_old(time().now(), [](const channel&) { return true; });
}

void client::drop_old() {
    kept_.drop_old(time().now(), [](const channel& c) { return c.connection->expired(); });
}

task<std::unique_ptr<response_parser>> final_head(reader& from, limits most, bool bare,
                                                  const interim_hearer* hearer) {
    for (unsigned interim = 0;; ++interim) {
        auto parsing = std::make_unique<response_parser>(most);
        parsing->skip(bare);
        const bool any = co_await from.head(*parsing);
        if (!any && interim > 0) throw refusal(502, "the connection ended after an interim answer");
        if (!any) co_return nullptr;
        const auto status = parsing->head.status;
        if (status >= 200) co_return parsing;
        if (status < 100) throw refusal(502, "an answer with a status below 100");
        if (interim == max_interim) throw refusal(502, "interim answers without end");
        bool counts = false;
        if (hearer) counts = co_await (*hearer)(parsing->head);
        if (counts) co_return parsing;
        if (status == 101) throw refusal(502, "another protocol than the one that was asked for");
    }
}

task<begun> client::begin(const host_port& to, bool secure, const request_head& request,
                          std::string_view body, const limits& most, clock::duration time,
                          clock::duration whole) {
    const std::string head = to_text(request) + "\r\n";
    const auto start = watch_.time().now();
    for (;;) {
        begun made;
        made.on = co_await open(to, secure, start + time - watch_.time().now());
        auto& connection = *made.on.connection;
        connection.expires_after(time);
        connection.ends_by(start + std::max(time, whole));
        connection.due(start + time);
        made.read_before = connection.bytes_read();
        const auto written = connection.bytes_written();
        try {
            const std::array<asio::const_buffer, 2> parts{asio::buffer(head),
                                                          asio::buffer(body.data(), body.size())};
            co_await connection.write(parts);
            made.parsing = co_await final_head(*made.on.reader, most, request.method == "HEAD");
            made.sent = connection.bytes_written() - written;
            if (made.parsing) co_return made;
        } catch (const boost::system::system_error&) {
            if (!made.on.used || connection.bytes_read() != made.read_before || connection.expired()) throw;
        }
        if (!made.on.used) throw refusal(502, to.text() + " closed the connection without an answer");
    }
}

task<answer> client::ask(const host_port& to, bool secure, const request_head& request, std::string_view body,
                         const limits& most, clock::duration time, clock::duration whole) {
    auto made = co_await begin(to, secure, request, body, most, time, whole);
    answer got;
    got.body = co_await made.on.reader->body(*made.parsing);
    got.head = std::move(made.parsing->head);
    got.received = made.on.connection->bytes_read() - made.read_before;
    got.sent = made.sent;
    if (made.parsing->keep_alive()) keep(std::move(made.on));
    co_return got;
}

}  // namespace posy::http
