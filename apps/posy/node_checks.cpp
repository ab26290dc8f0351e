// What can be known before a start: files and folders that it would refuse, and options that may be meant
// otherwise.
#include <fmt/format.h>

#include <utility>

#include "node_options.hpp"
#include "posy/base/folder.hpp"
#include "tool.hpp"

namespace posy::tool {

void check_files(const node::options& how) {
    if (!how.peers_file.empty()) node::read_peers(how.peers_file);
    node::server_tls(how);
    node::client_tls(how);
    for (const auto& [option, folder] : {std::pair("--state ", &how.state), std::pair("--data ", &how.data)})
        if (const auto usable = folder->empty() ? result<void>() : base::check_folder(*folder); !usable)
            throw failure(option + usable.error().text());
}

std::vector<std::string> network_doubts(std::string_view option, const std::vector<std::string>& networks) {
    std::vector<std::string> all;
    for (const auto& text : networks)
        if (const auto one = http::parse_network(text); one && http::has_host_bits(*one))
            all.push_back(
                fmt::format("{0} {1}: this is the whole network {2}; write {2}, or {3} for that "
                            "address alone",
                            option, text, http::plain_text(*one), one->at.to_string()));
    return all;
}

std::vector<std::string> node_doubts(const node_arguments& a) {
    std::vector<std::string> all;
    for (const auto& [option, texts] :
         {std::pair("--allow-peer", &a.allow_peers), std::pair("--allow-client", &a.allow_clients),
          std::pair("--allow-admin", &a.allow_administrators)})
        for (auto& each : network_doubts(option, *texts)) all.push_back(std::move(each));
    return all;
}

void warn(http::journal& log, const configuration& config, const std::vector<std::string>& doubts) {
    for (const auto& each : doubts) log.warning("{}", config.located(each));
}

}  // namespace posy::tool
