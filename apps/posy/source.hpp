// Filters that are named by a URL instead of a file.
#pragma once

#include <string>

#include "posy/read_limits.hpp"

namespace posy::node {
struct remote;
}

namespace posy::tool {

class command_line;

bool is_url(const std::string& path);

struct fetch_options {
    double timeout = 30, max_time = 600;  // seconds
    std::string max_size = "1GiB", token_file, tls_authority;
    bool offered = false;  // the command has these options

    void add_to(command_line&);
    // Throws failure if one of them is given and this is not a URL.
    void refuse_for_file(const command_line&, const std::string& path) const;
    // Where the URL leads. Throws failure when it or an option makes no sense.
    node::remote remote(const std::string& url, const read_limits&) const;
};

// What is published there. Throws failure, which names the URL first.
std::string fetch(const std::string& url, const fetch_options&, const read_limits&);

}  // namespace posy::tool
