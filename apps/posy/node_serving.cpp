#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/signal_set.hpp>

#include "node_options.hpp"
#include "tool.hpp"

namespace posy::tool {

namespace {

const http::host_port& first_address(const node::options& how) {
    return how.listen.empty() ? how.listen_tls.front() : how.listen.front();
}

std::string all_addresses(const node::options& how) {
    std::string text;
    const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    for (const auto& at : how.listen) add(at.text());
    for (const auto& at : how.listen_tls) add(at.text() + " (TLS)");
    return text;
}

// The port, chosen if it was 0.
std::uint16_t listen_at(http::server& server, const std::string& option, const http::host_port& at,
                        std::shared_ptr<boost::asio::ssl::context> tls) {
    try {
        return server.listen(at, std::move(tls));
    } catch (const boost::system::system_error& e) {
        const bool unknown = e.code() == boost::asio::error::host_not_found ||
                             e.code() == boost::asio::error::host_not_found_try_again;
        throw failure(option + " " + at.text() + ": " +
                      (unknown ? "host not found; write an address of this machine" : e.code().message()));
    }
}

}  // namespace

node::options listen_on(http::server& server, node::options how) {
    const auto tls = node::server_tls(how);
    for (auto& at : how.listen) at.port = listen_at(server, "--listen", at, nullptr);
    for (auto& at : how.listen_tls) at.port = listen_at(server, "--listen-tls", at, tls);
    if (how.name.empty()) {
        auto at = first_address(how);
        boost::system::error_code failed;
        const auto address = boost::asio::ip::make_address(at.host, failed);
        // The wildcard address would be the name of every node, and loops through other nodes would not be
        // told apart.
        if (!failed && address.is_unspecified()) at.host = boost::asio::ip::host_name();
        how.name = at.text();
    }
    server.on_refusal = [quiet = how.quiet](const std::string& who, unsigned status, const std::string& why) {
        if (!quiet) fmt::print(stderr, "posy: {}: {} {}\n", who, status, why);
    };
    return how;
}

void serve(http::server& server, node::node& node, const node::options& how) {
    // A connection is a descriptor, and a shell's limit of 1,024 is below --max-connections.
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    boost::asio::signal_set signals(server.first().context, SIGINT, SIGTERM, SIGHUP);
    std::function<void(const boost::system::error_code&, int)> on_signal =
        [&](const boost::system::error_code& failed, int signal) {
            if (failed) return;
            if (signal == SIGHUP) {
                node.reload();
            } else {
                node.depart([&server] { server.stop(); });
            }
            signals.async_wait(on_signal);
        };
    signals.async_wait(on_signal);
    node.start();
    // Only now: a script that reads this may send a signal.
    if (!how.quiet) fmt::print(stderr, "posy: {} listens on {}\n", how.name, all_addresses(how));
    server.run();
    node.finish();
    if (!how.quiet) fmt::print(stderr, "posy: stopped\n");
}

}  // namespace posy::tool
