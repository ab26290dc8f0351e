// What this process may use of the machine: memory and cores within the limits of its control groups. A
// container of 512 MB on a machine of 512 GB has 512 MB.
//
// Control groups of both versions, at their usual place: memory.max and cpu.max (version 2),
// memory.limit_in_bytes and cpu.cfs_quota_us (version 1), of the process's own group and of all above it, as
// far as they are visible from inside. A file that cannot be read sets no limit.
#pragma once

#include <cstdint>
#include <filesystem>

namespace posy::base {

struct machine {
    std::uint64_t memory = 0;  // bytes
    unsigned cores = 1;        // a quota of 1.5 is 2
};

// `all`, limited by the control groups whose files are below `root` ("/": those of this process).
machine within_groups(const machine& all, const std::filesystem::path& root);

// Read once.
std::uint64_t usable_memory();
unsigned usable_cores();

}  // namespace posy::base
