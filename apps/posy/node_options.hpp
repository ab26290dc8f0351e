// The options that `posy node` and `posy proxy` have in common, and how a server runs until it is told to
// stop.
#pragma once

#include <functional>
#include <memory>

#include "filter_options.hpp"
#include "node/node.hpp"

namespace posy::tool {

class command_line;

// What the command line says, as text; parsed when the command runs.
struct node_arguments {
    node::options how;
    std::string default_listen;  // when neither of the next two is given
    std::vector<std::string> listen, listen_tls, peers, allow_peers, allow_clients, allow_administrators;
    std::string sharing = "delta", token_file, rehash = "0", peer_memory = "1GiB";
    hash_options hash;
    double interval = 300, poll = 0;
    unsigned wait = 60;
    double head_time = 10, idle_time = 60;
    unsigned threads = 0;
};

// What it says of an overlay.
struct overlay_arguments {
    std::string kind = "none", url, leader;
    std::vector<std::string> parents, joins;
    double beat = 5, lookup_time = 5;
    unsigned levels = 3;
};

// What the help of `posy node` and that of `posy proxy` say differently.
struct node_help {
    std::string listen;   // the default address
    std::string items;    // help of --items
    std::string clients;  // what --allow-client allows
    std::string servers;  // whose certificates --tls-ca checks
};
void add_node_options(command_line&, node_arguments&, const node_help&);
// The networks of an option that is given once for each.
http::networks networks_of(std::string_view option, const std::vector<std::string>& texts);
// The options, checked: what would be unsafe is refused.
node::options node_options(const node_arguments&);

// Of `posy node` alone. To be taken when the ports are known.
void add_overlay_options(command_line&, overlay_arguments&);
void take_overlay(const overlay_arguments&, node::options&);

// Listens where the options say; the options then have the ports and the name that were left open.
node::options listen_on(http::server&, node::options);
// Says where, and serves until SIGINT or SIGTERM; SIGHUP reads the peers again.
void serve(http::server&, node::node&, const node::options&);

}  // namespace posy::tool
