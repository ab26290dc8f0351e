// What can be recovered of a damaged store of keys, after a copy of it was put beside.
//
// Logs are reduced to the records that are intact, tables to the blocks that are; LevelDB then makes a
// database of them. A key is lost only if its own record or block is damaged or its file is gone. A key that
// had been removed can come back if the record of its removal is lost: rather one too many than one too few.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace posy::node {

struct repaired_keys {
    std::uint64_t keys = 0;                 // that the store has now
    std::optional<std::uint64_t> expected;  // that it had; unknown if its file KEYS was lost
    bool exact = false;                     // they are those that it had, one for one
    std::string copy;     // folder in which the files are as they were found; empty: nothing was wrong
    std::string earlier;  // that of the last repair before, if there was one
};

// Leaves a store alone that a node would start with. Throws std::runtime_error, if there is no store, or if
// it is in use.
repaired_keys repair_keys(const std::string& folder);

}  // namespace posy::node
