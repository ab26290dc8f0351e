// Files of whatever has keys. They are messages (posy/message.hpp), which the tool reads, too.
#pragma once

#include <filesystem>

#include "posy/read_limits.hpp"
#include "posy/result.hpp"

namespace posy::typed {

// What the file holds, if it is a Body. The error names the file, and what it holds instead.
template <class Body>
result<Body> load_body(const std::filesystem::path&, const read_limits&);

// Throws if the file cannot be written.
template <class Body>
void save_body(const std::filesystem::path&, const Body&);

}  // namespace posy::typed
