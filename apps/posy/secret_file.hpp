// A secret from a file: the one word in it. On the command line it would be seen in the list of processes.
#pragma once

#include <string>

namespace posy::tool {

// Throws failure, which names the option and the file and never says what is in it.
std::string read_secret(const std::string& option, const std::string& path);

}  // namespace posy::tool
