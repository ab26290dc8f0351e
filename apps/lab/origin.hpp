// The origin of the laboratory: /SIZE/NAME is an object of SIZE bytes, which follow from the path, so that
// every answer can be checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace posy::lab {

std::string body_of(std::string_view path, std::uint64_t bytes);
std::string path_of(std::string_view name, std::uint64_t bytes);

// Serves until SIGINT or SIGTERM; prints where it listens as the other servers do.
void serve_origin(const http::host_port& at);

}  // namespace posy::lab
