#include "node_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "node/summary_protocol.hpp"
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

constexpr double longest = 366 * 24 * 3600;  // seconds, of options that wait

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

// Where it listens.
void add_listening_options(command_line& command, node_arguments& a, const node_help& help) {
    command.add_option(
        "--listen ADDRESS", a.listen,
        "Address to listen on, HOST:PORT; port 0 takes a free one; may be repeated (default: " +
            a.default_listen + ", or none with --listen-tls)");
    command.add_option("--listen-tls ADDRESS", a.listen_tls,
                       "Address to listen on for TLS, HOST:PORT; may be repeated; needs --tls-cert (default: "
                       "none)");
    command.add_option("--tls-cert FILE", a.how.tls_certificate,
                       "PEM file of the certificate for --listen-tls, with its chain (default: none)");
    command.add_option("--tls-key FILE", a.how.tls_key,
                       "PEM file of the private key of --tls-cert (default: the file of --tls-cert)");
    command.add_option("--tls-ca FILE", a.how.tls_authority,
                       "PEM file of the authorities that must have signed the certificates of " +
                           help.servers + " (default: those of the system)");
    command.add_option(
        "--dns ADDRESS", a.name_servers,
        "Name server to ask, ADDRESS or ADDRESS:PORT, [ADDRESS]:PORT for IPv6; may be repeated; "
        "/etc/hosts comes first (default: those of /etc/resolv.conf, port 53)");
}

// Which peers it follows, and how.
void add_peer_options(command_line& command, node_arguments& a) {
    command.add_option("--name NAME", a.how.name, "Name of this node among its peers (default: its address)");
    command.add_option("--peer PEER", a.peers,
                       "Peer to follow, NAME=URL or URL, or squid:NAME=URL for a Squid; may be repeated "
                       "(default: none)");
    command.add_option("--peers FILE", a.how.peers_file,
                       "JSON file of further peers, {\"peers\": [\"NAME=URL\"]}; read again on SIGHUP "
                       "(default: none)");
    // No more than a quarter of what a small machine or container has.
    if (const auto quarter = base::usable_memory() / 4; quarter < parse_amount(a.peer_memory))
        a.peer_memory = std::to_string(quarter);
    add_amount(command, "--peer-memory SIZE", a.peer_memory,
               "Memory in bytes for the summaries of all peers together and for messages being received, "
               "e.g. 64MiB; by default at most a quarter of the machine's or container's")
        .shows_default();
    command
        .add_option("--poll SECONDS", a.poll,
                    "Seconds between questions to a peer; 0: keep one request open at each peer, which it "
                    "answers when it has news")
        .between(0.0, longest)
        .shows_default();
    command
        .add_option("--wait SECONDS", a.wait,
                    "Seconds for which a peer is asked to keep a request open until it has news, at most "
                    "300; for --poll 0")
        .between(0, node::question::longest_wait.count())
        .shows_default();
    command.add_flag("--hint", a.how.hint, "Tell peers of every new summary; for peers that use --poll");
}

// What clients may take of it.
void add_limit_options(command_line& command, node_arguments& a) {
    add_threads(command, a.threads);
    add_amount(
        command, "--max-connections N", a.how.serving.max_connections,
        "Most connections at a time; a further one closes the connection that has been idle longest, or "
        "gets 503 if none is idle")
        .between(1.0, 1e6)
        .shows_default();
    add_amount(command, "--max-per-address N", a.how.serving.max_per_address,
               "Most connections at a time from one address (IPv6: from one /64); further ones get 429; "
               "0: no limit")
        .between(0.0, 1e6)
        .shows_default();
    command
        .add_option(
            "--max-rate N", a.how.serving.max_requests_per_second,
            "Most requests per second from one address (IPv6: from one /64) other than loopback; further "
            "ones get 429; 0: no limit")
        .between(0.0, 1e9)
        .shows_default();
    add_amount(command, "--max-head SIZE", a.how.serving.limits.head,
               "Bytes of the longest head of a request or of an origin's answer, e.g. 128KiB; a longer "
               "request gets 431, a longer answer makes 502; 100 fields for each 32 KiB of it")
        .between(1024.0, 16.0 * 1024 * 1024)
        .shows_default();
    command
        .add_option("--head-time SECONDS", a.head_time,
                    "Seconds in which a client has to send the head of a request")
        .positive()
        .shows_default();
    command
        .add_option("--idle-time SECONDS", a.idle_time,
                    "Seconds for which a connection stays open between two requests")
        .positive()
        .shows_default();
}

// Who may do what.
void add_access_options(command_line& command, node_arguments& a, const node_help& help) {
    command.add_option("--token-file FILE", a.token_file,
                       "File with a secret shared by all nodes; requests that carry it may do everything "
                       "(default: none)");
    command.add_option(
        "--allow-peer NETWORK", a.allow_peers,
        "Network whose machines may read summaries and ask for keys here without the token, as 10.0.0.0/8, "
        "loopback, link-local or private; may be repeated (default: none)");
    command.add_option("--allow-client NETWORK", a.allow_clients,
                       "Network whose machines may " + help.clients +
                           " without the token, as 10.0.0.0/8 or private; may be repeated (default: none)");
    command.add_option(
        "--allow-admin NETWORK", a.allow_administrators,
        "Network whose machines may do everything (change keys, see metrics) without the token, "
        "as 10.0.0.0/8; may be repeated (default: loopback, or none with --token-file)");
    command.add_option(
        "--host-name NAME", a.how.host_names,
        "Another name by which clients and peers call this machine; may be repeated. Requests for unknown "
        "names get 421. Known are its addresses, localhost, its host name, and the hosts of --listen and "
        "--name (default: no other)");
}

// What is told of the set, and when.
void add_publishing_options(command_line& command, node_arguments& a, const node_help& help) {
    command
        .add_option(
            "--sharing", a.sharing,
            "What peers are told of the set: none; full, an uncoded filter; compressed, a coded filter; "
            "delta, a coded filter and then its changes; ask: nothing, and every peer is asked for "
            "every key")
        .one_of(names_of<node::sharing>())
        .shows_default();
    add_amount(command, "--items N", a.how.items, help.items).shows_default();
    command
        .add_option("--fpr RATE", a.how.rate,
                    "False-positive rate of the summary when the set has --items keys")
        .between(0.000001, 0.5)
        .shows_default();
    command
        .add_option("--change SHARE", a.how.change,
                    "Publish a new summary when this share of the keys (or of --items, if that is more) has "
                    "changed, e.g. 0.02")
        .between(0.0001, 1.0)
        .shows_default();
    command
        .add_option(
            "--change-bits SHARE", a.how.change_bits,
            "Publish a new summary when this share of its bits has changed, e.g. 0.001; replaces --change "
            "(default: none)")
        .between(0.000001, 0.5)
        .excludes("--change");
    command
        .add_option(
            "--interval SECONDS", a.interval,
            "Publish a new summary when a key has changed and the last one is at least this many seconds old")
        .between(0.0, longest)
        .shows_default();
    a.hash.add_to(command);
    command
        .add_option(
            "--rehash TIME", a.rehash,
            "Change the seed of the summary at this interval, e.g. 1h or 1d, so that no key stays a false "
            "positive; every change costs each peer a whole summary; 0: never")
        .shows_default();
}

}  // namespace

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

void add_node_options(command_line& command, node_arguments& a, const node_help& help) {
    a.default_listen = help.listen;
    a.config.add_to(command, help.command);
    add_listening_options(command, a, help);
    add_access_options(command, a, help);
    add_peer_options(command, a);
    add_publishing_options(command, a, help);
    add_limit_options(command, a);
    command.add_option("--state FOLDER", a.how.state, help.state);
    command
        .add_option("--log-level LEVEL", a.log_level,
                    "Least grave events to print on standard error: error, warning or info")
        .one_of(names_of<http::log_level>())
        .shows_default();
    command.add_flag("-q,--quiet", a.quiet, "Print nothing but errors; the same as --log-level error")
        .excludes("--log-level");
}

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

namespace {

http::dns::servers name_servers_of(const std::vector<std::string>& texts) {
    http::dns::servers all;
    for (const auto& text : texts) {
        boost::system::error_code no_address;
        auto address = boost::asio::ip::make_address(text, no_address);
        std::uint16_t port = 53;
        if (no_address) {
            const auto parsed = http::parse_authority(text, port);
            if (parsed) address = boost::asio::ip::make_address(parsed->host, no_address);
            if (parsed) port = parsed->port;
        }
        if (no_address)
            throw failure("--dns '" + text +
                          "' is not the address of a name server; write 192.0.2.1, 192.0.2.1:53 or [::1]:53");
        all.emplace_back(address, port);
    }
    return all;
}

// Of what is told of the set, and when.
void take_publishing(const node_arguments& a, node::options& how) {
    how.sharing = *named<node::sharing>(a.sharing);
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
}

// Of who may do what. Throws where a node would listen to strangers without a word about them.
void take_access(const node_arguments& a, node::options& how) {
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
    how.token =
        http::changing<std::string>(a.token_file.empty() ? "" : read_secret("--token-file", a.token_file));
    const bool no_token = how.token.get()->empty();
    const bool beyond =
        !std::ranges::all_of(how.listen, loopback) || !std::ranges::all_of(how.listen_tls, loopback);
    if (beyond && no_token && how.allow_peers.empty() && how.allow_clients.empty() &&
        how.allow_administrators.empty())
        throw failure(std::string(a.listen.empty() ? "--listen-tls" : "--listen") +
                      ": listening beyond this machine needs --token-file, or networks that need no token: "
                      "--allow-peer, "
                      "--allow-client, --allow-admin");
    // All users and programs of this machine have one address: where there is a token, they need it.
    if (no_token && a.allow_administrators.empty())
        how.allow_administrators = *http::parse_networks("loopback");
}

}  // namespace

namespace {

// Port 0 is another one each time.
void refuse_twice(const std::string& option, const std::vector<http::host_port>& all) {
    for (const auto& each : all)
        if (each.port != 0 && std::ranges::count(all, each) > 1)
            throw failure(option + " " + each.text() + " is given twice; give each address once");
}

}  // namespace

node::options node_options(const node_arguments& a) {
    node::options how = a.how;
    how.log_level = a.quiet ? http::log_level::error : *named<http::log_level>(a.log_level);
    const auto default_at = *http::parse_authority(a.default_listen, 0);
    how.listen = addresses("--listen", a.listen, default_at.port);
    how.listen_tls = addresses("--listen-tls", a.listen_tls, default_at.port);
    refuse_twice("--listen", how.listen);
    refuse_twice("--listen-tls", how.listen_tls);
    for (const auto& each : a.sockets) {
        auto& of_kind = each.tls ? how.listen_tls : how.listen;
        if (std::ranges::find(of_kind, each.at) == of_kind.end()) of_kind.push_back(each.at);
    }
    if (how.listen.empty() && how.listen_tls.empty()) how.listen = {default_at};
    if (!how.listen_tls.empty() && how.tls_certificate.empty())
        throw failure(a.listen_tls.empty()
                          ? "an inherited socket named tls needs a certificate; name it with --tls-cert"
                          : "--listen-tls needs a certificate; name it with --tls-cert");
    if (auto good = node::check_name(how.name); !good) throw failure("--name: " + good.error().text());
    take_publishing(a, how);
    take_access(a, how);
    for (const auto& text : a.peers) {
        auto peer = node::parse_peer(text);
        if (!peer) throw failure("--peer " + peer.error().message);
        if (peer->name == how.name)
            throw failure("--peer " + text + ": '" + peer->name + "' is the --name of this node itself");
        if (std::ranges::count(how.peers, peer->name, &node::peer_address::name) > 0)
            throw failure("--peer " + text + ": there is another peer '" + peer->name +
                          "'; give each a name of its own");
        how.peers.push_back(std::move(*peer));
    }
    how.peer_memory = peer_memory_of(a.peer_memory);
    how.poll = milliseconds(a.poll);
    how.wait = std::chrono::seconds(a.wait);
    how.serving.name_servers = name_servers_of(a.name_servers);
    how.serving.head_time = milliseconds(a.head_time);
    auto& limits = how.serving.limits;
    limits.fields = std::max(limits.fields, limits.fields * limits.head / http::limits{}.head);
    how.serving.idle_time = milliseconds(a.idle_time);
    how.serving.threads = a.threads ? a.threads : base::usable_cores();
    return how;
}

const std::set<std::string> reloaded_options = {
    "allow-admin", "allow-client",    "allow-peer", "head-time", "host-name", "idle-time",
    "log-level",   "max-connections", "max-rate",   "peer",      "peers",     "max-per-address",
    "quiet",       "tls-ca",          "tls-cert",   "tls-key",   "token-file"};

void keep_listening(node_arguments& next, const node_arguments& running) {
    next.sockets = running.sockets;
    next.listen = running.listen;
    next.listen_tls = running.listen_tls;
}

}  // namespace posy::tool
