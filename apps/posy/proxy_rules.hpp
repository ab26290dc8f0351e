// The options that say who may use the proxy for what: rules and users.
#pragma once

#include <string>
#include <vector>

#include "proxy/proxy.hpp"

namespace posy::tool {

class command_line;

struct rule_arguments {
    std::vector<std::string> rules;
    proxy::user_files users;
};

void add_rule_options(command_line&, rule_arguments&);
// Parsed; the files are read once, so that what is wrong in them is said at the start. Throws failure.
void take_rules(const rule_arguments&, proxy::options&);

}  // namespace posy::tool
