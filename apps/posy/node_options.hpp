// The options that `posy node` and `posy proxy` have in common, and how a server runs until it is told to
// stop.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "configuration.hpp"
#include "filter_options.hpp"
#include "node/node.hpp"
#include "systemd.hpp"

namespace posy::tool {

class command_line;

// What the command line says, as text; parsed when the command runs.
struct node_arguments {
    configuration config;
    node::options how;
    std::vector<inherited_socket> sockets;  // that listen already
    std::string default_listen;             // when there are none, and neither of the next two is given
    std::vector<std::string> listen, listen_tls, peers, allow_peers, allow_clients, allow_administrators,
        name_servers;
    std::string sharing = "delta", token_file, rehash = "0", peer_memory = "1GiB";
    hash_options hash;
    double interval = 300, poll = 0;
    unsigned wait = 60;
    double head_time = 10, idle_time = 60;
    unsigned threads = 0;
    std::string log_level = "info";
    bool quiet = false;
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
    std::string command;  // its name
    std::string listen;   // the default address
    std::string items;    // help of --items
    std::string clients;  // what --allow-client allows
    std::string servers;  // whose certificates --tls-ca checks
    std::string state;    // help of --state
};
void add_node_options(command_line&, node_arguments&, const node_help&);
// As options have them; rounded down.
std::chrono::milliseconds milliseconds(double seconds);
// The networks of an option that is given once for each.
http::networks networks_of(std::string_view option, const std::vector<std::string>& texts);
// The options, checked: what would be unsafe is refused.
node::options node_options(const node_arguments&);
// Checks the files and folders that they name, too. Throws std::runtime_error.
void check_files(const node::options&);
// What may be meant otherwise than it is written: networks of this option, and of all of a node's.
std::vector<std::string> network_doubts(std::string_view option, const std::vector<std::string>& networks);
std::vector<std::string> node_doubts(const node_arguments&);
void warn(http::journal&, const configuration&, const std::vector<std::string>& doubts);
// Options of both commands that SIGHUP changes in a running process.
extern const std::set<std::string> reloaded_options;
// Other settings, for a process that goes on listening where it does.
void keep_listening(node_arguments& next, const node_arguments& running);

// Of `posy node` alone. To be taken when the ports are known.
void add_overlay_options(command_line&, overlay_arguments&);
void take_overlay(const overlay_arguments&, node::options&);

// Listens where the options say, on sockets that were inherited where these have the address; the options
// then have the ports and the name that were left open.
node::options listen_on(http::server&, node::options, const std::vector<inherited_socket>&);

// What a running process does when its settings may have changed.
struct reloading {
    std::function<void()> settings;  // takes those that can change; throws std::exception and changes nothing
    std::function<void()> logs;      // opens logs again
};
// "posy 0.2.0, configured by FILE".
std::string about(const configuration&);
// Says where, and serves until SIGINT or SIGTERM. SIGHUP has settings and logs read again, SIGUSR1
// logs alone.
void serve(http::server&, node::node&, const node::options&, const reloading&);
// For `settings`: names what has changed and needs a restart.
void warn_of_restarts(http::journal&, const configuration&, const std::vector<std::string>& changed);

}  // namespace posy::tool
