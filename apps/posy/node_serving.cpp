#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>

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

// The port may be the default one, which nobody wrote.
std::string why_not(const boost::system::error_code& failed, std::uint16_t port) {
    namespace error = boost::asio::error;
    if (failed == error::host_not_found || failed == error::host_not_found_try_again)
        return "host not found; write an address of this machine";
    const auto system = " (" + failed.message() + ")";
    if (failed == error::address_in_use)
        return fmt::format("cannot listen: another program has port {}{}; end it, or give another port", port,
                           system);
    if (failed == boost::system::errc::address_not_available)
        return "cannot listen: not an address of this machine" + system;
    if (failed == error::access_denied)
        return fmt::format("cannot listen: port {} needs rights that this user does not have{}", port,
                           system);
    return "cannot listen: " + failed.message();
}

// Its port, chosen if it was 0.
std::uint16_t listen_at(http::server& server, const std::string& option, const http::host_port& at,
                        const std::vector<inherited_socket>& sockets,
                        std::shared_ptr<boost::asio::ssl::context> tls) {
    const bool encrypted = tls != nullptr;
    const auto ours = [&](const inherited_socket& s) { return s.at == at && s.tls == encrypted; };
    try {
        if (const auto found = std::ranges::find_if(sockets, ours); found != sockets.end())
            return server.listen(found->descriptor, std::move(tls));
        return server.listen(at, std::move(tls));
    } catch (const boost::system::system_error& e) {
        throw failure(option + " " + at.text() + ": " + why_not(e.code(), at.port));
    }
}

}  // namespace

node::options listen_on(http::server& server, node::options how,
                        const std::vector<inherited_socket>& sockets) {
    const auto tls = node::server_tls(how);
    for (auto& at : how.listen) at.port = listen_at(server, "--listen", at, sockets, nullptr);
    for (auto& at : how.listen_tls) at.port = listen_at(server, "--listen-tls", at, sockets, tls);
    if (how.name.empty()) {
        auto at = first_address(how);
        boost::system::error_code failed;
        const auto address = boost::asio::ip::make_address(at.host, failed);
        // The wildcard address would be the name of every node, and loops through other nodes would not be
        // told apart.
        if (!failed && address.is_unspecified()) at.host = boost::asio::ip::host_name();
        how.name = at.text();
    }
    how.log = std::make_shared<http::journal>(server.time());
    how.log->set_level(how.log_level);
    server.on_shortage = [log = how.log](std::string_view what, const std::string& why) {
        log->error("cannot {}: {}; raise the limit of descriptors (ulimit -n, LimitNOFILE=)", what, why);
    };
    server.on_refusal = [log = how.log](const std::string& who, unsigned status, const std::string& why) {
        const auto number = std::to_string(status);
        log->sparingly(http::log_level::info, "refusal " + number, "{}: {}{}", who,
                       status ? number + " " : "", why);
    };
    return how;
}

std::string about(const configuration& config) {
    return fmt::format(
        "posy {}, {}", POSY_VERSION,
        config.file().empty() ? "without a configuration file" : "configured by " + config.file());
}

void warn_of_restarts(http::journal& log, const configuration& config,
                      const std::vector<std::string>& names) {
    for (const auto& name : names)
        log.warning("{} has changed; the new value is used from the next start on", config.place_of(name));
}

namespace {

constexpr rlim_t other_files = 64;  // logs, stores, name servers, peers

// A connection is a descriptor, and a shell's limit of 1,024 is below --max-connections.
void raise_limit_of_descriptors(std::size_t connections, http::journal& log) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < connections + other_files)
        log.warning(
            "this process may have {} descriptors, too few for --max-connections {}, and each miss takes "
            "another one; raise the limit (ulimit -n, LimitNOFILE=), or lower --max-connections",
            files.rlim_cur, connections);
}

void reload(const reloading& what, node::node& node, http::journal& log) {
    try {
        what.settings();
        node.note_reload(true);
        log.info("reloaded");
    } catch (const std::exception& e) {
        node.note_reload(false);
        log.error("{}; all settings stay as they were", e.what());
        if (what.logs) what.logs();  // a log that was renamed has nothing to do with it
    }
}

}  // namespace

void serve(http::server& server, node::node& node, const node::options& how, const reloading& what) {
    raise_limit_of_descriptors(how.serving.max_connections, *how.log);
    const service_news news;
    const auto where = how.name + " listens on " + all_addresses(how);
    // Files are read on a thread of its own: no connection waits for them.
    boost::asio::thread_pool reading(1);
    boost::asio::signal_set signals(server.first().context, SIGINT, SIGTERM, SIGHUP);
    signals.add(SIGUSR1);
    std::function<void(const boost::system::error_code&, int)> on_signal =
        [&](const boost::system::error_code& failed, int signal) {
            if (failed) return;
            if (signal == SIGHUP) {
                boost::asio::post(reading, [&] {
                    news.reloading();
                    reload(what, node, *how.log);
                    news.ready(where);
                });
            } else if (signal == SIGUSR1) {
                if (what.logs) what.logs();
            } else {
                news.stopping();
                node.depart([&server] { server.stop(); });
            }
            signals.async_wait(on_signal);
        };
    signals.async_wait(on_signal);
    node.start();
    // Only now: a script that reads this may send a signal.
    how.log->info("{}", where);
    news.ready(where);
    server.run();
    reading.join();
    node.finish();
    how.log->finish();
    how.log->info("stopped");
}

}  // namespace posy::tool
