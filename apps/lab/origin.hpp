// The origin of the laboratory: /SIZE/NAME is an object of so many bytes that anyone can check, because they
// follow from the path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace posy::lab {

std::string body_of(std::string_view path, std::uint64_t bytes);
std::string path_of(std::string_view name, std::uint64_t bytes);

// Serves until the process is told to stop; says where it listens as the other servers do.
void serve_origin(const http::host_port& at);

}  // namespace posy::lab
