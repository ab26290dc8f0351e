#include "node_options.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/signal_set.hpp>

#include "numbers.hpp"
#include "posy/base/machine.hpp"
#include "secret_file.hpp"
#include "tool.hpp"

namespace posy::tool {

namespace {

std::vector<http::host_port> addresses(const std::string& option, const std::vector<std::string>& texts,
                                       std::uint16_t default_port) {
    std::vector<http::host_port> all;
    for (const auto& text : texts) {
        auto at = http::parse_authority(text, default_port);
        if (!at && text.ends_with(":0")) {  // a free port
            at = http::parse_authority(std::string_view(text).substr(0, text.size() - 2), default_port);
            if (at) at->port = 0;
        }
        // A number alone is meant as a port, and would be taken for an address, as 4000 for 0.0.15.160.
        const bool number = at && std::ranges::all_of(at->host, [](char c) { return c >= '0' && c <= '9'; });
        if (!at || number)
            throw failure(option + " " + text + ": not an address to listen on; write HOST:PORT");
        all.push_back(*at);
    }
    return all;
}

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

constexpr double longest = 366 * 24 * 3600;  // seconds, of options that wait

// Numbers as all commands take them: 10M, 2^20.
const CLI::Validator& as_amount() {
    static const CLI::Validator validator(
        [](std::string& text) -> std::string {
            try {
                text = std::to_string(parse_amount(text));
            } catch (const CLI::ValidationError& wrong) {
                return wrong.what();
            }
            return {};
        },
        "", "amount");
    return validator;
}

std::uint64_t peer_memory_of(const std::string& text) {
    const std::uint64_t memory = parse_amount(text);
    if (memory < node::options::least_peer_memory)
        throw failure("--peer-memory " + text + ": give at least 1MiB");
    if (memory > base::usable_memory())
        throw failure(fmt::format(
            "--peer-memory {}: this process may use {} bytes (machine or control group); give less", text,
            base::usable_memory()));
    return memory;
}

bool loopback(const http::host_port& at) {
    boost::system::error_code failed;
    const auto address = boost::asio::ip::make_address(at.host, failed);
    return failed ? at.host == "localhost" : address.is_loopback();
}

// Who may do what.
void add_access_options(CLI::App& command, node_arguments& a) {
    command.add_option("--token-file", a.token_file,
                       "File with the secret that all nodes share; whoever sends it may do everything");
    command.add_option(
        "--allow-peer", a.allow_peers,
        "Networks that may read summaries and ask for what is here without a token, as 10.0.0.0/8; "
        "loopback, link-local and private are networks, too");
    command.add_option("--allow-client", a.allow_clients,
                       "Networks that may ask who has a key, and use the proxy, without a token");
    command.add_option("--allow-admin", a.allow_administrators,
                       "Networks that may do everything (change keys, see metrics) without a token; default: "
                       "loopback, or none where there is a token");
    command.add_option(
        "--host-name", a.how.host_names,
        "A further name by which clients and peers call this machine; requests for names that are "
        "not known get 421. Known are its addresses, localhost, the host name, --listen and --name");
}

// What is told of the set, and when.
void add_publishing_options(CLI::App& command, node_arguments& a) {
    command
        .add_option("--sharing", a.sharing, "none, full, compressed, delta, or ask (everyone, every time)")
        ->check(CLI::IsMember({"none", "full", "compressed", "delta", "ask"}))
        ->capture_default_str();
    command.add_option("--items", a.how.items, "Expected size of the set, e.g. 1000000 or 1M")
        ->transform(as_amount())
        ->capture_default_str();
    command.add_option("--fpr", a.how.rate, "False-positive rate of the summary at that size")
        ->check(CLI::Range(0.000001, 0.5))
        ->capture_default_str();
    auto* by_items =
        command.add_option("--change", a.how.change, "Publish when this share of the set has changed")
            ->check(CLI::Range(0.0001, 1.0))
            ->capture_default_str();
    command
        .add_option(
            "--change-bits", a.how.change_bits,
            "In place of --change: publish when this share of the summary's bits has changed, e.g. 0.001")
        ->check(CLI::Range(0.000001, 0.5))
        ->excludes(by_items);
    command
        .add_option(
            "--interval", a.interval,
            "Publish also when this many seconds have passed since the last summary and something changed")
        ->check(CLI::Range(0.0, longest))
        ->capture_default_str();
    a.hash.add_to(command);
    command
        .add_option("--rehash", a.rehash,
                    "Change the seed of the summary this often, e.g. 1h or 1d, so that no key stays a false "
                    "positive; costs every peer a whole summary each time; 0: never")
        ->capture_default_str();
}

}  // namespace

void add_node_options(CLI::App& command, node_arguments& a, const std::string& default_listen) {
    a.default_listen = default_listen;
    command.add_option("--listen", a.listen,
                       "Addresses to listen on, HOST:PORT; port 0 takes a free one; default: " +
                           default_listen + ", or none with --listen-tls");
    command.add_option("--listen-tls", a.listen_tls, "Addresses to listen on for TLS, HOST:PORT");
    command.add_option("--tls-cert", a.how.tls_certificate, "PEM file of our certificate and its chain");
    command.add_option("--tls-key", a.how.tls_key,
                       "PEM file of its key; default: the file of --tls-cert has it");
    command.add_option("--tls-ca", a.how.tls_authority,
                       "PEM file of the authorities that peers' certificates must come from");
    add_access_options(command, a);
    command.add_option("--name", a.how.name, "Our name among the peers; by default our address");
    command.add_option("--peer", a.peers, "A peer to follow: NAME=URL or URL; squid:NAME=URL for a Squid");
    command.add_option("--peers", a.how.peers_file,
                       "JSON file of peers, {\"peers\": [\"NAME=URL\"]}; read again on SIGHUP");
    // No more than a quarter of what a small machine or container has.
    if (const auto quarter = base::usable_memory() / 4; quarter < parse_amount(a.peer_memory))
        a.peer_memory = std::to_string(quarter);
    command
        .add_option("--peer-memory", a.peer_memory,
                    "Memory for the summaries of all peers together and for their messages on the way")
        ->capture_default_str();
    add_publishing_options(command, a);
    command.add_option("--poll", a.poll, "Ask peers every so many seconds; 0: hold a request open at each")
        ->check(CLI::Range(0.0, longest))
        ->capture_default_str();
    command.add_option("--wait", a.wait, "For how many seconds to hold it open")
        ->check(CLI::Range(0.0, longest))
        ->capture_default_str();
    command.add_flag("--hint", a.how.hint, "Tell peers of every new summary (for those that poll)");
    command.add_option("--threads", a.threads, "Threads; by default one per core")
        ->check(CLI::Range(0.0, 1024.0));
    command
        .add_option(
            "--max-connections", a.how.serving.max_connections,
            "Connections at a time; beyond it the longest idle one is closed, and where all are busy the "
            "new one gets 503")
        ->transform(as_amount())
        ->check(CLI::Range(1.0, 1e6))
        ->capture_default_str();
    command
        .add_option("--max-per-address", a.how.serving.max_per_address,
                    "Connections from one address (IPv6: one /64) at a time, more get 429; 0: no limit")
        ->transform(as_amount())
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    command
        .add_option("--max-rate", a.how.serving.max_requests_per_second,
                    "Requests per second from one address other than loopback, more get 429; 0: no limit")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    command.add_option("--head-time", a.head_time, "Seconds that a client has for the head of a request")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_option("--idle-time", a.idle_time, "Seconds until the next one has to begin")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command.add_flag("-q,--quiet", a.how.quiet, "Say nothing but what goes wrong");
}

http::networks networks_of(std::string_view option, const std::vector<std::string>& texts) {
    http::networks all;
    for (const auto& text : texts) {
        const auto some = http::parse_networks(text);
        if (!some)
            throw failure(fmt::format(
                "{} '{}' is not a network; write 10.0.0.0/8, loopback, link-local or private", option, text));
        all.insert(all.end(), some->begin(), some->end());
    }
    return all;
}

node::options node_options(const node_arguments& a) {
    node::options how = a.how;
    const auto default_at = *http::parse_authority(a.default_listen, 0);
    how.listen = addresses("--listen", a.listen, default_at.port);
    how.listen_tls = addresses("--listen-tls", a.listen_tls, default_at.port);
    if (how.listen.empty() && how.listen_tls.empty()) how.listen = {default_at};
    how.sharing = *node::sharing_named(a.sharing);
    const auto milliseconds = [](double s) {
        return std::chrono::milliseconds(static_cast<std::int64_t>(s * 1000));
    };
    how.interval = milliseconds(a.interval);
    how.hash = a.hash.family();
    how.seed = a.hash.seed();
    take(check(hasher(how.hash, how.seed)), "--seed");
    const auto rehash = parse_duration("--rehash", a.rehash);
    if (rehash > std::chrono::hours(366 * 24))
        throw failure("--rehash " + a.rehash + ": give at most 366d, or 0 for never");
    how.rehash = std::chrono::duration_cast<std::chrono::milliseconds>(rehash);
    if (how.rehash.count() > 0 && how.hash == hash_family::md5)
        throw failure("--rehash changes the seed, and md5 takes none; choose another --hash");
    how.poll = milliseconds(a.poll);
    how.wait = std::chrono::seconds(a.wait);
    how.serving.head_time = milliseconds(a.head_time);
    how.serving.idle_time = milliseconds(a.idle_time);
    how.serving.threads = a.threads ? a.threads : base::usable_cores();
    how.allow_peers = networks_of("--allow-peer", a.allow_peers);
    how.allow_clients = networks_of("--allow-client", a.allow_clients);
    how.allow_administrators = networks_of("--allow-admin", a.allow_administrators);
    for (const auto& name : how.host_names) {
        boost::system::error_code no_address;
        boost::asio::ip::make_address(name, no_address);
        const auto parsed = http::parse_authority(name, 80);
        if (no_address && (!parsed || parsed->host != name))
            throw failure("--host-name '" + name + "' is not a host name; write NAME, without a port");
    }
    if (!a.token_file.empty()) how.token = read_secret("--token-file", a.token_file);
    for (const auto& text : a.peers) {
        auto peer = node::parse_peer(text);
        if (!peer) throw failure("--peer " + peer.error().message);
        how.peers.push_back(std::move(*peer));
    }
    if (auto good = node::check_name(how.name); !good) throw failure("--name: " + good.error().text());
    how.peer_memory = peer_memory_of(a.peer_memory);
    if (!how.listen_tls.empty() && how.tls_certificate.empty())
        throw failure("--listen-tls needs a certificate; name it with --tls-cert");
    const bool beyond =
        !std::ranges::all_of(how.listen, loopback) || !std::ranges::all_of(how.listen_tls, loopback);
    if (beyond && how.token.empty() && how.allow_peers.empty() && how.allow_clients.empty() &&
        how.allow_administrators.empty())
        throw failure(
            "listening beyond this machine needs --token-file, or networks that need no token: --allow-peer, "
            "--allow-client, --allow-admin");
    // All who can log in here, and all that runs here, are one address: where there is a token, they need it.
    if (how.token.empty() && a.allow_administrators.empty())
        how.allow_administrators = *http::parse_networks("loopback");
    return how;
}

node::options listen_on(http::server& server, node::options how) {
    const auto tls = node::server_tls(how);
    for (auto& at : how.listen) at.port = listen_at(server, "--listen", at, nullptr);
    for (auto& at : how.listen_tls) at.port = listen_at(server, "--listen-tls", at, tls);
    if (how.name.empty()) {
        auto at = first_address(how);
        boost::system::error_code failed;
        const auto address = boost::asio::ip::make_address(at.host, failed);
        // "Everywhere" would be the name of all, and nobody would take a request of another's for it.
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
                server.stop();
            }
            signals.async_wait(on_signal);
        };
    signals.async_wait(on_signal);
    node.start();
    // Only now: whoever reads this may send a signal.
    if (!how.quiet) fmt::print(stderr, "posy: {} listens on {}\n", how.name, all_addresses(how));
    server.run();
    node.finish();
    if (!how.quiet) fmt::print(stderr, "posy: stopped\n");
}

}  // namespace posy::tool
