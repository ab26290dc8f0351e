// The ways to what is not here: the backend of a site, the parents one after the other, or the server of the
// URL itself; and tunnels by these ways.
#include <arpa/inet.h>
#include <fmt/format.h>

#include "exchange.hpp"
#include "proxy.hpp"

namespace posy::proxy {

std::optional<http::address> written_address(std::string host) {
    if (host.ends_with('.')) host.pop_back();  // to a resolver it may be the same
    boost::system::error_code no_address;
    const auto address = boost::asio::ip::make_address(host, no_address);
    if (!no_address) return address;
    in_addr number{};
    if (inet_aton(host.c_str(), &number) == 0) return std::nullopt;
    return boost::asio::ip::address_v4(ntohl(number.s_addr));
}

// A parent resolves names itself. What a client writes as an address can be checked here: throws
// refusal(403).
void proxy::judge(const terms& on, const http::host_port& to, const http::client::allowed& allowed) {
    const auto address = written_address(to.host);
    if (!address) return;
    const auto why = allowed ? (*allowed)(*address) : http::destinations(on.destinations).refuses(*address);
    if (!why.empty()) throw http::refusal(403, "this proxy does not connect to " + to.host + ": " + why);
}

// At least one.
std::vector<proxy::way> proxy::ways_to(const terms& on, const target& to) const {
    if (to.backend) return {{{to.backend->authority, to.backend->secure, http::chosen_by::us}, {}}};
    std::vector<way> found;
    for (const auto number : on.parents.in_order(time_.now())) {
        const auto& parent = on.parents.at(number);
        found.push_back({{parent.authority, parent.secure, http::chosen_by::us, to.allowed}, number});
    }
    if (found.empty() || on.direct)
        found.push_back({{to.parts.authority, to.parts.secure, http::chosen_by::client, to.allowed}, {}});
    return found;
}

// What became of a way (null: an answer). The log is told where a parent is that is lost or back; clients are
// not.
void proxy::report(const terms& on, const way& by, no_answer* failed) const {
    if (!by.parent) return;
    auto& log = *node_->how().log;
    const auto name = by.to.where.text();
    if (!failed) {
        if (on.parents.worked(*by.parent)) log.info("parent {} is back", name);
    } else if (failed->unreachable) {
        if (on.parents.failed(*by.parent, time_.now())) log.warning("parent {}: {}", name, failed->why);
        failed->for_client = "no parent proxy can be reached";
    } else if (failed->why.starts_with(name)) {
        log.sparingly(http::log_level::info, "parent " + name, "parent {}", failed->why);
        failed->for_client = "the parent proxy" + failed->why.substr(name.size());
    }
}

// A connection that leads there, through the parent if the way has one. Throws what it cannot reach.
http::task<std::variant<http::channel, proxy::no_answer>> proxy::lead_by(http::worker& here, const terms& on,
                                                                         http::host_port to, way by) {
    if (!by.parent)
        co_return co_await here.client.connect(to, false, how_.origin_time, http::chosen_by::client,
                                               by.to.allowed);
    judge(on, to, by.to.allowed);
    auto made = co_await here.client.connect(by.to.where, by.to.secure, how_.origin_time, by.to.who);
    const auto host = to.text();
    co_await made.connection->write(fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", host, host));
    const http::limits most;
    const auto said = co_await http::final_head(*made.reader, most, true);
    const auto status = said ? said->head.status : 0;
    if (status / 100 == 2) co_return made;
    co_return no_answer{status == 403 || status == 504 ? status : 502,
                        fmt::format("the parent proxy answered {} to CONNECT", status), false};
}

// By the first way that can be reached.
http::task<std::variant<http::channel, proxy::no_answer>> proxy::lead(http::worker& here, const terms& on,
                                                                      http::host_port to,
                                                                      http::client::allowed allowed) {
    const target there{{}, {false, to, {}}, {}, false, std::move(allowed)};
    const auto ways = ways_to(on, there);
    no_answer failed{502, {}, true};
    for (std::size_t i = 0; i < ways.size() && failed.unreachable; ++i) {
        try {
            auto got = co_await lead_by(here, on, to, ways[i]);
            report(on, ways[i], nullptr);
            co_return got;
        } catch (const http::refusal& r) {
            failed = {r.status, r.what(), false};
        } catch (const std::exception& x) {
            failed = {502, x.what(), true};
        }
        report(on, ways[i], &failed);
    }
    co_return failed;
}

}  // namespace posy::proxy
