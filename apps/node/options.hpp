// What a node is told at its start, by options of the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "http/changing.hpp"
#include "http/journal.hpp"
#include "http/message.hpp"
#include "http/networks.hpp"
#include "http/server.hpp"
#include "posy/base/names.hpp"
#include "posy/digest.hpp"
#include "posy/result.hpp"

namespace posy::node {

namespace asio = boost::asio;

// What peers are told of the local set.
enum class sharing : std::uint8_t {
    none,        // nothing
    full,        // the whole filter, as it is in memory
    compressed,  // the whole filter, tuned for the message and coded
    delta,       // the same, and after that only what changed
    ask,         // nothing; every peer is asked for every key, as ICP does
};
constexpr std::string_view name_of(sharing member) {
    switch (member) {
        case sharing::none:
            return "none";
        case sharing::full:
            return "full";
        case sharing::compressed:
            return "compressed";
        case sharing::delta:
            return "delta";
        case sharing::ask:
            return "ask";
    }
    return {};
}

// How nodes find out together who has a key; without one, a node follows the summaries of its peers.
enum class overlay_kind : std::uint8_t {
    none,
    mesh,        // every node keeps every other node's summary
    groups,      // leaders keep the union of their members' filters
    tree,        // a filter for each child, asked from the leaves up
    attenuated,  // a filter for each neighbour and distance
};
constexpr std::string_view name_of(overlay_kind member) {
    switch (member) {
        case overlay_kind::none:
            return "none";
        case overlay_kind::mesh:
            return "mesh";
        case overlay_kind::groups:
            return "groups";
        case overlay_kind::tree:
            return "tree";
        case overlay_kind::attenuated:
            return "attenuated";
    }
    return {};
}

struct overlay_options {
    overlay_kind kind = overlay_kind::none;
    std::string address;                // of this node: a URL by which all members reach it
    std::vector<std::string> contacts;  // URLs: the parent first, neighbours, members of the mesh, or leaders
    bool leads = true;                  // its group; otherwise it joins that of its contact
    std::chrono::milliseconds beat{
        5000};            // between two signs of life to a neighbour, or two rounds of gossip
    unsigned levels = 3;  // of attenuated filters: how far they see
    std::chrono::milliseconds lookup_time{5000};
};

enum class peer_kind { posy, squid };

struct peer_address {
    std::string name;  // how it appears in answers, metrics and logs
    http::url where;
    peer_kind kind = peer_kind::posy;
    friend bool operator==(const peer_address&, const peer_address&) = default;
};
// "NAME=URL", "URL", "squid:NAME=URL" or "squid:URL", each URL perhaps as HOST:PORT; the name is by default
// the address. The error names the text.
result<peer_address> parse_peer(std::string_view);
// May a node or a peer be called that? UTF-8 without control characters: it stands in JSON, metrics and logs.
result<void> check_name(std::string_view);

struct options {
    std::string name;  // of this node among its peers; by default the first address it listens on
    std::vector<http::host_port> listen{{"127.0.0.1", 3128}};
    std::vector<http::host_port> listen_tls;
    std::string tls_certificate, tls_key, tls_authority;  // PEM files
    // Who may do what (access.hpp). The token is shared by all nodes and opens everything; the networks need
    // none.
    http::changing<std::string> token;
    http::networks allow_peers, allow_clients, allow_administrators;
    std::vector<std::string> host_names;  // further names that requests may call this node by
    http::serving serving;

    std::vector<peer_address> peers;
    std::string peers_file;                              // read at the start and again on SIGHUP
    std::uint64_t peer_memory = std::uint64_t{1} << 30;  // of all their summaries, and of what is on its way
    static constexpr std::uint64_t least_peer_memory = std::uint64_t{1} << 20;

    node::sharing sharing = sharing::delta;
    std::uint64_t items = 100'000;      // expected in the local set; the filter follows when it grows beyond
    double rate = 0.01;                 // of false positives at that size
    double change = 0.02;               // a new generation when this share of the set has changed …
    std::optional<double> change_bits;  // … or, in its place, this share of the bits of its filter …
    std::optional<unsigned> misled;     // … or when it has misled so many requests …
    std::chrono::milliseconds interval{300'000};  // … or this long after the last generation
    hash_family hash = hash_family::xxh3;         // of the summary
    hash_seed seed{};
    std::chrono::milliseconds rehash{0};  // a new seed after each such time; 0: never
    // The time between two questions to a peer; 0: hold a request open at each (long poll), for `wait`.
    std::chrono::milliseconds poll{0};
    std::chrono::seconds wait{60};
    bool hint = false;  // tell peers of a new generation, for those that poll

    overlay_options overlay;

    std::string check;  // file of the filter that /check asks; empty: none
    std::string data;   // folder of the embedded store of keys; empty: keys live in memory only
    std::string state;  // folder for what a restart need not lose, such as the page's history; empty: none
    bool sync = false;  // a change of it is on disk before it is answered
    std::shared_ptr<http::journal> log = std::make_shared<http::journal>();  // by default it tells nobody
    http::log_level log_level = http::log_level::info;
};

// Peers of a JSON file: {"peers": ["px1=http://10.0.0.2:3128", …]}. Throws std::runtime_error.
std::vector<peer_address> read_peers(const std::string& path);

// Certificates from the options: null when there are none. Throws when they cannot be used.
std::shared_ptr<asio::ssl::context> server_tls(const options&);
std::shared_ptr<asio::ssl::context> client_tls(const options&);

}  // namespace posy::node
