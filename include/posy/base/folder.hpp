// Folders that a program makes at its start, and whether it will be able to.
#pragma once

#include <filesystem>

#include "posy/result.hpp"

namespace posy::base {

// Could files be written in that folder, made first where it is missing? Leaves nothing behind. Whether a
// folder can be made is tried beside it: the system's word on rights is not all there is to it (/proc).
// Thread safety: all calls.
result<void> check_folder(const std::filesystem::path&);

}  // namespace posy::base
